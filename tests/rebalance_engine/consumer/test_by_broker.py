import pytest

from rebalance_engine.consumer import Mode, java
from rebalance_engine.consumer.by_broker import applies
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.running import EAST, running, told


def test_the_broker_divides_for_who_lets_it() -> None:
    world, member = running(queues=2, client_rebalance=False, settle_ms=100)
    world.broker("east").assignments = {"orders": (EAST,), "%RETRY%G": ()}
    world.run(5_000)

    assert member.held() == {EAST}


def test_no_valid_answer_keeps_everything_and_is_asked_for_again_in_a_second() -> None:
    world, member = running(client_rebalance=False, settle_ms=100)
    world.broker("east").assignments = {"orders": (EAST,), "%RETRY%G": ()}
    world.run(5_000)
    world.broker("east").assignments.clear()
    world.shown = {"QueryAssignment"}
    world.hear_notification("A", "G")
    told(world)
    world.run(5_500)

    assert len(told(world)) in (10, 11, 12)  # both topics, each second
    assert member.held() == {EAST}


@pytest.mark.parametrize("version", ["4.9.7", "5.5.0"])
def test_orderly_consumers_and_version_4_divide_themselves(version: str) -> None:
    _, member = running(java(version), client_rebalance=False, orderly=version == "5.5.0")

    assert EAST in member.held()


def test_polling_consumers_divide_themselves() -> None:
    world, member = running(client_rebalance=False, mode=Mode.PULL, settle_ms=100)
    world.shown = {"QueryAssignment"}
    told(world)
    world.run(21_000)

    assert member.held() == {EAST}
    assert not [line for line in told(world) if "QueryAssignment" in line]


@pytest.mark.parametrize("mode", Mode)
def test_only_consumers_with_a_listener_let_the_broker_divide(mode: Mode) -> None:
    _, member = running(client_rebalance=False, mode=mode, settle_ms=100)

    assert applies(member) == (mode is Mode.PUSH)


def test_versions_5_0_to_5_3_1_find_out_once_whether_the_broker_can() -> None:
    world, member = running(java("5.3.1"), client_rebalance=False, settle_ms=100)
    world.broker("east").answers["QueryAssignment"] = [Refused(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED)] * 2
    world.shown = {"QueryAssignment"}
    world.run(30_000)

    assert len([line for line in told(world) if "QueryAssignment" in line]) == 2
    assert EAST in member.held()


def test_three_timeouts_are_a_no_too() -> None:
    world, member = running(java("5.3.1"), client_rebalance=False, settle_ms=100)
    world.broker("east").silent.add("QueryAssignment")
    world.run(20_000)

    assert EAST in member.held()
