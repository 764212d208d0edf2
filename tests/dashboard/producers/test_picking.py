from __future__ import annotations

from dashboard.producers.picking import Fault, pick, queues_of, steps_of
from rebalance_engine.producer import Skip, Why, java

QUEUES = queues_of("orders", [("west", 2), ("east", 2)])


def test_a_broker_that_backs_off_is_passed_over_until_it_ends() -> None:
    faults = {"east": Fault(10_000, is_reachable=True)}

    now = pick("orders", QUEUES, faults, java("5.5.0"), at=9_999)
    later = pick("orders", QUEUES, faults, java("5.5.0"), at=10_000)

    assert (now.shares, now.looked, now.skipped) == ({"west": 4}, 4, {"east": Skip.BACKS_OFF})
    assert now.why == (Why.AVAILABLE,)
    assert (later.shares, later.skipped) == ({"east": 2, "west": 2}, {})


def test_where_all_back_off_one_that_can_be_reached_is_taken() -> None:
    faults = {"east": Fault(10, is_reachable=True), "west": Fault(10, is_reachable=False)}

    found = pick("orders", QUEUES, faults, java("5.5.0"), at=0)

    assert found.shares == {"east": 4}
    assert set(found.why) == {Why.REACHABLE}


def test_without_a_route_nothing_is_picked() -> None:
    found = pick("orders", [], {}, java("4.9.7"), at=0)

    assert (found.shares, found.looked, found.why) == ({}, 0, ())


def test_steps_are_those_of_the_version() -> None:
    new, old, strange = steps_of("V5_5_0"), steps_of("V4_9_7"), steps_of("")

    assert (new.stage_of(10_000), new.stage_of(2_000), new.stage_of(0), new.stage_of(7)) == (6, 3, None, None)
    assert (new.stage_of_latency(49), new.stage_of_latency(50), new.stage_of_latency(20_000)) == (0, 1, 7)
    assert (new.isolation_ms, new.is_assumed, strange.is_assumed) == (10_000, False, True)
    assert old.profile.version == "4.9.7"
    assert old.rows[2] == (550, 30_000)


def test_steps_are_those_of_the_language() -> None:
    python, go, cpp = steps_of("V5_1_4", "PYTHON"), steps_of("V2_1_0", "GO"), steps_of("V2_2_0", "CPP")

    assert (python.profile.version, python.rows[2], python.is_assumed) == ("5.1.4", (550, 2_000), False)
    assert (go.rows, go.slow_ms, go.stage_of_latency(9_000)) == ((), None, 0)
    assert (cpp.rows, cpp.slow_ms) == ((), None)


def test_a_client_without_steps_takes_each_queue_in_turn() -> None:
    found = pick("orders", QUEUES, {}, steps_of("", "GO").profile, at=0, avoids_faults=False)

    assert found.why == (Why.IN_TURN,)
