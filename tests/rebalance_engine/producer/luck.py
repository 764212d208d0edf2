"""Luck that is written down, and routes in few words, for tests."""

import random
from collections.abc import MutableSequence
from typing import Any

from rebalance_engine.events import Origin, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.index import Index
from rebalance_engine.producer.latency import FaultTable
from rebalance_engine.producer.profiles import Profile
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.settings import Settings
from rebalance_engine.remoting.bodies.routes import BrokerData, QueueData, TopicRouteData

TOPIC = "orders"
SOURCE = Source(origin=Origin.SIMULATOR)


class WrittenLuck(random.Random):
    """Gives the numbers that it was given, then zeros; shuffling turns a list round."""

    def __init__(self, *numbers: int) -> None:
        super().__init__(0)
        self.numbers = list(numbers)

    def __reduce__(self) -> tuple[type["WrittenLuck"], tuple[int, ...]]:
        """Be copied with the numbers that are left."""
        return WrittenLuck, tuple(self.numbers)

    def getrandbits(self, k: int, /) -> int:
        return self._next() % 2**k

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        assert stop is None and step == 1
        return self._next() % start

    def shuffle(self, x: MutableSequence[Any]) -> None:
        x.reverse()

    def _next(self) -> int:
        return self.numbers.pop(0) if self.numbers else 0


def route(*brokers: str, queues: int = 2, perm: int = 6, **given: Any) -> TopicRouteData:
    """Put a topic on brokers; ``east:4`` has four queues there instead of ``queues``."""
    split = [(name.partition(":")[0], int(name.partition(":")[2] or queues)) for name in brokers]
    return TopicRouteData(
        queue_datas=tuple(
            QueueData(broker_name=name, read_queue_nums=count, write_queue_nums=count, perm=perm)
            for name, count in split
        ),
        broker_datas=tuple(BrokerData(broker_name=name, broker_addrs={0: f"{name}:10911"}) for name, _ in split),
        **given,
    )


def settings(**given: Any) -> Settings:
    return Settings(**({"group": "p_orders", "client": "A", "name_servers": ("names:9876",)} | given))


def info(profile: Profile, *brokers: str, luck: random.Random, queues: int = 2, at: int = 0) -> PublishInfo:
    return PublishInfo.from_route(TOPIC, route(*brokers, queues=queues), Index(profile.index, luck), profile, at)


def faults(profile: Profile, luck: random.Random, **given: Any) -> FaultTable:
    return FaultTable(profile, settings(avoids_faults=True, **given), luck)


def short(queues: list[MessageQueue]) -> str:
    return " ".join(f"{queue.broker}/{queue.queue_id}" for queue in queues)
