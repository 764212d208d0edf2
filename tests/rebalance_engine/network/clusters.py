"""Clusters, groups and messages for tests of consumers and producers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from rebalance_engine.embedded.cluster import Cluster, ClusterSettings
from rebalance_engine.model import MessageQueue
from rebalance_engine.network import Message, Producer

QUICK = "4.9.7"  # rebalances at once and pulls at once; 5.2 waits a second, 5.0 half of one


class Holder(Protocol):
    @property
    def held(self) -> tuple[MessageQueue, ...]: ...


def cluster(brokers: int = 1, **topics: int) -> Cluster:
    return Cluster(ClusterSettings(brokers=brokers, topics=topics or {"orders": 4}))


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that has no event of its own; the watchdog of the test ends it."""
    while not holds():  # noqa: ASYNC110  # it is spread over machines and threads
        await asyncio.sleep(0.01)


async def divided(queues: int, *members: Holder) -> None:
    """Wait until the members hold so many queues together, and none of them twice."""

    def is_divided() -> bool:
        held = [queue for member in members for queue in member.held]
        return len(held) == len(set(held)) == queues and all(member.held for member in members)

    await until(is_divided)


async def put(producer: Producer, bodies: Iterable[object], topic: str = "orders", key: str | None = None) -> None:
    for body in bodies:
        await producer.send(Message(topic=topic, body=str(body).encode(), sharding_key=key))
