from __future__ import annotations

import pytest

from dashboard.clusters.models import ProducerBroker
from rebalance_engine.events import (
    EXACT,
    BrokerBackedOff,
    BrokerBackoffEnded,
    BrokerLatency,
    BrokerReachable,
    BrokerUnreachable,
    SendOutcome,
)
from tests.dashboard.story import REPORT, T0, told

pytestmark = pytest.mark.usefixtures("cluster")


def about(at: int) -> dict:
    return {"at": T0 + at, "source": REPORT, "exactness": EXACT, "client": "P", "broker": "east"}


def test_a_producer_that_reports_nothing_is_unknown_not_well() -> None:
    told(BrokerReachable(**about(1)))

    row = ProducerBroker.objects.get()
    assert (row.latency_ms, row.backoff_ms, row.is_isolated, row.is_reachable) == (None, None, None, True)


def test_a_backoff_begins_and_ends_as_the_producer_says() -> None:
    told(BrokerBackedOff(**about(1), backoff_ms=30_000, is_isolated=True), BrokerUnreachable(**about(2)))
    row = ProducerBroker.objects.get()
    assert (row.backoff_until, row.is_isolated, row.is_reachable) == (T0 + 30_001, True, False)

    told(BrokerBackoffEnded(**about(3)))

    row.refresh_from_db()
    assert (row.backoff_until, row.is_isolated) == (None, False)


def test_an_older_report_that_arrives_late_changes_nothing() -> None:
    told(BrokerLatency(**about(9), latency_ms=3, outcome=SendOutcome.OK))

    late = told(BrokerLatency(**about(5), latency_ms=900, outcome=SendOutcome.REMOTING_ERROR))

    assert late.facts == 0
    assert ProducerBroker.objects.get().latency_ms == 3
