from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.loads import DAY_MS, GroupLoad, MemberLoad, loads_of
from rebalance_engine.pipeline.sweep import Hold

Q = [MessageQueue("orders", "east", number) for number in range(4)]


def test_loads_are_weighted_by_time() -> None:
    holds = {Q[0]: [Hold(0, 100, "A")], Q[1]: [Hold(0, 50, "A"), Hold(50, 100, "B")]}

    members, groups = loads_of(holds, {"B": [(0, 100)]})

    assert members == [MemberLoad(0, "A", 100, 0, 150), MemberLoad(0, "B", 100, 50, 50)]
    assert groups == [GroupLoad(0, 100, 1.5)]  # 2.0 while A had both, then 1.0


def test_a_night_is_cut_at_midnight_utc() -> None:
    members, groups = loads_of({Q[0]: [Hold(DAY_MS - 10, DAY_MS + 30, "A")]}, {})

    assert [(one.day_ms, one.present_ms) for one in members] == [(0, 10), (DAY_MS, 30)]
    assert [one.observed_ms for one in groups] == [10, 30]


def test_a_member_that_never_holds_is_idle_all_the_time() -> None:
    members, groups = loads_of({}, {"A": [(100, 400)]})

    assert members == [MemberLoad(0, "A", 300, 300, 0)]
    assert groups == []


def test_a_member_that_is_away_is_not_idle() -> None:
    holds = {Q[0]: [Hold(0, 300, "A")], Q[1]: [Hold(0, 50, "B"), Hold(50, 250, "A"), Hold(250, 300, "B")]}

    members, groups = loads_of(holds, {"A": [(0, 300)], "B": [(0, 60), (250, 300)]})

    assert members == [MemberLoad(0, "A", 300, 0, 500), MemberLoad(0, "B", 110, 10, 100)]
    assert groups == [GroupLoad(0, 300, (290 + 10 * 2) / 300)]  # two to none while B was there still


def test_an_empty_group_has_no_loads() -> None:
    assert loads_of({}, {}) == ([], [])
