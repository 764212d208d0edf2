"""A broker that goes, or is back, makes one round of a group, in whichever order brokers and routes are looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.rebalancing import due_groups, rebalance_once
from dashboard.groups.story import worst
from rebalance_engine.events import EXACT, BrokerGone, BrokerQueues, BrokerSeen, Exactness, Fact, HeldSeen, RouteSeen
from rebalance_engine.model import MessageQueue
from tests.dashboard.story import EAST, NAMESRV, T0, joined, queue, seen, subscribes, told

pytestmark = pytest.mark.usefixtures("cluster")
WEST = "127.0.0.1:2"


def between(low: int, at: int) -> Exactness:
    return Exactness.between(T0 + low, T0 + at)


def routed(low: int, at: int, *brokers: str) -> RouteSeen:
    """A look at the route of two queues on each of the brokers; the look before was at ``low``."""
    parts = tuple(
        BrokerQueues(broker=name, read_queues=2, write_queues=2, permission=6, has_master=True) for name in brokers
    )
    return RouteSeen(at=T0 + at, source=NAMESRV, exactness=between(low, at), topic="orders", brokers=parts)


def there(low: int, at: int) -> BrokerSeen:
    """The look at brokers that shows the western one; the look before was at ``low``."""
    return BrokerSeen(at=T0 + at, source=NAMESRV, exactness=between(low, at), broker="west", broker_id=0, address=WEST)


def away(low: int, at: int) -> BrokerGone:
    """The look at brokers that does not show the western one any more."""
    return BrokerGone(at=T0 + at, source=NAMESRV, exactness=between(low, at), broker="west", broker_id=0, address=WEST)


def has(client: str, at: int, *places: tuple[str, int]) -> HeldSeen:
    queues = tuple(queue(number, broker=broker) for broker, number in places)
    return HeldSeen(at=T0 + at, source=EAST, exactness=EXACT, group="g", client=client, queues=queues, dropped=())


def shared(at: int) -> list[Fact]:
    """Two members have the queues of both brokers, as they should by AVG."""
    return [has("A", at, ("east", 0), ("east", 1)), has("B", at, ("west", 0), ("west", 1))]


def alone(at: int) -> list[Fact]:
    """They have those of the eastern one alone."""
    return [has("A", at, ("east", 0)), has("B", at, ("east", 1))]


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def rounds() -> list[tuple[int, str, str, list[str]]]:
    return [
        (row.number, row.state, row.cause, list(row.causes.order_by("at", "pk").values_list("cause", flat=True)))
        for row in Round.objects.order_by("number")
    ]


def both() -> None:
    """Both brokers are there, and all is settled."""
    told(there(0, 0), routed(0, 0, "east", "west"), *seen("A"), *seen("B"), *shared(10))
    turn(20)


def one() -> None:
    """The western broker has gone, and all is settled: round 1."""
    both()
    told(routed(95_000, 100_000, "east"), away(90_000, 100_000), *alone(101_000))
    turn(101_100)
    assert rounds() == [(1, "closed", "broker gone", ["route changed", "broker gone"])]


def test_a_broker_that_is_seen_to_be_gone_after_its_group_has_settled_is_of_the_round_that_its_routes_opened() -> None:
    both()
    told(routed(100_000, 105_000, "east"))
    turn(105_100)
    told(*alone(107_000))
    turn(107_100)
    assert rounds() == [(1, "closed", "route changed", ["route changed"])]

    told(away(100_000, 110_000))
    turn(110_100)

    row = Round.objects.get()
    assert rounds() == [(1, "closed", "broker gone", ["route changed", "broker gone"])]
    assert (row.opened_at, row.closed_at, row.told_at) == (T0 + 105_000, T0 + 107_000, T0 + 110_100)


def test_a_broker_that_is_seen_to_be_back_after_its_group_has_settled_is_of_the_round_that_its_routes_opened() -> None:
    one()
    told(routed(200_000, 205_000, "east", "west"))
    turn(205_100)
    told(*shared(207_000))
    turn(207_100)
    told(there(200_000, 210_000))
    turn(210_100)

    assert rounds()[1:] == [(2, "closed", "broker back", ["route changed", "broker back"])]
    row = Round.objects.get(number=2)
    assert (row.opened_at, row.opened_low, row.closed_at) == (T0 + 205_000, T0 + 200_000, T0 + 207_000)


def test_a_broker_that_is_seen_to_be_back_while_another_round_is_open_is_of_the_one_that_its_routes_opened() -> None:
    one()
    told(routed(200_000, 205_000, "east", "west"))
    turn(205_100)
    told(*shared(206_000))
    turn(206_100)
    told(joined("C", 206_500))
    turn(206_600)
    told(there(200_000, 210_000))
    turn(210_100)

    assert rounds()[1:] == [
        (2, "closed", "broker back", ["route changed", "broker back"]),
        (3, "open", "member joined", ["member joined"]),
    ]


def test_a_broker_that_was_still_away_when_routes_changed_is_not_what_changed_them() -> None:
    one()
    told(routed(200_000, 205_000, "east", "west"))
    turn(205_100)
    told(*shared(206_000))
    turn(206_100)
    told(there(209_000, 219_000))
    turn(219_100)
    assert rounds()[1:] == [(2, "closed", "route changed", ["route changed"])]

    turn(260_000)

    assert rounds()[2:] == [(3, "open", "broker back", ["broker back"])]


def test_a_broker_that_is_seen_to_be_back_before_its_routes_waits_for_them() -> None:
    one()
    told(there(195_000, 202_000))
    turn(202_100)
    told(*alone(203_000))
    turn(203_100)
    assert RoundCause.objects.filter(round=None).count() == 1

    told(routed(200_000, 205_000, "east", "west"))
    turn(205_100)
    told(*shared(207_000))
    turn(207_100)

    assert rounds()[1:] == [(2, "closed", "broker back", ["broker back", "route changed"])]


def test_a_broker_that_is_gone_and_whose_queues_stay_is_a_round_once_its_routes_would_have_been_seen() -> None:
    both()
    told(away(90_000, 100_000))
    turn(100_100)
    assert (rounds(), due_groups(now=T0 + 139_999)) == ([], [])

    assert due_groups(now=T0 + 140_000) == [Group.objects.get().pk]
    turn(140_000)

    assert rounds() == [(1, "open", "broker gone", ["broker gone"])]
    assert Round.objects.get().opened_at == T0 + 100_000


def test_a_broker_whose_loss_two_looks_at_routes_saw_some_seconds_apart_makes_one_round() -> None:
    both()
    told(*(subscribes(client, 30, "orders", "bills") for client in "AB"))
    told(replace(routed(0, 40, "east", "west"), topic="bills"))
    turn(60)
    before = Round.objects.count()

    told(routed(75_000, 105_000, "east"))
    turn(105_100)
    told(replace(routed(78_000, 109_400, "east"), topic="bills"))
    turn(109_500)
    told(away(100_000, 110_000))
    turn(110_100)

    [row] = Round.objects.order_by("number")[before:]
    assert (row.cause, row.opened_at, row.superseded_by) == ("broker gone", T0 + 105_000, None)
    assert row.causes.filter(cause="route changed").count() == 2


def have(at: int, orders: tuple[str, ...], bills: tuple[str, ...]) -> list[Fact]:
    """Two members share the queues of two topics, which are on these brokers, as they should by AVG."""
    mine: dict[str, list[MessageQueue]] = {"A": [], "B": []}
    for topic, brokers in (("orders", orders), ("bills", bills)):
        queues = [queue(number, topic=topic, broker=broker) for broker in brokers for number in (0, 1)]
        mine["A"] += queues[: len(queues) // 2]
        mine["B"] += queues[len(queues) // 2 :]
    return [replace(has(client, at), queues=tuple(queues)) for client, queues in mine.items()]


def two_topics() -> int:
    """Both topics have queues on both brokers, and all is settled; gives the number of the last round."""
    both()
    told(*(subscribes(client, 30, "orders", "bills") for client in "AB"))
    told(replace(routed(0, 40, "east", "west"), topic="bills"), *have(50, ("east", "west"), ("east", "west")))
    turn(60)
    assert Round.objects.filter(closed_at=None).count() == 0
    return Round.objects.count()


def test_queues_that_a_second_topic_loses_once_the_round_has_ended_are_a_round_of_their_own() -> None:
    before = two_topics()
    told(routed(75_000, 105_000, "east"), *have(106_000, ("east",), ("east", "west")))
    turn(106_100)

    told(replace(routed(78_000, 109_400, "east"), topic="bills"))
    turn(109_500)
    told(*have(110_000, ("east",), ("east",)))
    turn(110_100)

    assert [(state, cause) for _, state, cause, _ in rounds()[before:]] == [("closed", "route changed")] * 2


def test_queues_that_two_topics_lose_are_one_round_while_it_may_have_been_at_once_and_two_where_it_was_not() -> None:
    before = two_topics()
    told(routed(75_000, 105_000, "east"))
    turn(105_100)

    told(replace(routed(78_000, 109_400, "east"), topic="bills"))
    turn(109_500)
    assert [causes for *_, causes in rounds()[before:]] == [["route changed"] * 2]

    told(replace(routed(108_000, 120_000, "west"), topic="bills"))
    turn(120_100)

    assert [(state, len(causes)) for _, state, _, causes in rounds()[before:]] == [("superseded", 2), ("open", 1)]


def test_queues_that_left_their_route_before_anybody_took_them_have_changed_no_owner() -> None:
    one()

    row = Round.objects.select_related("group").get()
    found = worst(lanes_of(row, now=T0 + 160_000), {})
    sentence = sentence_of(row, {**found, "twice": None}, now=T0 + 160_000)
    assert row.move_count == 1
    assert "1 queue changed owner in" in sentence
    assert "2 queues left their routes, and nobody had taken them." in sentence
