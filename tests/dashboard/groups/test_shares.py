from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from dashboard.groups.bands import Away, Bounded, Held, sweep
from dashboard.groups.shares import Lasted, Share, Window, shares_of

END = 60
MEMBERS = 3
ALONE = Window(0, END, 1, END)


def had(client: int, at: int, until: int | None, *, told_until: int = END) -> Bounded:
    return Bounded(7, client, at, at, at, until, until, until, told_until)


def only(spans: list[Bounded], *windows: Window) -> list[Share | None]:
    return [each.get(7) for each in shares_of(spans, windows or [ALONE], until=END)]


def exactly(length: int) -> Lasted:
    return Lasted(length, length, length)


def test_what_two_had_twice_beside_one_who_had_it_all_the_time_is_added_up() -> None:
    [share] = only([had(1, 0, None), had(2, 10, 15), had(2, 30, 37)])

    assert share is not None
    assert (share.overlap, share.unowned, share.is_overlap, share.is_gap) == (exactly(12), Lasted(), True, False)


def test_what_two_had_before_a_round_or_go_on_to_have_after_it_is_known_to_be_cut() -> None:
    windows = [Window(10, 20, 1, 30), Window(30, 40, 2, END)]

    inside = only([had(1, 0, None), had(2, 12, 15)], *windows)
    across = only([had(1, 0, None), had(2, 5, 35)], *windows)

    assert [share and share.is_cut for share in inside] == [False, None]
    assert [share and share.is_cut for share in across] == [True, True]


def test_a_queue_that_nobody_had_all_the_time_is_told_by_each_round() -> None:
    windows = [Window(10, 20, 1, 30), Window(30, 40, 2, END)]

    assert [share and share.unowned for share in only([had(1, 0, 5)], *windows)] == [exactly(10), exactly(10)]


def test_what_began_in_a_round_is_its_own_until_the_next_wave_and_added_up_once() -> None:
    windows = [Window(10, 20, 1, 40), Window(20, 30, 1, 40), Window(40, 50, 3, END)]
    spans = [had(1, 0, 15), had(2, 45, None)]

    assert [share and share.unowned for share in only(spans, *windows)] == [exactly(25), exactly(10), exactly(5)]
    once = [each.get(7) for each in shares_of(spans, windows, until=END, once=True)]
    assert [share and share.unowned for share in once] == [exactly(25), None, exactly(5)]


def test_what_nobody_had_before_somebody_was_seen_with_it_is_of_no_later_round() -> None:
    seen_once = replace(had(2, 20, 25), until_low=20)
    windows = [Window(0, 22, 1, 22), Window(22, END, 2, END)]

    first, second = only([had(1, 0, 5), seen_once], *windows)

    assert first is not None and second is not None
    assert (first.unowned.low, first.unowned.seen) == (15, 15)
    assert second.unowned == Lasted(35, 35, 40)


def test_of_a_silence_after_which_its_owner_had_it_still_nothing_is_told_when_he_lets_it_go_much_later() -> None:
    silent, window = ((10, 20),), Window(5, 25, 1, 30)

    assert only([replace(had(1, 0, None), silences=silent)], window) == [None]
    assert only([replace(had(1, 0, 40), silences=silent), had(2, 45, None)], window) == [None]
    [share] = only([replace(had(1, 0, 20), until_low=10, silences=silent), had(2, 22, None)], window)
    assert share is not None
    assert share.unowned == Lasted(2, 2, 12)


def test_two_have_a_queue_for_certain_no_longer_than_both_told() -> None:
    [share] = only([had(1, 0, None, told_until=12), had(2, 10, None)])

    assert share is not None
    assert share.overlap == Lasted(2, 50, 50)


def test_nobody_is_said_to_have_a_queue_for_certain_no_longer_than_all_answer() -> None:
    [found] = shares_of([had(1, 0, 10)], [ALONE], until=END, told_until=25)

    assert (found[7].unowned, found[7].is_doubted) == (Lasted(15, 15, 50), True)


def test_nor_longer_than_the_oldest_look_on_which_it_rests() -> None:
    [found] = shares_of([had(1, 0, 10)], [ALONE], until=END, told_until=25, sure_until=20)

    assert (found[7].unowned, found[7].is_doubted) == (Lasted(10, 15, 50), True)


def test_a_queue_that_went_has_nobody_no_more() -> None:
    [found] = shares_of([had(1, 0, 10)], [ALONE], until=END, gone={7: [Away(22, 22)]})

    assert found[7].unowned == exactly(12)


def test_a_queue_that_went_has_nobody_for_certain_until_it_may_have_gone() -> None:
    spans = [had(1, 0, 10), had(2, 15, 18)]

    def lasted(low: int | None) -> Lasted:
        [found] = shares_of(spans, [ALONE], until=END, gone={7: [Away(low, 22)]})
        return found[7].unowned

    assert [lasted(22), lasted(20), lasted(None)] == [Lasted(9, 9, 9), Lasted(7, 9, 9), Lasted(5, 9, 9)]


def test_a_queue_that_nobody_ever_had_has_nobody_since_that_was_seen() -> None:
    [found] = shares_of([], [ALONE], until=END, orphans=[Held(7, 20, None)])

    assert (found[7].unowned, found[7].is_lasting) == (exactly(40), True)


def test_no_time_is_counted_twice_in_which_a_queue_that_nobody_ever_had_may_have_been_seen_so() -> None:
    windows = [Window(0, 20, 1, END, number=1), Window(20, 40, 1, END, number=2), Window(40, END, 1, END, number=3)]
    orphans = [Held(7, 2, 22), Held(7, 30, None, low=5)]  # what was seen at 30 may have begun with the first round

    found = shares_of([], windows, until=END, orphans=orphans, near=windows)

    assert [each[7].unowned for each in found] == [exactly(20), Lasted(32, 32, 40), exactly(20)]


@st.composite
def holdings(draw: st.DrawFn) -> list[Bounded]:
    """Each member's times with a queue, apart from each other; some ends are known by bounds alone."""
    spans = list[Bounded]()
    for client in range(MEMBERS):
        marks = sorted(draw(st.lists(st.integers(0, END - 1), unique=True, max_size=12)))
        marks = marks[: len(marks) // 6 * 6]
        for low, at, high, until_low, until, until_high in zip(*[iter(marks)] * 6, strict=True):
            is_exact, lasts = draw(st.booleans()), high == marks[-4] and draw(st.booleans())
            began = (at, at, at) if is_exact else (at, low, high)
            ended = (until, until, until) if is_exact else (until, until_low, until_high)
            if lasts:
                spans.append(Bounded(7, client, *began, None, None, None, ended[1]))
            else:
                spans.append(Bounded(7, client, *began, *ended, END))
    return spans


def owners_at(at: int, spans: list[Bounded], how: str) -> int:
    """Count who had a queue in the ms from ``at`` on: for certain, as it was told, as it was seen, or possibly."""
    return len({each.client for each in spans if _begin(each, how) <= at < _end(each, how)})


def _begin(each: Bounded, how: str) -> int:
    began = {"possible": each.at_low, "member": each.at_low, "seen": each.at}.get(how, each.at_high)
    assert began is not None
    return began


def _end(each: Bounded, how: str) -> int:
    if each.until is None:
        return each.told_until if how == "told" else END
    end = {"possible": each.until_high, "seen": each.until, "member": each.until}.get(how, each.until_low)
    assert end is not None
    return end


def counted(spans: list[Bounded], since: int, until: int, how: str, *, two: bool) -> int:
    first = min(_begin(each, how) for each in spans)
    return sum(
        owners_at(at, spans, how) > 1 if two else at >= first and not owners_at(at, spans, how)
        for at in range(since, until)
    )


@given(holdings(), st.integers(0, END - 1), st.integers(1, END))
def test_a_round_denies_nothing_of_its_time_that_one_finds_by_looking_at_every_ms(
    spans: list[Bounded], since: int, took: int
) -> None:
    until = min(END, since + took)

    [found] = shares_of(spans, [Window(since, until, 1, until)], until=END)

    share = found.get(7, Share(Lasted(), Lasted()))
    assert share.unowned.low <= share.unowned.seen <= share.unowned.high
    assert share.overlap.low <= share.overlap.seen <= share.overlap.high
    if spans:
        assert share.unowned.seen >= _nobody(spans, since, until).seen
        assert share.unowned.low >= _nobody(spans, since, until).low
        assert share.overlap.low >= counted(spans, since, until, "told", two=True)
        assert share.overlap.seen >= counted(spans, since, until, "seen", two=True)


def _nobody(spans: list[Bounded], since: int, until: int) -> Lasted:
    return Lasted(*(counted(spans, since, until, how, two=False) for how in ("possible", "seen", "certain")))


@given(holdings())
def test_the_time_bar_and_rounds_that_follow_each_other_agree_with_every_ms(spans: list[Bounded]) -> None:
    shares = [share for share in only(spans, ALONE) if share is not None]
    nobody, perhaps, two = (
        sum(step.queues * (step.until - step.since) for step in steps) for steps in sweep(spans, since=0, until=END)
    )

    assert (nobody, two) == (sum(share.unowned.low for share in shares), sum(share.overlap.low for share in shares))
    assert nobody + perhaps == sum(share.unowned.seen for share in shares)
    if spans:
        assert [nobody, two] == [
            counted(spans, 0, END, "possible", two=False),
            counted(spans, 0, END, "told", two=True),
        ]
        hows = (("unowned", "possible", "seen", "certain"), ("overlap", "told", "seen", "member"))
        for kind, *how in hows:
            real = Lasted(*(counted(spans, 0, END, each, two=kind == "overlap") for each in how))
            assert [getattr(share, kind) for share in shares] in ([real], [] if real == Lasted() else [real])


@given(holdings().filter(lambda spans: all(each.at == each.at_low and each.until == each.until_low for each in spans)))
def test_exact_times_of_rounds_of_one_wave_add_up_to_the_time_bar(spans: list[Bounded]) -> None:
    windows = [Window(0, 20, 1, END), Window(20, 45, 1, END), Window(45, END, 1, END)]

    found = shares_of(spans, windows, until=END, once=True)

    nobody, _, _ = sweep(spans, since=0, until=END)
    total = sum(share.unowned.seen for each in found for share in each.values())
    assert total == sum(step.queues * (step.until - step.since) for step in nobody)


def test_while_somebody_did_not_answer_who_has_left_since_nobody_is_certain_to_have_missed_an_owner() -> None:
    [found] = shares_of([had(1, 0, 10), had(2, 50, None)], [ALONE], until=END, doubts=[(5, 20), (30, 45)])

    assert (found[7].unowned, found[7].is_gap) == (Lasted(15, 40, 40), True)

    [found] = shares_of([had(1, 0, 10), had(2, 50, None)], [ALONE], until=END, doubts=[(5, 55)])

    assert (found[7].unowned, found[7].is_gap, found[7].is_perhaps_gap) == (Lasted(0, 40, 40), False, True)


def test_a_queue_that_had_nobody_before_the_round_is_told_from_one_that_lost_its_owner_in_it() -> None:
    before, within = Window(20, 50, 1, END), Window(5, 50, 1, END)

    [share] = only([had(1, 0, 10), had(2, 40, None)], before)
    assert share is not None
    assert share.is_older

    [share] = only([had(1, 0, 10), had(2, 40, None)], within)
    assert share is not None
    assert not share.is_older


@st.composite
def absences(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[Away]]:
    """When a queue was in no route, and what looks at the route told of it; of some nobody knows since when."""
    marks = sorted(draw(st.lists(st.integers(0, END - 1), unique=True, max_size=12)))
    marks = marks[: len(marks) // 6 * 6]
    was, told = list[tuple[int, int]](), list[Away]()
    for low, went, at, back_low, came, back in zip(*[iter(marks)] * 6, strict=True):
        lasts = back == marks[-1] and draw(st.booleans())
        known = (low if draw(st.booleans()) else None, at)
        was.append((went, END if lasts else came))
        told.append(Away(*known) if lasts else Away(*known, back_low if draw(st.booleans()) else None, back))
    return was, told


@given(st.lists(st.tuples(st.integers(0, END - 1), st.integers(1, 20)), min_size=1, max_size=4), absences())
def test_bounds_contain_the_time_in_which_a_queue_was_in_a_route_and_nobody_had_it(
    holds: list[tuple[int, int]], away: tuple[list[tuple[int, int]], list[Away]]
) -> None:
    was, told = away
    for (went, _), each in zip(was, told, strict=True):  # who had a queue shows that it was there
        assume(each.low is not None or not any(went <= at <= each.at for at, _ in holds))
    spans = [had(client, at, min(END, at + length)) for client, (at, length) in enumerate(holds)]
    first = min(at for at, _ in holds)

    [found] = shares_of(spans, [ALONE], until=END, gone={7: told})
    nobody, perhaps, _ = sweep(spans, since=0, until=END, gone={7: told})

    alone = {
        at
        for at in range(first, END)
        if not any(low <= at < min(END, low + length) for low, length in holds)
        and not any(low <= at < high for low, high in was)
    }
    share = found.get(7, Share(Lasted(), Lasted()))
    assert share.unowned.low <= len(alone) <= share.unowned.high
    surely = {at for step in nobody for at in range(step.since, step.until)}
    assert surely <= alone
    assert len(surely) == share.unowned.low
    assert not surely & {at for step in perhaps for at in range(step.since, step.until)}


@given(
    st.lists(st.tuples(st.integers(0, END - 1), st.integers(1, 20)), min_size=1, max_size=4),
    absences(),
    st.integers(1, END),
)
def test_a_return_changes_nothing_that_was_certain_or_seen_before_it(
    holds: list[tuple[int, int]], away: tuple[list[tuple[int, int]], list[Away]], until: int
) -> None:
    spans = [had(client, at, min(END, at + length)) for client, (at, length) in enumerate(holds)]
    before = [
        replace(each, back_low=None, back_at=None) for each in away[1] if each.at <= until <= (each.back_at or END)
    ]
    before = [*(each for each in away[1] if each.back_at is not None and each.back_at < until), *before]
    after = [each for each in away[1] if each.at <= until]

    [then], [later] = (
        shares_of(spans, [Window(0, until, 1, until)], until=until, gone={7: gone}) for gone in (before, after)
    )

    one, other = (found.get(7, Share(Lasted(), Lasted())).unowned for found in (then, later))
    assert (one.low, one.seen) == (other.low, other.seen)
    assert one.high <= other.high  # it may have been back a while before that was seen


@given(holdings(), st.data())
def test_that_somebody_is_back_who_was_lost_makes_nothing_of_before_less_certain(
    spans: list[Bounded], data: st.DataObject
) -> None:
    ended = [(each, each.until) for each in spans if each.until is not None]
    assume(ended)
    who, lost_at = data.draw(st.sampled_from(ended))
    low, high = sorted(data.draw(st.tuples(*[st.integers(lost_at, END)] * 2)))
    before = [Window(0, low, 1, low)]
    others = [each for each in spans if each is not who]
    lost, back = replace(who, until_high=None), replace(who, until_high=high, back_low=low)

    [then], [later] = (shares_of([*others, each], before, until=END) for each in (lost, back))

    one, other = (found.get(7, Share(Lasted(), Lasted())) for found in (then, later))
    assert one.unowned.low <= other.unowned.low
    assert (one.unowned.seen, one.unowned.high) == (other.unowned.seen, other.unowned.high)
    assert one.overlap == other.overlap


def test_what_is_silent_from_its_first_look_on_was_its_own_then() -> None:
    silent = Bounded(7, 1, 0, 0, 0, 10, 0, 10, 0, silences=[(0, 30)])
    later = Bounded(7, 2, 20, 15, 20, None, None, None, END)

    [found] = shares_of([silent, later], [ALONE], until=END)

    assert (found[7].unowned.low, found[7].unowned.seen, found[7].unowned.high) == (5, 10, 20)
