"""The embedded broker over loopback: heartbeats, sends and pulls a second, and how quickly a full log is opened again.

Callers and broker run in one process on one core, so a figure is the work of both ends. The bound is the same round
trip with a listener that answers at once: what is above it is the broker's own work. Rounds of both alternate.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter

from rebalance_engine.effects import Received
from rebalance_engine.embedded.cluster import Cluster, ClusterSettings
from rebalance_engine.embedded.store import Draft, MessageStore
from rebalance_engine.network.channels import OfChannel
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData
from rebalance_engine.remoting.messages import Host, decode_messages
from rebalance_engine.remoting.requests.consuming import PullMessage
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import HeartBeat, HeartBeatResponse
from rebalance_engine.remoting.requests.producing import SendMessageResponse, SendMessageV2
from rebalance_engine.remoting.tags import subscription
from tests.bench.report import Row

BOUND = "a listener that answers at once"
AT_ONCE = 32
BODY = b"x" * 128
ROUNDS = 5
MEMBERS = 20  # clients in the group, each on a connection of its own


def run(*, quick: bool) -> Iterator[Row]:
    """Measure it all; quick makes fewer round trips."""
    times = 640 if quick else 6_400
    beat, send = asyncio.run(_measure(times))
    for what, size, (ours, bound) in (
        ("heartbeat", f"{MEMBERS} members", beat),
        ("send", f"{len(BODY)} bytes, {AT_ONCE} at a time", send),
    ):
        yield Row(what, size, ours, "s", BOUND, bound, note=f"{1 / ours:,.0f} a second")
    messages = 2_000 if quick else 100_000
    pulled = asyncio.run(_pull(messages))
    yield Row("pull, by message", f"{len(BODY)} bytes, 32 a pull", pulled, "s", note=f"{1 / pulled:,.0f} a second")
    opened = _open(messages)
    yield Row("opening a log, by message", f"{messages:,} messages", opened, "s", note=f"{1 / opened:,.0f} a second")


def heartbeat(client: str) -> HeartBeat:
    """Make a member's heartbeat."""
    wanted = tuple(subscription(topic, "*", version=1) for topic in ("orders", "%RETRY%G"))
    consumer = ConsumerData(group_name="G", subscription_data_set=wanted)
    return HeartBeat(body=HeartbeatData(client_id=client, consumer_data_set=(consumer,)))


def sending(number: int) -> SendMessageV2:
    """Make a message, to one of four queues."""
    return SendMessageV2(producer_group="PG", topic="orders", queue_id=number % 4, born_timestamp=1, body=BODY)


async def _measure(times: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Give seconds a heartbeat, and a send: here, and where nothing is done; the best round of each."""
    async with Cluster(ClusterSettings(topics={"orders": 4})) as cluster, Listener() as listener:

        def answer(heard: OfChannel) -> None:
            if isinstance(heard, Received) and heard.token is not None:
                is_beat = isinstance(heard.request, HeartBeat)
                listener.channels.respond(heard.channel, heard.token, BEAT if is_beat else SENT)

        listener.channels.on_heard = answer
        here, bound = cluster.broker("broker-a").address, await listener.start()
        beats: dict[str, list[float]] = {here: [], bound: []}
        sends: dict[str, list[float]] = {here: [], bound: []}
        for _ in range(ROUNDS):
            for address in (here, bound):
                beats[address].append(await _beats(address, times))
                sends[address].append(await _sends(address, times))
    return (min(beats[here]), min(beats[bound])), (min(sends[here]), min(sends[bound]))


BEAT = HeartBeatResponse(is_support_heart_beat_v2=True, is_sub_change=True)
SENT = SendMessageResponse(msg_id="7F000001000055750000000000000000", queue_id=0, queue_offset=0, trace_on=True)


async def _beats(address: str, times: int) -> float:
    members = [Transport() for _ in range(MEMBERS)]
    beats = [heartbeat(f"10.0.0.1@{number}") for number in range(MEMBERS)]
    for member, beat in zip(members, beats, strict=True):
        await member.request(address, beat)  # join
    asks: list[Callable[[], Awaitable[Response]]] = [
        partial(member.request, address, beat) for member, beat in zip(members, beats, strict=True)
    ]
    took = await _each(times, asks)
    for member in members:
        await member.close()
    return took


async def _sends(address: str, times: int) -> float:
    numbers = count()
    async with Transport() as transport:
        return await _each(times, [lambda: transport.request(address, sending(next(numbers)))] * AT_ONCE)


async def _pull(messages: int) -> float:
    """Give seconds a message when one member pulls a full queue, 32 at a time, and reads each."""
    async with Cluster(ClusterSettings(topics={"orders": 1})) as cluster, Transport() as transport:
        broker = cluster.broker("broker-a")
        for _ in range(messages):
            broker.machine.core.store.append(_draft(), 1)
        await transport.request(broker.address, heartbeat("10.0.0.1@1"))
        begun, offset = perf_counter(), 0
        while offset < messages:
            found = await transport.request(broker.address, _pulling(offset))
            assert not isinstance(found, Refused), found
            offset += len(decode_messages(found.body))
        return (perf_counter() - begun) / messages


def _pulling(offset: int) -> PullMessage:
    return PullMessage(
        consumer_group="G",
        topic="orders",
        queue_id=0,
        queue_offset=offset,
        max_msg_nums=32,
        sys_flag=2,
        commit_offset=0,
        suspend_timeout_millis=15_000,
        sub_version=1,
    )


def _draft() -> Draft:
    return Draft(
        topic="orders",
        queue_id=0,
        body=BODY,
        properties={"TAGS": "A", "UNIQ_KEY": "7F000001000055750000000000000000"},
        born_timestamp=1,
        born_host=Host("127.0.0.1", 1),
    )


def _open(messages: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        kept = _store(folder)
        for _ in range(messages):
            kept.append(_draft(), 1)
        kept.close()
        begun = perf_counter()
        again = _store(folder)
        took = perf_counter() - begun
        assert again.end("orders", 0) == messages
        again.close()
    return took / messages


def _store(folder: str) -> MessageStore:
    return MessageStore(Path(folder), Host("127.0.0.1", 1), segment_bytes=16 * 2**20, max_bytes=256 * 2**20)


async def _each(times: int, asks: list[Callable[[], Awaitable[Response]]]) -> float:
    """Give the seconds of one answer when these workers share them."""

    async def work(ask: Callable[[], Awaitable[Response]]) -> None:
        for _ in range(times // len(asks)):
            answer = await ask()
            assert not isinstance(answer, Refused), answer

    begun = perf_counter()
    await asyncio.gather(*map(work, asks))
    return (perf_counter() - begun) / (times // len(asks) * len(asks))
