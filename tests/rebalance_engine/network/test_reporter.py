from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from rebalance_engine import eventlog
from rebalance_engine.events import EXACT, BrokerLatency, Fact, Origin, QueueTaken, SendOutcome, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.complaints import Complaints
from rebalance_engine.network.reporter import Pace, Reporter, reporter_of
from rebalance_engine.network.reports import TOKEN, Answer
from tests.rebalance_engine.network.clusters import until
from tests.rebalance_engine.network.loop import on_a_loop

URL = "http://room.example/api/v1/reports"
OWN = Source(origin=Origin.AGENT_REPORT, client="A")
TAKEN, DOWN = Answer(201, ""), Answer(None, "refused")
QUICK = Pace(every_s=0.001, retry_s=(0.001, 0.004), drain_s=0.2, most_facts=10, most_kept=25)


def fact(number: int) -> QueueTaken:
    queue = MessageQueue("orders", "east", number)
    return QueueTaken(at=number, source=OWN, exactness=EXACT, group="g", client="A", queue=queue)


def latency(broker: str, latency_ms: int, outcome: SendOutcome = SendOutcome.OK) -> BrokerLatency:
    return BrokerLatency(
        at=1, source=OWN, exactness=EXACT, client="A", broker=broker, latency_ms=latency_ms, outcome=outcome
    )


class Room:
    """A control room that answers as it is told: by turns, or by what it gets; after that it takes everything."""

    def __init__(self, *answers: Answer, judge: Callable[[dict], Answer] | None = None) -> None:
        self.answers, self.judge = list(answers), judge
        self.got: list[dict] = []
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.closes_after: int | None = None

    async def post(self, body: bytes) -> Answer:
        await self.is_open.wait()
        self.got.append(report := json.loads(body))
        if len(self.got) == self.closes_after:
            self.is_open.clear()
        if self.answers:
            return self.answers.pop(0)
        return self.judge(report) if self.judge else TAKEN

    @property
    def facts(self) -> list[Fact]:
        return [eventlog.read(json.dumps(line)) for report in self.got for line in report["facts"]]


@asynccontextmanager
async def reporting(room: Room, pace: Pace = QUICK) -> AsyncIterator[tuple[Reporter, Complaints]]:
    complaints = Complaints("consumer of group 'g'", time.monotonic)
    reporter = Reporter(URL, "g", complaints=complaints, post=room.post, pace=pace)
    reporter.start()
    try:
        yield reporter, complaints
    finally:
        await reporter.close()


@on_a_loop
async def test_facts_arrive_in_their_order_and_in_batches_with_ids_of_their_own() -> None:
    room = Room()
    async with reporting(room) as (reporter, _):
        for number in range(24):
            reporter.put(fact(number))
        await until(lambda: reporter.taken == 24)

    assert room.facts == [fact(number) for number in range(24)]
    assert max(len(report["facts"]) for report in room.got) == 10
    assert len({report["report"] for report in room.got}) == len(room.got) >= 3
    assert {(report["v"], report["group"]) for report in room.got} == {(1, "g")}
    assert reporter.lost == 0


@on_a_loop
async def test_a_report_that_was_not_taken_is_sent_again_under_the_same_id(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    room = Room(DOWN, Answer(503, "not yet"), Answer(401, "no token"))
    room.closes_after = 2
    async with reporting(room) as (reporter, complaints):
        reporter.put(fact(1))
        await until(lambda: len(room.got) == 2)
        assert list(complaints.now) == [f"facts wait to be reported: {URL}: refused"]
        room.is_open.set()
        await until(lambda: reporter.taken == 1)

    assert len({report["report"] for report in room.got}) == 1
    assert room.facts == [fact(1)] * 4
    assert not complaints.now
    assert [record.message for record in caplog.records].count(
        f"consumer of group 'g': facts wait to be reported: {URL}: refused"
    ) == 1, "it is said once"


@on_a_loop
async def test_while_nobody_answers_the_newest_are_kept_and_the_others_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    room = Room()
    room.is_open.clear()
    async with reporting(room) as (reporter, _):
        reporter.put(fact(0))
        await until(lambda: reporter._under_way == 1)
        for number in range(1, 41):
            reporter.put(fact(number))  # never waits
        assert reporter.lost == 15
        room.is_open.set()
        await until(lambda: reporter.taken == 26)

    assert [each.at for each in room.facts] == [0, *range(16, 41)]
    assert f"15 facts were not reported to {URL}, 26 were" in caplog.text


@on_a_loop
async def test_too_large_a_report_goes_in_two() -> None:
    room = Room(judge=lambda report: TAKEN if len(report["facts"]) <= 3 else Answer(413, "too large"))
    async with reporting(room) as (reporter, _):
        for number in range(10):
            reporter.put(fact(number))
        await until(lambda: reporter.taken == 10)

    taken = [report for report in room.got if len(report["facts"]) <= 3]
    assert [line["at"] for report in taken for line in report["facts"]] == list(range(10))
    assert len({report["report"] for report in room.got}) == len(room.got)


@on_a_loop
async def test_what_never_will_be_taken_is_dropped_and_the_rest_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    room = Room(Answer(422, "no fact"))
    async with reporting(room) as (reporter, _):
        reporter.put(fact(1))
        await until(lambda: reporter.lost == 1)
        reporter.put(fact(2))
        await until(lambda: reporter.taken == 1)

    assert "answers 422: 'no fact'" in caplog.text
    assert room.facts == [fact(1), fact(2)]


@on_a_loop
async def test_the_end_sends_what_is_left_and_counts_what_cannot_be_sent() -> None:
    slow = Pace(every_s=3_600, drain_s=5)
    room = Room()
    async with reporting(room, slow) as (reporter, _):
        reporter.put(fact(1))
    assert (reporter.taken, reporter.lost) == (1, 0)

    closed = Room()
    closed.is_open.clear()
    async with reporting(closed) as (late, _):
        for number in range(3):
            late.put(fact(number))
    assert (late.taken, late.lost) == (0, 3)


@on_a_loop
async def test_who_is_abandoned_says_no_more() -> None:
    room = Room()
    async with reporting(room, Pace(every_s=3_600)) as (reporter, _):
        reporter.put(fact(1))
        await reporter.abandon()

    assert room.got == []


@on_a_loop
async def test_of_latencies_the_slowest_of_each_broker_is_told_and_of_failures_all() -> None:
    room = Room()
    async with reporting(room, Pace(every_s=3_600, drain_s=5)) as (reporter, _):
        for each in (3, 90, 7):
            reporter.put(latency("east", each))
        reporter.put(latency("west", 4))
        for _ in range(2):
            reporter.put(latency("east", 3_000, SendOutcome.REMOTING_ERROR))

    told = [(each.broker, each.latency_ms) for each in room.facts if isinstance(each, BrokerLatency)]
    assert told == [("east", 3_000), ("east", 3_000), ("east", 90), ("west", 4)]
    tallies = [each.tally for each in room.facts if isinstance(each, BrokerLatency)]
    counted = [None if tally is None else [(each.latency_ms, each.count) for each in tally.counts] for tally in tallies]
    assert counted == [None, None, [(3, 1), (7, 1), (90, 1)], [(4, 1)]]
    assert reporter.thinned == 2


def test_a_reporter_is_made_where_an_address_is_given_and_the_token_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "ekr_x")
    assert reporter_of({}, "g", Complaints("x", time.monotonic)) is None
    assert isinstance(reporter_of({"report_url": URL}, "g", Complaints("x", time.monotonic)), Reporter)

    monkeypatch.setenv(TOKEN, "two words")
    with pytest.raises(ValueError, match=TOKEN):
        reporter_of({"report_url": URL}, "g", Complaints("x", time.monotonic))
