"""Each kind of fault is found from facts as they come in, and no other with it; a healthy group has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.clusters.models import Cluster, Watch
from dashboard.groups.models import Finding, Group, Round
from dashboard.groups.queries import look_at
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import (
    EXACT,
    BrokerQueues,
    ConsumptionSeen,
    Departure,
    Fact,
    PresenceGone,
    PresenceSeen,
    PullRefused,
    RouteMissing,
    RouteSeen,
    Source,
    Subscription,
    SubscriptionReplaced,
)
from tests.dashboard.groups import test_brokers_changing as brokers
from tests.dashboard.groups.recording.test_flow import dead, progress
from tests.dashboard.groups.test_brokers_changing import has
from tests.dashboard.story import (
    EAST,
    NAMESRV,
    REPORT,
    T0,
    held,
    joined,
    left,
    listed,
    queue,
    route,
    seen,
    subscribes,
    told,
)

OTHER_NAMESRV = Source(origin=NAMESRV.origin, address="127.0.0.1:9877")
HEALTHY: tuple[Fact, ...] = (
    route(4),
    *seen("A"),
    *seen("B"),
    listed(0, "A", "B"),
    held("A", 0, [0, 1]),
    held("B", 0, [2, 3]),
)


@pytest.fixture(autouse=True)
def two_name_servers(cluster: Cluster) -> None:
    cluster.namesrv = "127.0.0.1:9876;127.0.0.1:9877"
    cluster.save()


def present(client: str, address: str, at: int = 0, broker: str = "east") -> PresenceSeen:
    return PresenceSeen(
        at=T0 + at, source=EAST, exactness=EXACT, group="g", client=client, broker=broker, address=address
    )


def routed(source: Source, at: int, permission: int = 6, **sizes: int) -> RouteSeen:
    brokers = tuple(
        BrokerQueues(broker=name, read_queues=size, write_queues=size, permission=permission, has_master=True)
        for name, size in sizes.items()
    )
    return RouteSeen(at=T0 + at, source=source, exactness=EXACT, topic="orders", brokers=brokers)


def consumes(at: int, *, is_enabled: bool) -> ConsumptionSeen:
    return ConsumptionSeen(at=T0 + at, source=EAST, exactness=EXACT, group="g", broker="east", is_enabled=is_enabled)


def looks(at: int) -> list[Fact]:
    return [held("A", at, [0, 1]), held("B", at, [2, 3])]


def after(*facts: Fact, at: int = 1_000, seconds: int = 80) -> list[Finding]:
    """What is found after these facts, and once more when members have been looked at again."""
    told(*HEALTHY)
    rebalance(0)
    told(*facts, at=at)
    rebalance(at)
    later = at + 1_000 * seconds
    told(*looks(later), at=later)
    rebalance(later)
    return list(Finding.objects.filter(cleared_at=None))


def rebalance(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def flaps() -> list[Fact]:
    moments = [(joined, 1_000), (left, 11_000), (joined, 21_000), (left, 31_000), (joined, 41_000), (left, 51_000)]
    return [say("C", at) for say, at in moments]  # type: ignore[operator]  # both take a client and a time


CASES: dict[str, list[Fact]] = {
    "duplicate client id": [present("A", "10.0.0.1:5"), present("A", "10.0.0.2:5")],
    "subscription mismatch": [
        SubscriptionReplaced(
            at=T0 + 1_000,
            source=EAST,
            exactness=EXACT,
            group="g",
            client="A",
            subscription=Subscription(topic="orders", expression="blue", expression_type="TAG", sub_version=2),
        )
    ],
    "different routes": [routed(OTHER_NAMESRV, 1_000, east=2)],
    "pull refused": [
        PullRefused(at=T0 + 80_000, source=REPORT, exactness=EXACT, group="g", client="A", queue=queue(0), code=16)
    ],
    "stuck listener": [progress(1_000), progress(61_000)],
    "dead letters growing": [dead(1_000, 5), dead(61_000, 6)],
    "disabled on purpose": [consumes(1_000, is_enabled=False), progress(1_000), progress(61_000)],
    "retry topic growing": [progress(1_000, failed=0), progress(61_000, 120, end=120, failed=30)],
}


@pytest.mark.parametrize("kind", CASES)
def test_a_fault_is_found_from_its_facts_alone_and_confirmed(kind: str) -> None:
    [fault] = after(*CASES[kind])

    assert fault.kind == kind
    assert fault.confirmed_at is not None
    assert fault.proof


def test_brokers_that_list_others_are_found() -> None:
    west = (queue(0, broker="west"),)
    told(*HEALTHY, routed(NAMESRV, 1, east=4, west=1), listed(1, "A", "B", broker="west"))
    told(replace(held("A", 2, [0, 1]), queues=(queue(0), queue(1), *west)))
    rebalance(10)
    assert list(Finding.objects.all()) == []

    told(listed(1_000, "A", broker="west"), at=1_000)
    rebalance(1_000)
    told(replace(held("A", 40_000, []), queues=(queue(0), queue(1), *west)), held("B", 40_000, [2, 3]), at=40_000)
    rebalance(40_000)

    [fault] = Finding.objects.all()
    assert (fault.kind, fault.confirmed_at) == ("different member lists", T0 + 40_000)
    assert fault.proof == ["east lists A, B", "west lists A"]


def test_who_comes_and_goes_is_found_at_once() -> None:
    [fault] = after(*flaps(), at=52_000)

    assert (fault.kind, fault.subject, fault.confirmed_at) == ("flapping", "C", T0 + 51_000)


def test_a_topic_that_may_not_be_read_is_no_orphan() -> None:
    told(*HEALTHY)
    told(subscribes("A", 1, "orders", "old"), subscribes("B", 1, "orders", "old"))
    closed = replace(routed(NAMESRV, 1, permission=2, east=4), topic="old")
    told(closed)
    rebalance(1_000)

    assert [fault.kind for fault in Finding.objects.all()] == ["no permission"]


def test_a_healthy_group_has_none() -> None:
    healthy = [
        present("A", "10.0.0.1:5"),
        present("B", "10.0.0.2:5"),
        routed(OTHER_NAMESRV, 1_000, east=4),
        consumes(1_000, is_enabled=True),
        dead(1_000, 5),
        dead(61_000, 5),
        listed(1_000, "B", "A"),
        progress(1_000, failed=0),
        progress(31_000, 110, end=120, failed=3),
        progress(61_000, 140, end=150, failed=5),
    ]

    assert after(*healthy) == []


def test_a_connection_that_is_gone_is_no_duplicate_any_more() -> None:
    [fault] = after(*CASES["duplicate client id"])
    told(
        PresenceGone(
            at=T0 + 90_000,
            source=EAST,
            exactness=EXACT,
            group="g",
            client="A",
            broker="east",
            address="10.0.0.1:5",
            departure=Departure.UNKNOWN,
        )
    )
    rebalance(90_000)

    fault.refresh_from_db()
    assert fault.cleared_at is not None


def test_a_name_server_that_does_not_answer_or_is_not_the_clusters_is_not_compared(cluster: Cluster) -> None:
    told(*HEALTHY, routed(OTHER_NAMESRV, 0, east=2))
    group = Group.objects.get()
    assert set(look_at(group=group).sights.routes["orders"]) == {"127.0.0.1:9876", "127.0.0.1:9877"}

    silent = {"server": "127.0.0.1:9877", "broker": "", "since": T0, "answered_at": None, "why": "timeout"}
    watch = Watch.objects.create(cluster=cluster, at=T0, silent=[silent])
    assert set(look_at(group=group).sights.routes["orders"]) == {"127.0.0.1:9876"}

    watch.delete()
    Cluster.objects.update(namesrv="127.0.0.1:9876")
    assert set(look_at(group=group).sights.routes["orders"]) == {"127.0.0.1:9876"}


def test_a_name_server_without_a_route_that_another_has_is_found_until_it_has_one() -> None:
    missing = RouteMissing(at=T0 + 1_000, source=OTHER_NAMESRV, exactness=EXACT, topic="orders")
    [fault] = after(missing)
    assert (fault.kind, fault.subject) == ("different routes", "orders")
    assert fault.proof == [
        "127.0.0.1:9877 has no route of orders",
        "127.0.0.1:9876 says east: 4 queues, permission RW",
    ]

    told(routed(OTHER_NAMESRV, 82_000, east=4), at=82_000)
    rebalance(82_000)

    fault.refresh_from_db()
    assert fault.cleared_at is not None


def test_a_topic_that_no_name_server_has_is_no_difference() -> None:
    missing = RouteMissing(at=T0 + 1_000, source=NAMESRV, exactness=EXACT, topic="new")
    told(*HEALTHY, subscribes("A", 1, "orders", "new"), subscribes("B", 1, "orders", "new"))
    told(missing, replace(missing, source=OTHER_NAMESRV))
    rebalance(2_000)

    assert list(Finding.objects.all()) == []


def test_a_group_that_may_consume_again_is_told_so() -> None:
    [fault] = after(*CASES["disabled on purpose"])
    told(consumes(82_000, is_enabled=True), held("A", 82_000, [0, 1]), held("B", 82_000, [2, 3]), at=82_000)
    rebalance(82_000)

    fault.refresh_from_db()
    assert fault.cleared_at is not None


def test_changes_that_never_settle_are_a_storm() -> None:
    told(*HEALTHY)
    rebalance(0)
    for number in range(5):
        at = 10_000 * (number + 1)
        told(joined(f"C{number}", at), at=at)
        rebalance(at)

    [storm] = Finding.objects.filter(kind="storm", cleared_at=None)
    assert storm.sentence.startswith("5 rounds in a row began before the one before them had settled")
    assert storm.confirmed_at is not None


def wrongly(at: int) -> list[Fact]:
    """What nobody's strategy says: members follow no target, and no round closes."""
    return [held("A", at, [0, 3]), held("B", at, [1, 2])]


def test_a_broker_that_is_started_again_and_again_is_no_storm_though_no_round_closes() -> None:
    def swapped(at: int, *brokers: str) -> list[Fact]:
        return [has("A", at, *((name, 1) for name in brokers)), has("B", at, *((name, 0) for name in brokers))]

    brokers.both()
    told(*swapped(10_000, "east", "west"))
    rebalance(10_100)
    for number in range(4):
        at = 60_000 * (number + 1)
        seen_again, here = (brokers.there, ("east", "west")) if number % 2 else (brokers.away, ("east",))
        told(seen_again(at - 1_000, at), brokers.routed(at - 1_000, at, *here), *swapped(at + 1_000, *here))
        rebalance(at + 1_100)

    causes = list(Round.objects.order_by("number").values_list("cause", flat=True))
    assert causes == ["held changed", "broker gone", "broker back", "broker gone", "broker back"]
    assert Round.objects.filter(superseded_by=None).count() == 1
    assert list(Finding.objects.filter(kind="storm")) == []


def test_members_that_come_slowly_to_a_group_that_follows_no_target_are_no_storm() -> None:
    told(*HEALTHY)
    rebalance(0)
    told(*wrongly(10_000), at=10_000)
    rebalance(10_000)
    for number in range(6):
        at = 60_000 * (number + 1)
        told(joined(f"C{number}", at), held(f"C{number}", at + 1_000, []), *wrongly(at + 1_000), at=at)
        rebalance(at + 1_000)

    assert len(Round.objects.all()) >= 6
    assert list(Finding.objects.filter(kind="storm")) == []


def test_a_chain_says_when_each_of_its_rounds_last_saw_a_queue_move() -> None:
    told(*HEALTHY)
    rebalance(0)
    for number in range(5):
        at = 10_000 * (number + 1)
        told(joined(f"C{number}", at), *(wrongly(at + 2_000) if number % 2 else [*HEALTHY[-2:]]), at=at)
        rebalance(at + 2_000)

    group = Group.objects.get()
    chain = look_at(group=group).chain
    assert [(each.number, each.moved_at) for _, each in chain] == [
        (1, None),
        (2, T0 + 22_000),
        (3, None),
        (4, None),
        (5, None),
    ]


def test_an_orphan_says_who_had_it_last_where_that_one_was_lost_without_a_word() -> None:
    told(*HEALTHY)
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)
    told(left("A", 1_000), held("B", 2_000, [2, 3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 2_000)
    [lost, _] = Finding.objects.filter(kind="orphan queue").values_list("sentence", flat=True)

    told(held("B", 3_000, [0, 2, 3]), held("B", 4_000, [2, 3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 4_000)
    [let_go, still_lost] = (
        Finding.objects.filter(kind="orphan queue").order_by("subject").values_list("sentence", flat=True)
    )

    answered = "No member consumes orders/east/0: the only member answered, and does not hold it."
    assert lost == f"{answered} A had it last, is gone, and may have it still."
    assert let_go == answered
    assert "A had it last" in still_lost


@pytest.mark.parametrize("is_reported_late", [False, True])
def test_who_was_lost_came_back_and_said_good_bye_before_it_told_anything_is_not_named(
    *, is_reported_late: bool
) -> None:
    told(*HEALTHY)
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)
    told(left("A", 1_000), held("B", 2_000, [2, 3]))
    told(joined("A", 3_000))
    bye = replace(left("A", 4_000, Departure.UNREGISTERED), source=REPORT)
    told(*([left("A", 4_100), bye] if is_reported_late else [bye, left("A", 4_100)]), held("B", 5_000, [2, 3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 5_000)

    faults = Finding.objects.filter(kind="orphan queue").values_list("sentence", flat=True)

    assert len(faults) == 2
    assert not any("had it last" in sentence for sentence in faults)


def test_who_was_lost_beside_another_one_that_had_a_queue_longer_is_not_named() -> None:
    told(*HEALTHY)
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)
    told(held("B", 1_000, [0, 2, 3]), left("A", 2_000), held("B", 3_000, [0, 2, 3]), held("B", 4_000, [2, 3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 4_000)

    first, second = Finding.objects.filter(kind="orphan queue").order_by("subject").values_list("sentence", flat=True)

    assert first == "No member consumes orders/east/0: the only member answered, and does not hold it."
    assert "A had it last" in second


def test_of_two_who_were_lost_the_one_is_named_that_told_last() -> None:
    told(route(4), *seen("A"), *seen("B"), *seen("C"), listed(0, "A", "B", "C"))
    told(held("A", 0, [0, 1]), held("B", 0, [2]), held("C", 0, [3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)
    told(held("B", 1_000, [0, 2]), held("B", 3_000, [0, 2]), left("B", 3_100), left("A", 3_200), held("C", 4_000, [3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 4_000)

    fault = Finding.objects.filter(kind="orphan queue").order_by("subject")[0]

    assert (fault.subject, "B had it last" in fault.sentence) == ("orders/east/0", True)
