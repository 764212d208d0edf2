from __future__ import annotations

import pytest

from dashboard.clusters.models import ProducerBroker
from dashboard.clusters.recording import producers
from rebalance_engine.events import (
    EXACT,
    BrokerBackedOff,
    BrokerBackoffEnded,
    BrokerLatency,
    BrokerReachable,
    BrokerUnreachable,
    LatencyCount,
    SendOutcome,
    SendTally,
)
from rebalance_engine.model import MessageQueue
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


def test_an_older_report_that_arrives_late_changes_nothing_that_holds() -> None:
    told(BrokerLatency(**about(9), latency_ms=3, outcome=SendOutcome.OK))

    told(BrokerLatency(**about(5), latency_ms=900, outcome=SendOutcome.REMOTING_ERROR))
    late = told(BrokerReachable(**about(4)))

    row = ProducerBroker.objects.get()
    assert late.facts == 0
    assert (row.latency_ms, row.observed_at, row.is_reachable) == (3, T0 + 9, None)
    assert row.sends == [[T0 + 5, 900, "remoting error", None], [T0 + 9, 3, "ok", None]]


def test_a_slow_send_is_kept_though_its_backoff_is_told_first() -> None:
    told(BrokerBackedOff(**about(600), backoff_ms=2_000, is_isolated=False))

    told(BrokerLatency(**about(0), latency_ms=600, outcome=SendOutcome.OK))

    row = ProducerBroker.objects.get()
    assert (row.sends, row.backoff_ms) == ([[T0, 600, "ok", None]], 2_000)


def test_the_last_sends_and_backoffs_are_kept_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producers, "MOST_SENDS", 2)
    monkeypatch.setattr(producers, "MOST_BACKOFFS", 1)
    sent = MessageQueue("orders", "east", 3)

    told(*(BrokerLatency(**about(at), latency_ms=at, outcome=SendOutcome.OK) for at in (1, 2)))
    told(BrokerLatency(**about(3), latency_ms=3, outcome=SendOutcome.BROKER_ERROR, queue=sent))
    told(BrokerBackedOff(**about(4), backoff_ms=2_000, is_isolated=False), BrokerBackoffEnded(**about(5)))
    told(BrokerBackedOff(**about(6), backoff_ms=30_000, is_isolated=True))

    row = ProducerBroker.objects.get()
    assert row.sends == [[T0 + 2, 2, "ok", None], [T0 + 3, 3, "broker error", "orders"]]
    assert row.backoffs == [[T0 + 6, 30_000, True, None]]


def test_the_end_of_a_backoff_that_nobody_announced_is_no_backoff() -> None:
    told(BrokerBackoffEnded(**about(5)))
    assert ProducerBroker.objects.get().backoffs == []

    told(BrokerBackedOff(**about(6), backoff_ms=2_000, is_isolated=False), BrokerBackoffEnded(**about(7)))
    assert ProducerBroker.objects.get().backoffs == [[T0 + 6, 2_000, False, T0 + 7]]


def test_what_a_report_counts_is_kept_beside_the_slowest() -> None:
    counts = (LatencyCount(latency_ms=3, count=7), LatencyCount(latency_ms=4, count=2, up_to_ms=9))
    tally = SendTally(since=T0, until=T0 + 40, counts=counts)

    told(BrokerLatency(**about(1), latency_ms=9, outcome=SendOutcome.OK, tally=tally))

    row = ProducerBroker.objects.get()
    assert row.sends == [[T0 + 1, 9, "ok", None, [T0, T0 + 40, [[3, 3, 7], [4, 9, 2]]]]]
