import asyncio
import json
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rebalance_engine import eventlog
from rebalance_engine.allocation.contract import MemberFailure, Strategy, UnknownParameter, UnknownStrategy
from rebalance_engine.consumer import Mode, java
from rebalance_engine.events import EXACT, Departure, Fact, MemberLeft, PullRefused, QueueDropped
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network import ConsumeFromWhere, LitePullConsumer, Producer, membership, reporter
from rebalance_engine.network.complaints import Complaints
from rebalance_engine.network.consumer import Consumer
from rebalance_engine.network.membership import Membership, group_settings
from rebalance_engine.network.process import Closed, Process
from rebalance_engine.network.reports import TOKEN, Answer
from rebalance_engine.network.transport import Transport
from tests.rebalance_engine.network.clusters import QUICK, cluster, divided, put, until
from tests.rebalance_engine.network.loop import on_a_loop

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET


def test_options_become_the_machine_s_settings() -> None:
    settings = group_settings(
        "G", {"orders": "*"}, Mode.PUSH, {"orderly": True, "threads": 3, "strategy": "AVG_BY_CIRCLE", "drain_s": 1}
    )

    assert (settings.group, settings.orderly, settings.threads, settings.strategy) == ("G", True, 3, "AVG_BY_CIRCLE")
    assert settings.max_reconsume_times == -1


def test_a_strategy_is_a_name_with_its_parameters_or_a_function() -> None:
    own = group_settings("G", {}, Mode.PUSH, {"strategy": lambda *_: []}).strategy
    assert isinstance(own, Strategy) and own.name.endswith("<lambda>")

    settings = group_settings(
        "G", {}, Mode.PUSH, {"strategy": "CONSISTENT_HASH", "strategy_params": {"virtual_nodes": 7}}
    )
    assert settings.strategy_params == {"virtual_nodes": 7}
    with pytest.raises(UnknownParameter):
        group_settings("G", {}, Mode.PUSH, {"strategy": "AVG", "strategy_params": {"virtual_nodes": 7}})
    with pytest.raises(ValueError, match=r"strategy_params are \{'nodes': 7\}; a function has none"):
        group_settings("G", {}, Mode.PUSH, {"strategy": lambda *_: [], "strategy_params": {"nodes": 7}})
    with pytest.raises(UnknownStrategy, match="no strategy 'X'"):
        group_settings("G", {}, Mode.PUSH, {"strategy": "X"})


@on_a_loop
async def test_the_first_round_is_told_though_the_second_heartbeat_is_under_way(tmp_path: Path) -> None:
    """From 5.2 on both are due after a second, and slow brokers let them overlap for sure."""
    facts: list[Fact] = []
    async with cluster(2, news=1) as both, Producer(both.namesrv) as producer:
        await put(producer, range(4), topic="news")
        for name in ("broker-a", "broker-b"):
            both.broker(name).be_slow(100)
        async with Consumer(
            both.namesrv,
            "G",
            "news",
            model=MessageModel.BROADCASTING,
            version="5.3.3",
            from_where=FIRST,
            offsets_dir=tmp_path,
            on_fact=facts.append,
        ) as consumer:
            seen = set()
            async for message in consumer:
                seen.add(message.queue.broker)
                if len(seen) == 2:
                    break

    refused = [fact for fact in facts if isinstance(fact, PullRefused)]
    assert refused == []


@on_a_loop
async def test_a_strategy_that_fails_is_logged_and_what_is_held_stays(caplog: pytest.LogCaptureFixture) -> None:
    def fall(*_: object) -> list[object]:
        raise ZeroDivisionError

    async with cluster() as east:
        with caplog.at_level(logging.ERROR):
            consumer = Consumer(east.namesrv, "G", "orders", version=QUICK, strategy=fall)  # type: ignore[arg-type]  # it gives nothing
            async with consumer, Consumer(east.namesrv, "G", "orders", version=QUICK) as other:
                await divided(2, other)
                assert consumer.held == ()
                (trouble,) = consumer.troubles

    assert trouble.startswith("the strategy of group 'G' fails, first for topic 'orders': ZeroDivisionError()")
    assert caplog.text.count("the strategy of group G failed; what is held stays") == 1


@on_a_loop
async def test_a_topic_that_is_not_there_is_no_trouble_once_it_is_given_up() -> None:
    async with (
        cluster(orders=1) as east,
        Consumer(east.namesrv, "G", ["orders", "bills"], version=QUICK) as consumer,
    ):
        await until(lambda: bool(consumer.troubles))
        assert "there is no topic 'bills'" in consumer.troubles[0]
        consumer.unsubscribe("bills")
        assert consumer.troubles == ()
        consumer.subscribe("bills")
        await until(lambda: bool(consumer.troubles))


@on_a_loop
async def test_a_closed_consumer_wants_no_topic() -> None:
    async with cluster(orders=1) as east:
        consumer = Consumer(east.namesrv, "G", ["orders", "bills"], version=QUICK)
        async with consumer:
            consumer.unsubscribe("bills")
        with pytest.raises(Closed):
            consumer.subscribe("bills")
        process: Process = consumer._process

    assert process.complaints.has_given_up("bills")


def test_a_strategy_that_fails_for_a_topic_that_is_given_up_is_no_trouble() -> None:
    def fall(*_: object) -> list[MessageQueue]:
        raise ZeroDivisionError

    complaints = Complaints("C", time.monotonic)
    strategy = group_settings("G", {}, Mode.PUSH, {"strategy": fall}, complaints).strategy
    assert isinstance(strategy, Strategy) and strategy.member is not None
    with suppress(MemberFailure):
        strategy.member("A", [MessageQueue("orders", "east", 0)], ["A"])
    assert len(complaints.now) == 1
    complaints.give_up("orders")
    with suppress(MemberFailure):
        strategy.member("A", [MessageQueue("orders", "east", 0)], ["A"])  # in the round that was under way

    assert not complaints.now


def test_a_failing_strategy_is_said_once_for_each_reason_and_taken_back_when_no_topic_has_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    foreign = MessageQueue("orders", "east", 9)
    fails: dict[str, bool] = {"orders": True, "bills": True}

    def share(_client: str, queues: Sequence[MessageQueue], _clients: Sequence[str]) -> list[MessageQueue]:
        if fails[queues[0].topic]:
            raise ValueError(f"no queue today {len(caplog.records)}")
        return [foreign] if queues[0].topic == "orders" else list(queues)

    def rounds() -> None:
        assert isinstance(strategy, Strategy) and strategy.member is not None
        for topic in fails:
            with suppress(MemberFailure):
                strategy.member("A", [MessageQueue(topic, "east", 0)], ["A"])

    complaints = Complaints("C", time.monotonic)
    strategy = group_settings("G", {}, Mode.PUSH, {"strategy": share}, complaints).strategy
    rounds()
    rounds()
    assert len(complaints.now) == caplog.text.count("Traceback") == 1

    fails["orders"] = False
    rounds()
    assert [("no queue today" in one, "none of the 1 given queues" in one) for one in complaints.now] == [
        (True, False),
        (False, True),
    ]
    fails["bills"] = False
    rounds()
    (left,) = complaints.now
    assert "none of the 1 given queues" in left
    assert caplog.text.count("Traceback") == 2


@on_a_loop
async def test_clustering_members_have_ids_of_their_own_and_broadcasting_ones_keep_theirs() -> None:
    def client_id(model: MessageModel) -> str:
        settings = group_settings("G", {}, Mode.PUSH, {"model": model})
        return Membership(("127.0.0.1:1",), settings, {}, Process("p", network=None, on_fact=None)).client_id

    assert client_id(MessageModel.CLUSTERING) != client_id(MessageModel.CLUSTERING)
    assert client_id(MessageModel.BROADCASTING) == "127.0.0.1@DEFAULT"


@on_a_loop
async def test_a_member_starts_without_answers_and_joins_when_they_come(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(membership, "START_S", 0.01)
    with caplog.at_level(logging.WARNING):
        async with Consumer("127.0.0.1:1", "G", "orders", version=QUICK) as consumer:
            assert consumer.held == ()

    assert "has no answers from name servers or brokers yet" in caplog.text


@on_a_loop
async def test_a_member_that_was_not_started_has_nothing() -> None:
    settings = group_settings("G", {}, Mode.PUSH, {})
    idle = Membership(("127.0.0.1:1",), settings, {}, Process("p", network=None, on_fact=None))

    assert idle.held() == ()
    with pytest.raises(Closed):
        _ = idle.member
    idle.drain()
    await idle.stop()


@on_a_loop
async def test_the_last_offsets_are_stored_by_a_client_too_that_waits_for_no_good_bye(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They go one way, maybe not at once, and nothing after them waits for an answer; C++ says no good-bye."""
    oneway = Transport.oneway

    async def later(self: Transport, *asked: Any) -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        await oneway(self, *asked)

    monkeypatch.setattr(Transport, "oneway", later)
    silent = replace(java(QUICK), unregisters=False)
    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        await put(producer, ["a", "b"])
        async with Consumer(east.namesrv, "G", "orders", version=silent, from_where=FIRST) as consumer:
            async for message in consumer:
                message.ack()
                if message.offset == 1:
                    break
        offsets = east.broker("broker-a").machine.membership.offsets
        await until(lambda: offsets.find("G", "orders", 0) == 2)


@on_a_loop
async def test_whoever_must_leave_without_answers_states_that_it_holds_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(membership, "STOP_S", 0.05)
    facts: list[Fact] = []
    async with cluster() as east:
        consumer = Consumer(east.namesrv, "G", "orders", version=QUICK, orderly=True, on_fact=facts.append)
        await consumer.start()
        await divided(4, consumer)
        east.broker("broker-a").be_slow(3_600_000)
        with caplog.at_level(logging.WARNING):
            await consumer.close()

        assert consumer.held == ()
        dropped = [fact.queue for fact in facts if isinstance(fact, QueueDropped)]
        assert len([queue for queue in dropped if queue.topic == "orders"]) == 4  # and perhaps that of the retry topic
    assert "left without the answers of all brokers" in caplog.text
    assert not [fact for fact in facts if isinstance(fact, MemberLeft)]


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[Fact]:
    """What a control room is told that takes all reports."""
    told: list[Fact] = []

    def take(_url: str, body: bytes, *, token: str) -> Answer:
        assert token == "ekr_of_G"  # noqa: S105
        told.extend(eventlog.read(json.dumps(line)) for line in json.loads(body)["facts"])
        return Answer(201, "")

    monkeypatch.setenv(TOKEN, "ekr_of_G")
    monkeypatch.setattr(reporter, "post", take)
    return told


@on_a_loop
@pytest.mark.parametrize("kind", [Consumer, LitePullConsumer])
async def test_who_leaves_in_order_reports_that_last_once_no_broker_lists_it(
    kind: type[Consumer | LitePullConsumer], reported: list[Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[bool] = []
    async with cluster(2) as both:
        member = kind(
            both.namesrv, "G", "orders", version=QUICK, instance="A", report_url="http://room.example/api/v1/reports"
        )
        put = reporter.Reporter.put

        def note(self: reporter.Reporter, fact: Fact) -> None:
            if isinstance(fact, MemberLeft):
                brokers = (both.broker(name).machine.membership for name in ("broker-a", "broker-b"))
                listed.extend(bool(each.registry.clients("G")) for each in brokers)
            put(self, fact)

        monkeypatch.setattr(reporter.Reporter, "put", note)
        await member.start()
        await divided(8, member)
        name = member.client_id
        await member.close()

    last = reported[-1]
    assert isinstance(last, MemberLeft)
    assert (last.group, last.client, last.departure) == ("G", name, Departure.UNREGISTERED)
    assert (last.exactness, last.source.client) == (EXACT, name)
    dropped = [fact for fact in reported if isinstance(fact, QueueDropped) and fact.queue.topic == "orders"]
    assert len(dropped) == 8 and last.at >= max(fact.at for fact in dropped)
    assert listed == [False, False]
    assert len([fact for fact in reported if isinstance(fact, MemberLeft)]) == 1


@on_a_loop
@pytest.mark.parametrize("keeps_connections", [True, False])
async def test_who_is_killed_reports_no_good_bye(reported: list[Fact], keeps_connections: bool) -> None:
    facts: list[Fact] = []
    async with cluster() as east:
        options: dict[str, Any] = {
            "version": QUICK,
            "report_url": "http://room.example/api/v1/reports",
            "on_fact": facts.append,
        }
        member = Consumer(east.namesrv, "G", "orders", **options)
        await member.start()
        await divided(4, member)
        await member.abandon(keeps_connections=keeps_connections)
        await member.abandon()

    assert not [fact for fact in (*reported, *facts) if isinstance(fact, MemberLeft)]
