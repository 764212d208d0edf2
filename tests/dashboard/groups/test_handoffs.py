from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from dashboard.groups.handoffs import Bounds, Part, Story, tell
from dashboard.groups.pairing import Instant, Span, Way
from tests.dashboard.story import queue

SINCE_50 = Part(50, 50, 50)


def exactly(at: int) -> Instant:
    return Instant(at, at, at)


def span(client: str, since: Instant, until: Instant | None = None, number: int = 0) -> Span:
    return Span(queue(number), client, since, until)


def only(told: list[list[Story]]) -> Story:
    ((story,),) = told
    return story


def test_a_gap_between_exact_ends_is_exact() -> None:
    story = only(tell([span("A", exactly(0), exactly(100)), span("B", exactly(130))], [SINCE_50]))

    assert (story.from_client, story.to_client) == ("A", "B")
    assert (story.unowned, story.overlap) == (Bounds(30, 30), Bounds(0, 0))


def test_a_take_before_the_drop_is_an_overlap() -> None:
    story = only(tell([span("A", exactly(0), exactly(100)), span("B", exactly(80))], [SINCE_50]))

    assert (story.unowned, story.overlap) == (Bounds(0, 0), Bounds(20, 20))


def test_bounds_of_both_ends_carry_over() -> None:
    dropped, taken = Instant(100, 50, 100), Instant(130, 90, 130)

    story = only(tell([span("A", exactly(0), dropped), span("B", taken)], [SINCE_50]))

    assert (story.unowned, story.overlap) == (Bounds(0, 80), Bounds(0, 10))


def test_an_unknown_beginning_has_no_bound() -> None:
    story = only(tell([span("A", exactly(0), exactly(100)), span("B", Instant(130, None, 130))], [SINCE_50]))

    assert (story.unowned, story.overlap) == (Bounds(0, 30), Bounds(0, None))


def test_a_queue_that_nobody_took_yet_has_no_end() -> None:
    story = only(tell([span("A", exactly(0), exactly(100))], [SINCE_50]))

    assert (story.to_client, story.unowned, story.overlap) == (None, None, None)


def test_a_queue_that_its_member_let_go_and_took_again_is_no_handoff() -> None:
    assert tell([span("A", exactly(0), exactly(100)), span("A", exactly(130))], [SINCE_50]) == [[]]


def test_what_happened_outside_of_the_round_is_not_told() -> None:
    spans = [span("A", exactly(0), exactly(40)), span("B", exactly(45), exactly(200)), span("C", exactly(210))]

    assert tell(spans, [SINCE_50], before=200) == [[]]


def test_a_span_within_another_one_is_matched_in_order() -> None:
    spans = [span("A", exactly(0), exactly(300)), span("B", exactly(100), exactly(200)), span("C", exactly(310))]

    (stories,) = tell(spans, [SINCE_50])

    assert [(story.from_client, story.to_client) for story in stories] == [("A", "B"), ("A", "C")]


def looked(low: int, at: int) -> Instant:
    return Instant(at, low, at)


def ways(stories: list[Story]) -> list[tuple[int, str | None, str | None]]:
    return [(story.queue.queue_id, story.from_client, story.to_client) for story in stories]


def test_what_was_taken_before_its_drop_began_the_round_is_one_story_with_it() -> None:
    spans = [span("A", exactly(0), exactly(100)), span("B", exactly(90))]

    assert [ways(each) for each in tell(spans, [Part(70, 100, 100)])] == [[(0, "A", "B")]]


def test_what_a_member_has_since_before_the_round_is_not_taken_in_it() -> None:
    spans = [span("A", exactly(80), exactly(110)), span("B", exactly(120))]

    assert [ways(each) for each in tell(spans, [Part(70, 100, 100)])] == [[(0, "A", "B")]]
    assert [ways(each) for each in tell([span("A", exactly(80))], [Part(70, 100, 100)])] == [[]]


def test_what_a_superseded_round_left_unowned_is_its_own_to_the_end() -> None:
    spans = [span("A", exactly(0), looked(90, 110)), span("B", looked(190, 210))]

    told = tell(spans, [Part(70, 100, 100), Part(170, 180, 200)])

    assert [ways(each) for each in told] == [[(0, "A", "B")], []]


def test_who_came_in_a_later_round_took_by_that_one() -> None:
    spans = [span("A", exactly(0), looked(180, 190)), span("C", looked(195, 210))]

    told = tell(spans, [Part(70, 100, 100), Part(170, 180, 200, came=frozenset("C"))])

    assert [ways(each) for each in told] == [[], [(0, "A", "C")]]


def test_who_went_in_a_later_round_let_go_by_that_one_what_no_newcomer_of_the_earlier_one_took() -> None:
    spans = [span("B", exactly(0), exactly(175)), span("A", exactly(210))]
    spans += [span("B", exactly(0), exactly(175), 1), span("D", exactly(210), number=1)]

    told = tell(spans, [Part(70, 100, 100, came=frozenset("D")), Part(170, 200, 200, went=frozenset("B"))])

    assert [ways(each) for each in told] == [[(1, "B", "D")], [(0, "B", "A")]]


def test_a_double_owner_that_lets_go_again_hands_nothing_over_and_is_told_with_the_time_in_which_both_had_it() -> None:
    spans = [span("A", exactly(0), exactly(300)), span("B", exactly(100), looked(180, 200))]

    beside, dropped = tell(spans, [SINCE_50])[0]

    assert (beside.from_client, beside.to_client, beside.way) == ("A", "B", Way.BESIDE)
    assert (beside.dropped, beside.unowned, beside.overlap) == (None, Bounds(0, 0), Bounds(80, 100))
    assert (dropped.from_client, dropped.to_client, dropped.way) == ("A", None, Way.HANDED)


def test_a_double_owner_beside_one_who_had_the_queue_all_the_time_is_not_told_to_have_it_from_nobody() -> None:
    spans = [span("A", exactly(0)), span("B", exactly(100), exactly(120)), span("B", exactly(140), exactly(161))]

    told = [(each.from_client, each.to_client, each.overlap) for each in tell(spans, [SINCE_50])[0]]

    assert told == [("A", "B", Bounds(20, 20)), ("A", "B", Bounds(21, 21))]


def test_what_one_of_two_lets_go_the_other_one_keeps() -> None:
    spans = [span("A", exactly(10)), span("B", exactly(20), exactly(90)), span("C", exactly(100), exactly(110))]

    kept, beside = tell(spans, [SINCE_50])[0]

    assert (kept.from_client, kept.to_client, kept.way, kept.overlap) == ("B", "A", Way.KEPT, Bounds(70, 70))
    assert (beside.from_client, beside.to_client, beside.overlap) == ("A", "C", Bounds(10, 10))


times = st.integers(0, 400)


@st.composite
def some_spans(draw: st.DrawFn) -> list[Span]:
    spans = list[Span]()
    for number, client in draw(st.sets(st.tuples(st.integers(0, 2), st.sampled_from("ABC")))):
        marks = sorted(draw(st.sets(times, max_size=6)))
        for begin, end in zip(marks[::2], [*marks[1::2], None], strict=False):
            spans.append(span(client, exactly(begin), None if end is None else exactly(end), number))
    return spans


@given(some_spans(), st.randoms(use_true_random=False))
def test_each_drop_and_take_of_a_chain_is_told_once_in_whatever_order_it_is_known(
    spans: list[Span], luck: Random
) -> None:
    parts = [Part(60, 100, 110), Part(170, 180, 200, frozenset("B")), Part(270, 290, 300, frozenset(), frozenset("A"))]
    mixed = list(spans)
    luck.shuffle(mixed)

    told = tell(spans, parts)

    assert tell(mixed, parts) == told
    drops = [
        (each.queue, each.from_client, each.dropped)
        for part in told
        for each in part
        if each.from_client and each.way is not Way.BESIDE
    ]
    takes = [
        (each.queue, each.to_client, each.taken)
        for part in told
        for each in part
        if each.to_client and each.way is not Way.KEPT
    ]
    assert len(set(drops)) == len(drops)
    assert len(set(takes)) == len(takes)
    assert {drop[2].at for drop in drops if drop[2]} <= {each.until.at for each in spans if each.until}


def test_what_a_round_left_unowned_is_its_own_though_a_newcomer_of_a_later_one_takes_it() -> None:
    spans = [span("A", exactly(0), exactly(110)), span("C", exactly(210))]
    spans += [span("B", exactly(0), Instant(120, 60, None), 1), span("C", exactly(210), number=1)]

    told = tell(spans, [Part(70, 100, 100, went=frozenset("AB")), Part(170, 180, 200, came=frozenset("C"))])

    assert [ways(each) for each in told] == [[(0, "A", "C"), (1, "B", "C")], []]
    assert told[0][0].unowned == Bounds(100, 100)


def test_two_owners_are_certain_only_as_long_as_both_told_of_it() -> None:
    both = [span("A", exactly(0), exactly(300)), span("B", exactly(100), exactly(180))]
    lost = [replace(both[0], until=Instant(300, 90, None)), both[1]]
    silent = [replace(both[0], until=None, told_at=130), both[1]]

    overlaps = [tell(spans, [SINCE_50])[0][0].overlap for spans in (both, lost, silent)]

    assert overlaps == [Bounds(80, 80), Bounds(0, 80), Bounds(30, 80)]


def test_two_owners_are_certain_only_as_long_as_the_new_one_told_of_it() -> None:
    given, got = span("A", exactly(0), exactly(300)), span("B", exactly(100))
    heirs = [replace(got, told_at=400), replace(got, told_at=130), replace(got, until=Instant(400, 130, None))]

    overlaps = [only(tell([given, heir], [SINCE_50], before=350)).overlap for heir in heirs]

    assert overlaps == [Bounds(200, 200), Bounds(30, 200), Bounds(30, 200)]


@given(st.tuples(*[st.integers(60, 120)] * 4), st.booleans(), st.data())
def test_how_long_nobody_or_both_had_a_queue_lies_within_its_bounds(
    marks: tuple[int, ...], is_lost: bool, data: st.DataObject
) -> None:
    (d_low, dropped), (t_low, taken) = sorted(marks[:2]), sorted(marks[2:])
    true_drop, true_take = data.draw(st.integers(d_low, dropped + 40 * is_lost)), data.draw(st.integers(t_low, taken))
    end = Instant(dropped, d_low, None if is_lost else dropped)

    story = only(tell([span("A", exactly(0), end), span("B", looked(t_low, taken))], [SINCE_50]))

    assert (story.from_client, story.to_client, story.way) == ("A", "B", Way.HANDED)
    as_member = min(true_drop, dropped)  # who was lost may have it still, and owns it no longer
    for bounds, true in ((story.unowned, true_take - true_drop), (story.overlap, as_member - true_take)):
        assert bounds is not None
        assert bounds.low <= max(0, true) <= (max(0, true) if bounds.high is None else bounds.high)
