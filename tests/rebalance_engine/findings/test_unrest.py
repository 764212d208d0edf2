from __future__ import annotations

from dataclasses import replace

from rebalance_engine.events import Cause
from rebalance_engine.findings.unrest import CALM_MS, REST_MS, UNREST_MS, Change, Restless, flapping, storm
from rebalance_engine.group import GroupView, Member

GROUP = GroupView.of("g", [], [Member(client_id="A", topics=frozenset({"orders"}), held=())])
JOINED, LEFT = Cause.MEMBER_JOINED, Cause.MEMBER_LEFT


def lives(*clients: str, each_ms: int = 30_000, every_ms: int = 60_000) -> list[Change]:
    return [
        Change(n * every_ms + shift, cause, client)
        for n, client in enumerate(clients)
        for shift, cause in ((0, JOINED), (each_ms, LEFT))
    ]


def chain_of(*causes: Cause, every_ms: int = 10_000, moves: bool = True) -> list[Restless]:
    return [
        Restless(3 + n, n * every_ms, cause, n * every_ms + 1_000 if moves else None) for n, cause in enumerate(causes)
    ]


def test_five_rounds_that_never_settled_are_a_storm_until_it_is_calm() -> None:
    chain = chain_of(*[JOINED] * 5)

    [fault] = storm(GROUP, chain, 41_000)

    assert list(storm(GROUP, chain[:4], 41_000)) == []
    assert fault.subject == "from round 3"
    assert fault.sentence.startswith(
        "5 rounds in a row began before the one before them had settled, since 00:00:00 UTC"
    )
    assert fault.proof[0] == "round 3 at 00:00:00 UTC: member joined"
    assert fault.over_at == 41_000 + CALM_MS
    assert list(storm(GROUP, chain, 41_001 + CALM_MS)) == []


def test_brokers_that_are_started_again_under_a_list_that_nobody_follows_are_no_storm() -> None:
    """No round closes, as nobody takes what the list says; but no member came or went, and nothing moved."""
    gone, back = Cause.BROKER_GONE, Cause.BROKER_BACK
    causes = [Cause.CONFIG_CHANGED, gone, back, gone, back]

    assert list(storm(GROUP, chain_of(*causes, moves=False), 41_000)) == []
    assert list(storm(GROUP, chain_of(*causes), 41_000)) == []


def test_brokers_between_members_changes_do_not_hide_a_storm() -> None:
    chain = chain_of(JOINED, LEFT, Cause.BROKER_GONE, JOINED, LEFT, Cause.BROKER_BACK, Cause.MANY_AT_ONCE)

    [fault] = storm(GROUP, chain, 61_000)

    assert fault.sentence.startswith("5 rounds in a row")
    assert len(fault.proof) == 5


def test_members_that_come_to_rest_between_are_no_storm_though_no_round_closes() -> None:
    """They divide among themselves, and stay so, while their target is a list that none of them follows."""
    slow = REST_MS + 1_000

    assert len(list(storm(GROUP, chain_of(*[JOINED] * 6, every_ms=slow), 5 * slow))) == 1
    assert list(storm(GROUP, chain_of(*[JOINED] * 6, every_ms=slow + 1), 5 * slow + 5)) == []


def test_members_for_whom_nothing_moves_are_no_storm_unless_what_they_hold_is_unknown() -> None:
    chain = chain_of(*[JOINED] * 5, moves=False)

    assert list(storm(GROUP, chain, 41_000)) == []
    assert len(list(storm(replace(GROUP, silent=frozenset({"A"})), chain, 41_000))) == 1


def test_a_client_that_leaves_three_times_and_comes_back_flaps_until_ten_minutes_of_rest() -> None:
    changes = lives("A", "A", "A")

    [fault] = flapping("g", changes, 200_000)

    assert (fault.subject, fault.over_at) == ("A", 150_000 + UNREST_MS)
    assert fault.sentence == "A left 3 times since 00:00:00 UTC, and came back."
    assert fault.proof[:2] == ("A joined at 00:00:00 UTC", "A left at 00:00:30 UTC")
    assert list(flapping("g", changes, 150_001 + UNREST_MS)) == []


def test_a_client_that_is_started_anew_within_a_moment_flaps_too() -> None:
    [fault] = flapping("g", lives("A", "A", "A", each_ms=1_000, every_ms=1_500), 10_000)

    assert fault.sentence == "A left 3 times since 00:00:00 UTC, and came back."


def test_a_leaving_that_is_told_again_and_again_is_one() -> None:
    told_twice = [
        Change(at + shift, cause, "A")
        for at, cause in ((0, JOINED), (10_000, LEFT), (20_000, JOINED), (30_000, LEFT), (40_000, JOINED))
        for shift in (0, 900)
    ]

    assert list(flapping("g", told_twice, 60_000)) == []


def test_twice_is_no_flapping() -> None:
    assert list(flapping("g", lives("A", "A"), 200_000)) == []


def test_a_host_whose_members_live_for_a_moment_flaps_whatever_they_are_called() -> None:
    [fault] = flapping("g", lives("10.0.0.1@1#5", "10.0.0.1@2#6", "10.0.0.1@3#7"), 200_000)

    assert fault.subject == "10.0.0.1"
    assert "3 times since 00:00:00 UTC a member on 10.0.0.1 came and was gone again within 120 s." in fault.sentence


def test_members_that_stay_for_minutes_or_go_together_do_not_flap() -> None:
    names = ("10.0.0.1@1#5", "10.0.0.1@2#6", "10.0.0.1@3#7")

    assert list(flapping("g", lives(*names, each_ms=120_001), 300_000)) == []
    assert list(flapping("g", lives(*names, every_ms=1_000), 300_000)) == []


def test_a_rolling_deploy_of_named_members_does_not_flap() -> None:
    deploy = [
        Change(n * 30_000 + shift, cause, f"m{n}") for n in range(6) for shift, cause in ((0, LEFT), (9_000, JOINED))
    ]

    assert list(flapping("g", deploy, 300_000)) == []
