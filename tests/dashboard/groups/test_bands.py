from __future__ import annotations

from dataclasses import replace
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from dashboard.groups.bands import Away, Bounded, Held, Step, sweep

CLIENTS = count(1)


def had(queue: int, at: int, until: int | None, *, told_until: int = 2**40) -> Bounded:
    """Somebody had a queue, each time another one; ends are exact."""
    return Bounded(queue, next(CLIENTS), at, at, at, until, until, until, told_until)


def test_between_two_owners_there_is_nobody() -> None:
    nobody, _, two = sweep([had(1, 0, 10), had(1, 15, None)], since=0, until=30)

    assert (nobody, two) == ([Step(10, 15, 1)], [])


def test_owners_that_overlap_are_two() -> None:
    assert sweep([had(1, 0, 20), had(1, 15, None)], since=0, until=30) == ([], [], [Step(15, 20, 1)])


def test_two_own_a_queue_no_longer_than_both_told() -> None:
    old, new = had(1, 0, None, told_until=12), had(1, 15, None, told_until=40)

    assert sweep([old, new], since=0, until=50) == ([], [], [])
    assert sweep([replace(old, told_until=20), new], since=0, until=50) == ([], [], [Step(15, 20, 1)])


def test_spans_that_nest_are_swept() -> None:
    nobody, _, two = sweep([had(1, 0, None), had(1, 5, 10)], since=0, until=30)

    assert (nobody, two) == ([], [Step(5, 10, 1)])


def test_between_two_looks_a_queue_has_perhaps_nobody() -> None:
    old = replace(had(1, 0, 10), until_low=8, until_high=12)
    new = replace(had(1, 20, None), at_low=17, at_high=21)

    assert sweep([old, new], since=0, until=30) == ([Step(12, 17, 1)], [Step(10, 12, 1), Step(17, 20, 1)], [])
    assert sweep([old, replace(new, at_low=9)], since=0, until=30) == ([], [Step(10, 20, 1)], [])


def test_who_was_lost_without_a_word_may_have_a_queue_until_another_one_has_it() -> None:
    lost = replace(had(1, 0, 10), until_high=None)

    assert sweep([lost, had(1, 20, 25)], since=0, until=30) == ([Step(25, 30, 1)], [Step(10, 20, 1)], [])
    assert sweep([lost], since=0, until=30) == ([], [Step(10, 30, 1)], [])
    at_once = replace(had(1, 10, 25), at_low=8)  # the look that lost the one told of the other
    assert sweep([lost, at_once], since=0, until=30) == ([Step(25, 30, 1)], [], [])


def test_that_a_lost_one_is_back_and_has_it_no_more_makes_nothing_less_certain() -> None:
    lost, heir = replace(had(1, 0, 10), until_high=None), had(1, 20, 25)
    back, back_first = (replace(lost, until_high=at, back_low=at - 1) for at in (28, 15))

    assert sweep([lost, heir], since=0, until=30) == ([Step(25, 30, 1)], [Step(10, 20, 1)], [])
    assert sweep([back, heir], since=0, until=30) == (
        [Step(25, 27, 1), Step(28, 30, 1)],
        [Step(10, 20, 1), Step(27, 28, 1)],
        [],
    )
    assert sweep([back], since=0, until=30) == ([Step(28, 30, 1)], [Step(10, 28, 1)], [])
    assert sweep([back_first, heir], since=0, until=30)[0] == [Step(15, 20, 1), Step(25, 30, 1)]


def test_what_a_lost_one_says_that_it_had_until_later_counts() -> None:
    lost, heir = replace(had(1, 0, 10), until_high=28), had(1, 20, 25)

    assert sweep([lost, heir], since=0, until=30)[0] == [Step(28, 30, 1)]


def test_who_was_lost_has_a_queue_no_more_that_somebody_else_was_seen_with_before_that_look() -> None:
    lost = replace(had(1, 0, 10), until_low=4, until_high=None)
    heir = had(1, 8, 25)

    assert sweep([lost, heir], since=0, until=30) == ([Step(25, 30, 1)], [], [])
    not_seen_since = replace(heir, until_low=9)
    assert sweep([lost, not_seen_since], since=0, until=30) == ([], [Step(25, 30, 1)], [])
    let_go = replace(heir, until=9, until_low=9, until_high=9)
    assert sweep([lost, let_go], since=0, until=30) == ([], [Step(10, 30, 1)], [])


def test_who_has_nobody_yet_has_nobody_until_now() -> None:
    assert sweep([had(1, 0, 10)], since=0, until=30)[0] == [Step(10, 30, 1)]


def test_queues_pile_up() -> None:
    spans = [had(1, 0, 10), had(2, 0, 12), had(2, 20, None)]

    assert sweep(spans, since=0, until=30)[0] == [Step(10, 12, 1), Step(12, 20, 2), Step(20, 30, 1)]


def test_before_the_window_nothing_is_told_and_before_the_first_span_nothing_is_known() -> None:
    assert sweep([had(1, 0, 10)], since=20, until=30)[0] == [Step(20, 30, 1)]
    assert sweep([had(1, 25, None)], since=20, until=30) == ([], [], [])


def test_a_queue_that_nobody_ever_had_is_without_from_when_that_was_seen() -> None:
    nobody, _, _ = sweep([had(1, 20, None)], since=5, until=30, orphans=[Held(1, 0, 22), Held(2, 10, None)])

    assert nobody == [Step(5, 10, 1), Step(10, 20, 2), Step(20, 30, 1)]


def test_what_is_known_of_a_queue_by_its_spans_is_not_told_twice() -> None:
    spans = [had(1, 0, 10), had(1, 20, None)]

    assert sweep(spans, since=0, until=30, orphans=[Held(1, 12, 25)]) == sweep(spans, since=0, until=30)


spans = st.builds(
    lambda queue, at, length: had(queue, at, None if length is None else at + length),
    st.integers(0, 3),
    st.integers(0, 40),
    st.none() | st.integers(0, 20),
)


@given(st.lists(spans, max_size=12))
def test_the_steps_are_what_one_finds_by_looking_at_every_instant(given_spans: list[Bounded]) -> None:
    nobody, _, two = sweep(given_spans, since=0, until=50)

    for at in range(50):
        owners = {
            queue: sum(s.queue == queue and s.at <= at and (s.until is None or at < s.until) for s in given_spans)
            for queue in {s.queue for s in given_spans if s.at <= at}
        }
        assert sum(step.queues for step in nobody if step.since <= at < step.until) == list(owners.values()).count(0)
        assert sum(step.queues for step in two if step.since <= at < step.until) == sum(n > 1 for n in owners.values())


def test_two_have_a_queue_for_certain_until_it_may_have_left_the_route() -> None:
    spans = [had(1, 0, 40), had(1, 5, 40)]

    _, _, two = sweep(spans, since=0, until=50, gone={1: [Away(20, 30)]})

    assert two == [Step(5, 20, 1)]
