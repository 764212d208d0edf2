"""Members that are made up: each is a connection that sends heartbeats, and says that it holds nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from rebalance_engine.effects import Address, Received
from rebalance_engine.network.channels import OfChannel
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData, SubscriptionData
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo, GetConsumerRunningInfoResponse
from rebalance_engine.remoting.requests.membership import HeartBeat, UnregisterClient

BEATS_EVERY_S = 30.0
DONE_WITHIN_S = 30


@dataclass(slots=True)
class _Member:
    """One that is there: its connections, to whom, and what sends its heartbeats."""

    transport: Transport
    brokers: Sequence[Address]
    beating: asyncio.Task[None]


class MadeUp:
    """Members of one group, each at the brokers that it is sent to and at no other."""

    def __init__(self, group: str, beats_every_s: float) -> None:
        self._group, self._beats_every_s = group, beats_every_s
        self._members: dict[str, _Member] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"made up of {group}")
        self._thread.start()

    def join(self, client: str, *topics: str, at: Sequence[Address]) -> None:
        """Let a member of these topics join at some brokers; returns once they have its first heartbeat."""
        asyncio.run_coroutine_threadsafe(self._join(client, topics, at), self._loop).result(DONE_WITHIN_S)

    def leave(self, client: str) -> None:
        """Let a member leave in order."""
        asyncio.run_coroutine_threadsafe(self._leave(client), self._loop).result(DONE_WITHIN_S)

    def close(self) -> None:
        """End them all."""
        for client in tuple(self._members):
            with suppress(Exception):  # a broker may be gone by now; its connections end all the same
                self.leave(client)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(DONE_WITHIN_S)
        self._loop.close()

    async def _join(self, client: str, topics: Sequence[str], brokers: Sequence[Address]) -> None:
        transport = Transport()

        def hear(heard: OfChannel) -> None:
            if isinstance(heard, Received) and isinstance(heard.request, GetConsumerRunningInfo) and heard.token:
                nothing = GetConsumerRunningInfoResponse(body=ConsumerRunningInfo())
                transport.channels.respond(heard.channel, heard.token, nothing)

        transport.channels.on_heard = hear
        wants = tuple(SubscriptionData(topic=topic) for topic in (*topics, f"%RETRY%{self._group}"))
        data = ConsumerData(group_name=self._group, subscription_data_set=wants)
        beat = HeartBeat(body=HeartbeatData(client_id=client, consumer_data_set=(data,)))
        for broker in brokers:
            await transport.request(broker, beat)
        beating = asyncio.create_task(_beat(transport, brokers, beat, self._beats_every_s))
        self._members[client] = _Member(transport, brokers, beating)

    async def _leave(self, client: str) -> None:
        member = self._members.pop(client)
        member.beating.cancel()
        for broker in member.brokers:
            await member.transport.request(broker, UnregisterClient(client_id=client, consumer_group=self._group))
        await member.transport.close()


async def _beat(transport: Transport, brokers: Sequence[Address], beat: HeartBeat, every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        for broker in brokers:
            await transport.request(broker, beat)


@contextmanager
def made_up(group: str, *, beats_every_s: float = BEATS_EVERY_S) -> Iterator[MadeUp]:
    """Make up members of a group, until the block ends."""
    them = MadeUp(group, beats_every_s)
    try:
        yield them
    finally:
        them.close()
