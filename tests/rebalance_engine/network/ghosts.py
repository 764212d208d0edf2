"""Members that only say that they are there: they answer nothing, or what a test wants."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from rebalance_engine.effects import Received
from rebalance_engine.network.channels import OfChannel
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData, SubscriptionData
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo, GetConsumerRunningInfoResponse
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.membership import HeartBeat

Says = Callable[[], ConsumerRunningInfo | Refused | None]


@asynccontextmanager
async def ghost(
    *brokers: str, group: str = "G", client: str = "ghost", topic: str = "orders", says: Says = lambda: None
) -> AsyncIterator[Transport]:
    """Be a member at these brokers; ``says`` answers 307, None is silence."""
    async with Transport() as transport:

        def hear(heard: OfChannel) -> None:
            if isinstance(heard, Received) and isinstance(heard.request, GetConsumerRunningInfo):
                info = says()
                if info is not None and heard.token is not None:
                    answer = info if isinstance(info, Refused) else GetConsumerRunningInfoResponse(body=info)
                    transport.channels.respond(heard.channel, heard.token, answer)

        transport.channels.on_heard = hear
        topics = (topic, f"%RETRY%{group}")
        data = ConsumerData(
            group_name=group, subscription_data_set=tuple(SubscriptionData(topic=one) for one in topics)
        )
        for broker in brokers:
            await transport.request(broker, HeartBeat(body=HeartbeatData(client_id=client, consumer_data_set=(data,))))
        yield transport
