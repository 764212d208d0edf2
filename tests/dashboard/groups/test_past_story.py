from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.groups.lane import Lane
from dashboard.groups.models import Group, Round
from dashboard.groups.past import Shown, shown_at
from dashboard.groups.past_story import (
    Neighbours,
    around_at,
    causes_at,
    cut_at,
    lanes_at,
    members_at,
    neighbours_of,
    round_at,
    time_bar_at,
)
from dashboard.push.models import Step
from rebalance_engine.events import EXACT, BrokerGone, BrokerSeen, PresenceSeen
from tests.dashboard.groups.test_past import group  # noqa: F401 - a fixture
from tests.dashboard.story import EAST, T0, told

NOW = T0 + 100_000


def at(group: Group, ms: int) -> Shown:  # noqa: F811
    shown = shown_at(group=group, at=T0 + ms)
    assert shown is not None
    return shown


def row_at(group: Group, ms: int) -> Round:  # noqa: F811
    row = round_at(group=group, shown=at(group, ms))
    assert row is not None
    return row


def lanes(group: Group, ms: int) -> dict[int, Lane]:  # noqa: F811
    found = lanes_at(row=row_at(group, ms), at=T0 + ms, now=NOW)
    return {lane.queue_id: lane for lane in found}


def test_a_round_stands_as_it_stood(group: Group) -> None:  # noqa: F811
    assert round_at(group=group, shown=at(group, 30)) is None
    assert (row_at(group, 5_500).number, row_at(group, 5_500).closed_at) == (1, None)
    assert row_at(group, 30_000).closed_at is not None
    assert (row_at(group, 61_000).number, row_at(group, 61_000).closed_at) == (2, None)
    assert Round.objects.get(number=1).closed_at is not None  # nothing was written


def test_handoffs_are_cut_at_the_instant(group: Group) -> None:  # noqa: F811
    during, after = lanes(group, 61_000), lanes(group, 62_000)

    assert {number: (lane.from_client, lane.to_client) for number, lane in after.items()} == {
        0: ("A", "B"),
        1: ("A", "B"),
    }
    assert after[0].taken_at == T0 + 62_000
    assert not after[0].is_waiting
    assert (during[0].from_client, during[0].to_client, during[0].taken_at) == ("A", "", None)
    assert during[0].is_waiting
    assert during[0].unowned == (0, 55_000)  # nobody knows when A left: it told last at 6 s, and may have it still
    assert after[0].unowned == (0, 56_000)
    assert lanes(group, 5_500) == {}  # what C was to get had not moved yet


def test_two_owners_last_until_the_instant() -> None:
    told_of = Lane(
        "orders", "east", 0, "A", "B", T0 + 9_000, T0 + 7_000, None, (0, 0), (2_000, 2_000), is_waiting=False
    )

    cut = cut_at(told_of, T0 + 8_000)

    assert cut is not None
    assert (cut.dropped_at, cut.taken_at, cut.overlap) == (None, T0 + 7_000, (1_000, 1_000))
    assert cut.is_shared
    assert cut_at(told_of, T0 + 6_999) is None
    assert cut_at(told_of, T0 + 9_000) == told_of


@given(st.tuples(*[st.integers(0, 40)] * 6), st.data())
def test_what_is_told_of_a_handoff_at_an_instant_holds_whenever_in_its_bounds_it_happened(
    marks: tuple[int, ...], data: st.DataObject
) -> None:
    (d_low, dropped, d_high), (t_low, taken, t_high) = (sorted(each) for each in (marks[:3], marks[3:]))
    unowned = (max(0, t_low - d_high), max(0, t_high - d_low))
    overlap = (max(0, d_low - t_high), max(0, d_high - t_low))
    lane = Lane(
        "orders", "east", 0, "A", "B", dropped, taken, None, unowned, overlap,
        is_waiting=False, dropped=(d_low, d_high), taken=(t_low, t_high),
    )  # fmt: skip
    at = data.draw(st.integers(max(min(dropped, taken), 0), max(dropped, taken)))
    true_drop, true_take = data.draw(st.integers(d_low, d_high)), data.draw(st.integers(t_low, t_high))

    cut = cut_at(lane, at)

    assert cut is not None
    for bounds, begin, end in ((cut.unowned, true_drop, true_take), (cut.overlap, true_take, true_drop)):
        so_far = max(0, min(end, at) - begin) if cut.taken_at is None or cut.dropped_at is None else max(0, end - begin)
        assert bounds[0] is None or bounds[0] <= so_far
        assert bounds[1] is None or so_far <= bounds[1]


def test_causes_are_those_that_were_known(group: Group) -> None:  # noqa: F811
    row = row_at(group, 61_000)

    assert [cause.evidence for cause in causes_at(row=row, at=T0 + 61_000)] == [
        "A left: whether cleanly or lost is unknown"
    ]
    assert causes_at(row=row, at=T0 + 59_999) == []


def test_there_is_a_way_to_each_change_and_each_round(group: Group) -> None:  # noqa: F811
    shown = [T0 + ms for ms in (20, 5_000, 6_000, 60_000, 62_000)]

    forth, here = [], T0 + 20
    while (following := neighbours_of(group=group, at=here).next_change) is not None:
        forth.append(here := following)
    back = []
    while (previous := neighbours_of(group=group, at=here).previous_change) is not None:
        back.append(here := previous)

    assert forth == shown[1:]
    assert back == shown[-2::-1]
    assert neighbours_of(group=group, at=T0 + 30_000) == Neighbours(
        T0 + 6_000, T0 + 60_000, previous_round=T0 + 5_000, next_round=T0 + 60_000
    )
    assert neighbours_of(group=group, at=T0 + 60_000).previous_round == T0 + 5_000
    assert neighbours_of(group=group, at=T0 + 5_000).previous_round is None
    assert neighbours_of(group=group, at=NOW).next_round is None


def test_where_steps_are_not_kept_the_way_leads_along_the_spans(group: Group) -> None:  # noqa: F811
    Step.objects.all().delete()

    near = neighbours_of(group=group, at=T0 + 30_000)

    assert near.previous_change == T0 + 6_000
    assert near.next_change == T0 + 60_000
    assert (near.previous_round, near.next_round) == (T0 + 5_000, T0 + 60_000)


def test_who_had_left_is_still_there_for_a_while(group: Group) -> None:  # noqa: F811
    def gone(ms: int) -> list[object]:
        state = at(group, ms).state
        left = around_at(group=group, state=state, lanes=[], at=T0 + ms)["left"]
        assert isinstance(left, list)
        return [(each["client"], each["words"], each["at"]) for each in left]

    assert gone(30_000) == []
    assert gone(61_000) == [("A", "gone", T0 + 60_000)]
    assert gone(60_000 + 90_000) == []


def test_a_broker_that_came_back_was_away_then(group: Group) -> None:  # noqa: F811
    def broker(kind: type[BrokerSeen | BrokerGone], ms: int) -> BrokerSeen | BrokerGone:
        return kind(at=T0 + ms, source=EAST, exactness=EXACT, broker="east", broker_id=0, address="127.0.0.1:10911")

    def away(ms: int) -> object:
        return around_at(group=group, state=at(group, ms).state, lanes=[], at=T0 + ms)["away"]

    told(broker(BrokerSeen, 63_000), at=63_000)
    told(broker(BrokerGone, 70_000), at=70_000)
    assert (away(69_999), away(70_000)) == ([], ["east"])
    told(broker(BrokerSeen, 80_000), at=80_000)

    assert [away(ms) for ms in (69_999, 70_000, 79_999, 80_000)] == [[], ["east"], ["east"], []]


def test_members_have_the_addresses_of_then(group: Group) -> None:  # noqa: F811
    told(
        PresenceSeen(
            at=T0 + 20_000, source=EAST, exactness=EXACT, group="g", client="B", broker="east", address="10.0.0.2:5"
        )
    )

    def addresses(ms: int) -> dict[str, tuple[str, ...]]:
        told_of = members_at(group=group, shown=at(group, ms), at=T0 + ms)
        return {each.member.client: each.addresses for each in told_of}

    assert addresses(10_000) == {"A": (), "B": (), "C": ()}
    assert addresses(30_000) == {"A": (), "B": ("east 10.0.0.2:5",), "C": ()}


@pytest.mark.parametrize(
    ("now", "asked", "name"),
    [(100_000, "", "3m"), (100_000, "1h", "1h"), (4_000_000, "3m", "6h"), (4_000_000, "24h", "24h")],
)
def test_the_time_bar_reaches_back_to_the_instant(group: Group, now: int, asked: str, name: str) -> None:  # noqa: F811
    window, bar = time_bar_at(group=group, at=T0 + 30_000, asked=asked, now=T0 + now)

    assert window == name
    assert int(str(bar["since"])) <= T0 + 30_000
    assert bar["until"] == T0 + now


def test_the_time_bar_of_an_old_instant_has_it_in_its_middle(group: Group) -> None:  # noqa: F811
    window, bar = time_bar_at(group=group, at=T0 + 30_000, asked="3m", now=T0 + 10 * 86_400_000)

    assert window == ""
    assert (bar["since"], bar["until"]) == (T0 + 30_000 - 43_200_000, T0 + 30_000 + 43_200_000)
    rounds = bar["rounds"]
    assert isinstance(rounds, list)
    assert [each["number"] for each in rounds] == [1, 2]
