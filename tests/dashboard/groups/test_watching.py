from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from django.db import DataError, IntegrityError, OperationalError

from dashboard.clusters.models import Cluster, OutboxLine, Watch
from dashboard.groups.operations import LeaseLost, record
from dashboard.groups.watching import MOST_BATCHES, Writer, known_of, stored_until
from rebalance_engine.events import EXACT, BrokerSeen, ConsumptionSeen, Fact, PresenceSeen, RequestModesSeen
from tests.dashboard.story import EAST, NAMESRV, T0, joined, left, seen, told


def test_what_was_known_is_read_back(cluster: Cluster) -> None:
    at = {"at": T0, "exactness": EXACT}
    there = PresenceSeen(**at, source=EAST, group="g", client="A", broker="east", address="10.0.0.1:5")  # type: ignore[arg-type]
    broker = BrokerSeen(**at, source=NAMESRV, broker="east", broker_id=0, address="e:1")  # type: ignore[arg-type]
    shut = ConsumptionSeen(**at, source=EAST, group="g", broker="east", is_enabled=False)  # type: ignore[arg-type]
    by_pop = RequestModesSeen(**at, source=EAST, group="g", broker="east", topics=("orders",))  # type: ignore[arg-type]
    told(shut, by_pop, broker, *seen("A"), there, *seen("B"), left("B", 5))
    Watch.objects.create(cluster=cluster, at=T0 + 9, lists_at=T0 + 7)

    known = known_of(cluster="shop")

    assert (known.at, known.brokers) == (T0 + 7, {("east", 0): "e:1"})
    assert known.members == {"g": {"A": {("east", "10.0.0.1:5")}}}
    assert known.groups == {"g"}
    assert known.closed == {"g": {"east"}}
    assert known.popped == {"g": {"east": ("orders",)}}
    assert cluster.pk


class Thread:
    """Runs what a writer wants in this thread; fails as often as told."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls = 0
        self.before: Callable[[], None] = lambda: None

    async def __call__(self, function: Callable[[], int]) -> int:
        self.calls += 1
        self.before()
        if self.failures:
            raise self.failures.pop(0)
        await asyncio.sleep(0)
        return function()


class Stored(Writer):
    """A writer that keeps what it would store."""

    def __init__(
        self,
        thread: Thread,
        broken: frozenset[Fact] = frozenset(),
        refusal: Exception | None = None,
        now: Callable[[], int] = lambda: T0,
    ) -> None:
        super().__init__(cluster="shop", epoch=1, in_thread=thread, now=now)
        self.batches: list[list[Fact]] = []
        self.broken = broken
        self.refusal = refusal or ValueError("no database takes that")

    def _record(self, facts: list[Fact]) -> int:
        if self.broken & set(facts):
            raise self.refusal
        self.batches.append(facts)
        return len(facts)


def test_facts_are_stored_in_their_order_and_in_bulk() -> None:
    async def run() -> list[list[Fact]]:
        writer = Stored(Thread())
        for number in range(3):
            await writer.put([joined("A", number)])
        await writer.drain()
        return writer.batches

    assert asyncio.run(run()) == [[joined("A", number) for number in range(3)]]


def test_a_database_that_does_not_answer_loses_no_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.groups.watching.RETRY_S", (0.001, 0.002))

    async def run() -> tuple[list[list[Fact]], int]:
        thread = Thread(OperationalError("locked"), OperationalError("locked"))
        writer = Stored(thread)
        await writer.put([joined("A", 1)])
        await writer.drain()
        return writer.batches, thread.calls

    assert asyncio.run(run()) == ([[joined("A", 1)]], 3)


def test_what_waits_to_be_stored_holds_back_until_when_all_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.groups.watching.RETRY_S", (0.001, 0.002))

    async def run() -> list[tuple[int, bool]]:
        times = iter([T0 + 5, T0 + 6])
        thread = Thread(OperationalError("locked"))
        writer = Stored(thread, now=lambda: next(times))
        seen = [(writer.stored_until(T0 + 9), writer.is_idle)]
        await writer.put([joined("A", 5)])
        thread.before = lambda: seen.append((writer.stored_until(T0 + 9), writer.is_idle))
        await writer.put([joined("B", 6)])
        await writer.drain()
        return [*seen, (writer.stored_until(T0 + 9), writer.is_idle)]

    assert asyncio.run(run()) == [(T0 + 9, True), (T0 + 5, False), (T0 + 5, False), (T0 + 9, True)]


class BeyondLimits(Exception):
    """What PostgreSQL says of a row that no index takes."""

    sqlstate = "54000"


def beyond_limits() -> OperationalError:
    error = OperationalError("index row size 3256 exceeds maximum 2704")
    error.__cause__ = BeyondLimits()
    return error


REFUSALS = [ValueError("x"), OverflowError("x"), DataError("x"), IntegrityError("x"), beyond_limits()]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda error: type(error).__name__)
def test_a_fact_that_cannot_be_stored_does_not_take_the_others_with_it(
    refusal: Exception, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.groups.watching.RETRY_S", (0.001, 0.002))
    facts: list[Fact] = [joined("A", number) for number in range(5)]

    async def run() -> list[list[Fact]]:
        writer = Stored(Thread(), frozenset({facts[2]}), refusal)
        await writer.put(facts)
        await writer.drain()
        return writer.batches

    assert [fact for batch in asyncio.run(run()) for fact in batch] == [*facts[:2], *facts[3:]]
    assert "left out" in caplog.text


def test_what_another_process_was_faster_to_write_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.groups.watching.RETRY_S", (0.001, 0.002))

    async def run() -> list[list[Fact]]:
        writer = Stored(Thread(IntegrityError("UNIQUE constraint failed")))
        await writer.put([joined("A", 1)])
        await writer.drain()
        return writer.batches

    assert asyncio.run(run()) == [[joined("A", 1)]]


def test_who_states_more_than_can_be_stored_waits() -> None:
    async def run() -> int:
        writer = Stored(Thread())
        for number in range(MOST_BATCHES):
            await writer.put([joined("A", number)])
        one_more = asyncio.create_task(writer.put([joined("A", MOST_BATCHES)]))
        await asyncio.sleep(0)
        waits = not one_more.done()
        storing = asyncio.create_task(writer.run())
        await one_more
        storing.cancel()
        assert waits
        return writer.queued

    assert asyncio.run(run()) <= MOST_BATCHES


def test_a_lost_lease_ends_the_writer() -> None:
    async def run() -> None:
        writer = Stored(Thread(LeaseLost("gone")))
        await writer.put([joined("A", 1)])
        await writer.run()

    with pytest.raises(LeaseLost):
        asyncio.run(run())


def test_the_next_lease_knows_until_when_facts_were_stored(cluster: Cluster) -> None:
    assert stored_until(cluster) == 0
    Watch.objects.create(cluster=cluster, at=T0)
    Cluster.objects.update(lease_epoch=1)

    record(cluster="shop", facts=seen("A"), now=T0 + 7, lease_epoch=1)
    record(cluster="shop", facts=seen("B"), now=T0 + 5, lease_epoch=1)
    record(cluster="shop", facts=seen("C"), now=T0 + 9)

    assert stored_until(cluster) == T0 + 7


def test_the_same_facts_again_are_no_news(cluster: Cluster) -> None:
    record(cluster="shop", facts=seen("A"), now=T0)
    before = OutboxLine.objects.count()

    again = record(cluster="shop", facts=seen("A", 50), now=T0 + 50)

    assert (again.facts, OutboxLine.objects.count()) == (0, before)
    assert cluster.pk
