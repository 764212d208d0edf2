"""Rounds on a virtual clock: T is 100 s, times are ms."""

from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.events import Cause
from rebalance_engine.rounds import (
    MEMBERS_CHANGE,
    NOT_CONVERGED_MS,
    SUPERSEDING,
    Advance,
    Happening,
    OpenRound,
    advance,
    home_of,
    led_to,
    waits_for_routes,
)

T = 100_000


def happened(cause: Cause, after: int = 0, client: str | None = "A") -> Happening:
    return Happening(T + after, cause, client)


def go_on(
    current: OpenRound | None, *happenings: Happening, converged: bool | None = False, after: int = 0, last: int = 0
) -> Advance:
    return advance(current, happenings, last_number=last, converged=converged, settled_at=T + after, now=T + after)


def test_a_round_opens_at_the_first_change() -> None:
    after = go_on(None, happened(Cause.MEMBER_JOINED))

    assert after.open is not None
    assert (after.open.number, after.open.opened_at, after.open.cause) == (1, T, Cause.MEMBER_JOINED)


def test_nothing_that_happens_is_no_round() -> None:
    assert go_on(None, converged=True) == Advance((), None, 0)


def test_recomputing_by_order_without_a_change_is_no_round() -> None:
    assert go_on(None, happened(Cause.MANUAL)).open is None


def test_what_is_held_that_changes_soon_after_an_order_was_ordered() -> None:
    soon = go_on(None, happened(Cause.MANUAL), happened(Cause.HELD_CHANGED, 2_000)).open
    much_later = go_on(None, happened(Cause.MANUAL), happened(Cause.HELD_CHANGED, 60_000)).open

    assert soon is not None
    assert much_later is not None
    assert (soon.cause, much_later.cause) == (Cause.MANUAL, Cause.HELD_CHANGED)


def test_an_order_that_is_told_late_explains_the_round_that_it_led_to() -> None:
    opened = go_on(None, happened(Cause.HELD_CHANGED, 2_000)).open
    ended = go_on(opened, converged=True, after=3_000, last=1).ended[0].round

    told = go_on(opened, happened(Cause.MANUAL), last=1).open

    assert told is not None
    assert (told.cause, told.number, told.opened_at) == (Cause.MANUAL, 1, T + 2_000)
    assert home_of(happened(Cause.MANUAL), None, [ended]) == 1
    assert home_of(happened(Cause.MANUAL, 2_500), None, [ended]) is None


def test_what_may_have_changed_long_before_an_order_was_not_ordered() -> None:
    held = Happening(T + 1_000, Cause.HELD_CHANGED, low=T - 20_000)

    after = go_on(None, happened(Cause.MANUAL), held).open

    assert after is not None
    assert after.cause is Cause.HELD_CHANGED


def test_a_join_that_may_have_come_before_takes_the_place_of_an_order() -> None:
    opened = go_on(None, happened(Cause.MANUAL), happened(Cause.HELD_CHANGED, 2_000)).open
    join = Happening(T + 6_000, Cause.MEMBER_JOINED, "A", low=T + 1_000)

    after = go_on(opened, join, after=6_000, last=1)

    assert after.ended == ()
    assert after.open is not None
    assert after.open.cause is Cause.MEMBER_JOINED


def test_a_change_that_is_known_late_is_a_round_of_its_own_which_the_later_one_superseded() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED, 8_000, "D")).open

    after = go_on(opened, happened(Cause.MEMBER_JOINED, 0, "C"), last=1)

    [end] = after.ended
    assert after.open is not None
    assert ([each.client for each in end.round.happenings], end.round.number, end.at) == (["C"], 1, T + 8_000)
    assert (end.superseded_by, after.open.number, after.open.wave, after.last_number) == (2, 2, 1, 2)
    assert [each.client for each in after.open.happenings] == ["D"]


@given(st.permutations([(0, "B"), (2_000, "C"), (8_000, "D"), (20_000, "E")]))
def test_the_rounds_of_changes_that_become_known_before_any_has_ended_do_not_depend_on_their_order(
    changes: list[tuple[int, str]],
) -> None:
    first, *others = [happened(Cause.MEMBER_JOINED, after, client) for after, client in changes]
    alone = go_on(None, first).open

    together = go_on(None, first, *others)
    late = go_on(alone, *others, last=1)

    def shape(advance: Advance) -> list[tuple[int, list[str | None]]]:
        assert advance.open is not None
        rounds = [*(end.round for end in advance.ended), advance.open]
        return [(each.number, [one.client for one in each.happenings]) for each in rounds]

    assert shape(late) == shape(together) == [(1, ["B", "C"]), (2, ["D"]), (3, ["E"])]


def test_a_round_closes_no_later_than_now_though_a_reporters_clock_is_ahead() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED)).open

    after = advance(opened, (), last_number=1, converged=True, settled_at=T + 60_000, now=T + 2_000)

    assert [end.at for end in after.ended] == [T + 2_000]


def test_a_round_closes_when_what_is_held_last_changed() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED)).open

    after = go_on(opened, converged=True, after=1_500, last=1)

    assert after.open is None
    assert [(end.at, end.superseded_by) for end in after.ended] == [(T + 1_500, None)]


def test_a_round_stays_open_while_held_is_unknown_and_says_after_120_s_that_it_did_not_converge() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED)).open

    before = go_on(opened, converged=None, after=NOT_CONVERGED_MS - 1, last=1).open
    after = go_on(opened, converged=None, after=NOT_CONVERGED_MS, last=1).open

    assert before is not None
    assert after is not None
    assert (before.not_converged_at, after.not_converged_at) == (None, T + NOT_CONVERGED_MS)


def test_whether_a_round_converges_is_left_open_while_nobody_knows_what_there_is_to_hold() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED)).open
    late = go_on(opened, converged=None, after=NOT_CONVERGED_MS, last=1)

    assert late.undecided(opened).open == opened
    assert late.undecided(late.open) == late
    assert go_on(opened, converged=True, after=5, last=1).undecided(opened).open is None


def test_a_join_within_3_s_of_the_last_cause_belongs_to_the_round() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED)).open

    after = go_on(opened, happened(Cause.MEMBER_JOINED, 3_000, "B"), last=1)

    assert after.ended == ()
    assert after.open is not None
    assert after.open.last_cause_at == T + 3_000


def test_a_leave_more_than_3_s_after_the_last_cause_supersedes_the_round() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED)).open

    after = go_on(opened, happened(Cause.MEMBER_LEFT, 3_001), last=1)

    assert [(end.round.number, end.at, end.superseded_by) for end in after.ended] == [(1, T + 3_001, 2)]
    assert after.open is not None
    assert (after.open.number, after.open.wave) == (2, 1)


def test_another_config_more_than_3_s_after_the_last_cause_opens_its_own_round() -> None:
    """A group that nobody told what to have stays in the round of its last join until somebody does."""
    first = go_on(None, happened(Cause.MEMBER_JOINED), converged=None)
    soon = go_on(first.open, happened(Cause.CONFIG_CHANGED, 3_000), last=1)
    later = go_on(first.open, happened(Cause.CONFIG_CHANGED, 3_001), last=1)

    assert not soon.ended
    assert [(each.round.number, each.superseded_by) for each in later.ended] == [(1, 2)]
    assert later.open is not None
    assert (later.open.number, later.open.cause) == (2, Cause.CONFIG_CHANGED)


def test_one_setting_that_two_brokers_tell_some_seconds_apart_is_one_change() -> None:
    opened = go_on(None, happened(Cause.CONFIG_CHANGED, 0, None), converged=None).open
    after = go_on(opened, Happening(T + 9_000, Cause.CONFIG_CHANGED, low=T - 2_000), last=1)

    assert (after.ended, [each.at for each in after.open.happenings] if after.open else []) == ((), [T, T + 9_000])


def test_taking_later_what_was_left_unowned_belongs_to_the_round() -> None:
    opened = go_on(None, happened(Cause.HEARTBEAT_EXPIRED)).open

    after = go_on(opened, happened(Cause.HELD_CHANGED, 53_000, None), converged=True, after=53_000, last=1)

    assert [(end.round.number, end.at) for end in after.ended] == [(1, T + 53_000)]


def test_a_change_of_what_is_held_does_not_put_off_the_3_s() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED)).open

    after = go_on(opened, happened(Cause.HELD_CHANGED, 2_000, None), happened(Cause.MEMBER_JOINED, 4_000, "B"), last=1)

    assert len(after.ended) == 1


def test_three_members_in_one_round_are_many_at_once() -> None:
    two = go_on(None, happened(Cause.MEMBER_LEFT), happened(Cause.MEMBER_JOINED, 500, "B")).open
    assert two is not None

    three = go_on(two, happened(Cause.MEMBER_JOINED, 900, "C"), last=1).open

    assert three is not None
    assert (two.cause, three.cause) == (Cause.MEMBER_LEFT, Cause.MANY_AT_ONCE)


def test_time_alone_changes_something_only_while_a_round_has_not_said_that_it_did_not_converge() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED))
    overdue = go_on(opened.open, after=NOT_CONVERGED_MS, last=1)

    assert (opened.due_at, overdue.due_at) == (T + NOT_CONVERGED_MS, None)


happenings = st.builds(
    Happening, st.integers(0, 300_000), st.sampled_from(Cause), st.sampled_from("ABC"), st.integers(1, 9)
)


@given(st.lists(happenings, max_size=12), st.sampled_from([True, False, None]))
def test_rounds_are_numbered_without_gaps_and_each_cause_belongs_to_one(
    given_happenings: list[Happening], converged: bool | None
) -> None:
    after = advance(None, given_happenings, last_number=0, converged=converged, settled_at=0, now=300_000)

    rounds = [end.round for end in after.ended] + ([after.open] if after.open else [])
    assert [each.number for each in rounds] == list(range(1, after.last_number + 1))
    assert sum(len(each.happenings) for each in rounds) == sum(
        each.cause is not Cause.MANUAL for each in given_happenings
    )
    assert all(end.at >= end.round.opened_at for end in after.ended)
    assert all(end.superseded_by == end.round.number + 1 for end in after.ended[:-1])
    assert MEMBERS_CHANGE < SUPERSEDING


def test_a_change_that_may_have_come_before_what_was_seen_of_it_is_the_rounds_cause() -> None:
    opened = go_on(None, happened(Cause.HELD_CHANGED, client=None)).open
    join = Happening(T + 7_000, Cause.MEMBER_JOINED, "A", low=T - 2_000)

    after = go_on(opened, join, after=7_000, last=1)

    assert after.ended == ()
    assert after.open is not None
    assert (after.open.number, after.open.opened_at, after.open.cause) == (1, T, Cause.MEMBER_JOINED)


def test_a_change_that_came_later_than_what_was_held_opens_a_round_of_its_own() -> None:
    opened = go_on(None, happened(Cause.HELD_CHANGED, client=None)).open
    join = Happening(T + 20_000, Cause.MEMBER_JOINED, "A", low=T + 10_000)

    after = go_on(opened, join, after=20_000, last=1)

    assert [(end.round.cause, end.superseded_by) for end in after.ended] == [(Cause.HELD_CHANGED, 2)]
    assert after.open is not None
    assert after.open.cause is Cause.MEMBER_JOINED


def test_a_round_whose_cause_is_known_is_not_explained_again() -> None:
    opened = go_on(None, happened(Cause.HELD_CHANGED, client=None)).open
    first = Happening(T + 5_000, Cause.MEMBER_JOINED, "A", low=T - 2_000)
    second = Happening(T + 15_000, Cause.MEMBER_LEFT, "B", low=T - 2_000)

    explained = go_on(opened, first, after=5_000, last=1).open
    after = go_on(explained, second, after=15_000, last=1)

    assert [end.superseded_by for end in after.ended] == [2]


def test_what_comes_much_later_and_joins_a_round_does_not_explain_it() -> None:
    opened = go_on(None, happened(Cause.HELD_CHANGED, client=None)).open

    after = go_on(opened, happened(Cause.SUBSCRIPTION_CHANGED, 9_000), after=9_000, last=1)

    assert after.open is not None
    assert after.open.cause is Cause.HELD_CHANGED


def test_a_round_began_no_earlier_than_its_first_cause_may_have_come() -> None:
    exact = OpenRound(1, T, T, (happened(Cause.MEMBER_JOINED),), 1)
    bounded = OpenRound(1, T, T, (Happening(T, Cause.MEMBER_JOINED, "A", low=T - 500),), 1)
    unknown = OpenRound(1, T, T, (Happening(T, Cause.MEMBER_JOINED, "A", low=0),), 1)

    assert [each.began_low for each in (exact, bounded, unknown)] == [T, T - 500, 0]


def test_what_joins_a_round_later_does_not_let_it_begin_earlier_unless_it_explains_it() -> None:
    later = Happening(T + 2_000, Cause.MEMBER_LEFT, "B", low=T - 9_000)
    joined = OpenRound(1, T, T, (happened(Cause.MEMBER_JOINED), later), 1)
    explained = OpenRound(1, T, T, (Happening(T, Cause.HELD_CHANGED, low=T - 100), later), 1)

    assert (joined.began_low, explained.began_low) == (T, T - 9_000)


def test_a_broker_that_is_seen_to_be_gone_after_its_routes_is_what_they_changed_by() -> None:
    opened = go_on(None, Happening(T, Cause.ROUTE_CHANGED, None, low=T - 4_000)).open
    gone = Happening(T + 9_000, Cause.BROKER_GONE, None, low=T - 1_000)

    after = go_on(opened, gone, last=1, after=9_000)

    assert after.open is not None
    assert (after.ended, after.open.number, after.open.cause) == ((), 1, Cause.BROKER_GONE)
    assert after.open.began_low == T - 4_000


def test_a_broker_that_goes_long_after_routes_changed_supersedes_the_round() -> None:
    opened = go_on(None, Happening(T, Cause.ROUTE_CHANGED, None, low=T - 4_000)).open

    after = go_on(opened, Happening(T + 9_000, Cause.BROKER_GONE, None, low=T + 4_000), last=1, after=9_000)

    assert [end.superseded_by for end in after.ended] == [2]


def test_routes_that_may_have_changed_by_a_broker_belong_to_its_round() -> None:
    opened = go_on(None, Happening(T, Cause.BROKER_GONE, None, low=T - 9_000)).open
    with_it = Happening(T + 5_000, Cause.ROUTE_CHANGED, None, low=T - 1_000)
    long_after = Happening(T + 5_000, Cause.ROUTE_CHANGED, None, low=T + 4_000)

    one, two = (go_on(opened, each, last=1, after=5_000) for each in (with_it, long_after))

    assert (len(one.ended), len(two.ended)) == (0, 1)


def test_a_broker_that_is_seen_after_the_round_of_its_routes_has_ended_is_what_led_to_it() -> None:
    routes = Happening(T, Cause.ROUTE_CHANGED, None, low=T - 4_000)
    ended = OpenRound(1, T, T, (routes,), 1)
    joined = OpenRound(2, T + 6_000, T + 6_000, (happened(Cause.MEMBER_JOINED, 6_000),), 2)
    elsewhere = OpenRound(2, T + 6_000, T + 6_000, (Happening(T + 6_000, Cause.ROUTE_CHANGED, None, low=T + 1_000),), 2)
    back = Happening(T + 9_000, Cause.BROKER_BACK, None, low=T - 1_000)
    later = Happening(T + 19_000, Cause.BROKER_BACK, None, low=T + 9_000)
    long_after = Happening(T + 900_000, Cause.BROKER_BACK, None, low=0)

    assert [led_to(back, current, [ended]) for current in (None, joined, elsewhere)] == [1, 1, None]
    assert [led_to(each, None, [ended]) for each in (later, long_after)] == [None, None]
    assert led_to(Happening(T + 9_000, Cause.MEMBER_LEFT, "A", low=T - 1_000), None, [ended]) is None


def test_brokers_alone_are_no_round_until_their_routes_would_have_been_seen() -> None:
    back, join = happened(Cause.BROKER_BACK), happened(Cause.MEMBER_JOINED, 1_000)
    opened = go_on(None, join).open

    assert waits_for_routes(None, [back], T + 39_999) == T + 40_000
    assert waits_for_routes(None, [back], T + 40_000) is None
    assert [waits_for_routes(*each, T) for each in ((None, []), (None, [back, join]), (opened, [back]))] == [None] * 3


def test_a_round_opened_by_when_anything_of_it_was_seen_in_whatever_order_that_is_told() -> None:
    join = Happening(T + 1_000, Cause.MEMBER_JOINED, "A", low=T - 500)
    moved = Happening(T, Cause.HELD_CHANGED, low=T - 9_000)

    first = go_on(go_on(None, moved).open, join, last=1).open
    last = go_on(None, join).open
    assert first is not None
    assert last is not None
    last = last.seen_by(T)

    assert (first.opened_at, first.began_low, first.cause) == (T, T - 500, Cause.MEMBER_JOINED)
    assert (last.opened_at, last.began_low, last.cause) == (T, T - 500, Cause.MEMBER_JOINED)


def test_what_moved_long_before_a_rounds_cause_is_not_its_doing_nor_what_moved_before_the_last_one_ended() -> None:
    join = Happening(T + 9_000, Cause.MEMBER_JOINED, "A", low=T + 8_000)
    opened = OpenRound(1, T + 9_000, T + 9_000, (join,), 1)
    superseding = OpenRound(2, T + 9_000, T + 9_000, (join,), 1)

    assert opened.seen_by(T + 4_999) == opened
    assert opened.seen_by(T + 5_000).opened_at == T + 5_000
    assert superseding.seen_by(T + 8_500) == superseding


def test_the_first_cause_of_a_round_is_the_first_in_time_though_it_is_told_last() -> None:
    opened = go_on(None, happened(Cause.MEMBER_JOINED, 900)).open

    after = go_on(opened, happened(Cause.MEMBER_LEFT, 0, "B"), after=1_000, last=1).open

    assert after is not None
    assert (after.opened_at, after.last_cause_at, after.cause) == (T, T + 900, Cause.MEMBER_LEFT)


def test_what_was_held_late_does_not_put_off_the_3_s_of_a_cause_that_is_told_after_it() -> None:
    opened = go_on(None, happened(Cause.HELD_CHANGED, 6_000, None)).open
    explained = go_on(opened, happened(Cause.MEMBER_JOINED), after=6_100, last=1).open

    after = go_on(explained, happened(Cause.MEMBER_JOINED, 7_000, "B"), after=7_000, last=1)

    assert [(end.round.opened_at, end.superseded_by) for end in after.ended] == [(T, 2)]
