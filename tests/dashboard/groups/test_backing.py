from __future__ import annotations

import pytest

from dashboard.clusters.models import Broker, Cluster, ProducerList
from dashboard.groups.backing import SHOWN_FOR_MS, backing_away
from dashboard.people.roles import Access, Role, Scope
from rebalance_engine.events import EXACT, BrokerBackedOff, BrokerLatency, Origin, SendOutcome, Source
from tests.dashboard.story import T0, told
from tests.dashboard.wrong_states import SOURCED

pytestmark = pytest.mark.django_db
VERA = Access("vera", (Scope(Role.VIEWER),))
SHOP = Source(origin=Origin.AGENT_REPORT, client="web-shop")


def backed_off(broker: str, at: int, for_ms: int) -> BrokerBackedOff:
    return BrokerBackedOff(
        at=T0 + at,
        source=SHOP,
        exactness=EXACT,
        client="web-shop",
        broker=broker,
        backoff_ms=for_ms,
        is_isolated=True,
        latency_ms=905,
    )


def found(cluster: Cluster, at: int, access: Access = VERA) -> tuple[list[tuple[str, int]], bool]:
    rows, has_any = backing_away(clusters=[cluster], access=access, now=T0 + at)
    return [(row.broker, row.left_ms) for row in rows], has_any


def test_who_backs_away_is_told_longest_first_until_a_minute_after_its_end(cluster: Cluster) -> None:
    told(backed_off("east", 0, 30_000), backed_off("west", 0, 60_000))

    assert found(cluster, 10_000) == ([("west", 50_000), ("east", 20_000)], True)
    assert found(cluster, 40_000) == ([("west", 20_000), ("east", 0)], True)
    assert found(cluster, 60_001 + SHOWN_FOR_MS) == ([], True)


def test_that_nobody_reports_is_not_that_nobody_backs_away(cluster: Cluster) -> None:
    assert found(cluster, 0) == ([], False)
    sent = BrokerLatency(
        at=T0, source=SHOP, exactness=EXACT, client="web-shop", broker="east", latency_ms=3, outcome=SendOutcome.OK
    )
    told(sent)
    assert found(cluster, 0) == ([], True)


def test_producers_are_for_whoever_may_see_all_groups(cluster: Cluster) -> None:
    told(backed_off("east", 0, 30_000))

    assert found(cluster, 0, Access("bo", (Scope(Role.VIEWER, groups="billing"),))) == ([], False)


def test_who_is_gone_backs_away_from_nobody(cluster: Cluster) -> None:
    told(backed_off("east", 0, 30_000))
    Broker.objects.create(cluster=cluster, name="east", broker_id=0, address="a:1", **SOURCED)
    here = ProducerList.objects.create(cluster=cluster, broker="east", **SOURCED)
    assert found(cluster, 20_000) == ([("east", 10_000)], True)

    here.observed_at = T0 + 15_000
    here.save()

    assert found(cluster, 20_000) == ([], False)
