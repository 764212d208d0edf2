"""Queues change hands without a cause; what else is known to have changed is told beside that."""

import pytest

from dashboard.groups.models import Group, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import EXACT, Departure, PresenceGone, PresenceSeen
from tests.dashboard.story import EAST, T0, held, listed, route, seen, told, untold

pytestmark = pytest.mark.usefixtures("cluster")


def connects(client: str, at: int, port: int, broker: str = "east") -> PresenceSeen:
    address = f"10.0.0.1:{port}"
    return PresenceSeen(
        at=T0 + at, source=EAST, exactness=EXACT, group="g", client=client, broker=broker, address=address
    )


def ends(client: str, at: int, port: int) -> PresenceGone:
    return PresenceGone(
        at=T0 + at,
        source=EAST,
        exactness=EXACT,
        group="g",
        client=client,
        broker="east",
        address=f"10.0.0.1:{port}",
        departure=Departure.UNKNOWN,
    )


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def settle() -> None:
    """Two members share four queues, each over one connection, for two minutes."""
    told(route(4), *seen("A"), *seen("B"), connects("A", 5, 1), connects("B", 5, 2))
    told(held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(held("A", 120_000, [0, 1]), held("B", 120_000, [2, 3]))
    turn(120_100)


def evidence() -> str:
    """Let B drop a queue; give what is told of that."""
    told(held("A", 122_000, [0, 1]), held("B", 122_000, [2]))
    turn(122_100)
    cause = RoundCause.objects.get()
    assert cause.cause == "held changed"
    return cause.evidence


def test_where_nothing_else_changed_that_is_said() -> None:
    settle()

    assert evidence() == "1 queue was taken or dropped, and nothing else that is known changed"


def test_a_connection_that_was_replaced_is_named() -> None:
    settle()
    told(ends("A", 121_000, 1), connects("A", 121_000, 7))

    assert evidence() == ("1 queue was taken or dropped; connections of A ended or were replaced at about that time")


def test_one_of_long_before_is_not() -> None:
    settle()
    told(ends("A", 30_000, 1), connects("A", 30_000, 7))

    assert evidence() == "1 queue was taken or dropped, and nothing else that is known changed"


def test_a_client_id_that_is_there_twice_is_told() -> None:
    settle()
    told(connects("A", 121_000, 7), listed(121_000, "A", "A", "B"))

    assert evidence().startswith("1 queue was taken or dropped; 2 connections call themselves A")


def test_while_a_broker_did_not_tell_its_members_nobody_says_that_nothing_changed() -> None:
    settle()
    told(untold(121_000))
    turn(121_100)

    assert evidence() == "1 queue was taken or dropped; not every broker told who is a member"
