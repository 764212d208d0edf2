"""A client that already runs, for tests that begin there."""

from collections.abc import Iterable
from typing import Any

from rebalance_engine.consumer import Profile, java
from rebalance_engine.consumer.member import Member
from rebalance_engine.effects import Send
from rebalance_engine.model import MessageQueue
from tests.rebalance_engine.consumer.world import World, queue

JAVA = java("5.5.0")
EAST = queue("orders/east/0")


def running(
    profile: Profile = JAVA, *, queues: int = 1, settle_ms: int = 5_000, **settings: Any
) -> tuple[World, Member]:
    """Let A run alone in group G with some queues of orders on broker east."""
    world = World()
    world.topic("orders", f"east={queues}")
    client = world.make_client("A", profile)
    world.start("A", "G", "orders", **settings)
    world.run(settle_ms)
    return world, client.member("G")


def told(world: World) -> list[str]:
    """What was told, without times; and forget it."""
    lines, world.lines = [line[7:] for line in world.lines], []
    return lines


def stored(world: World, mq: MessageQueue = EAST) -> int | None:
    return world.broker("east").offsets.get(("G", mq))


def sends(effects: Iterable[object]) -> list[str]:
    return [type(effect.request).__name__ for effect in effects if isinstance(effect, Send)]
