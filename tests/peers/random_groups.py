"""Random groups, of the shapes that occur and of those that should not but could, with the question for Java.

Everything here is seeded: a number makes the same group on every machine.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rebalance_engine.model import MessageQueue
from tests.peers import rocketmq

MOST_QUEUES = 300
MOST_CLIENTS = 60
STRANGER = "not-a-member"
EXOTIC = ("a", "B", "7", "-", "@", "é", "测", "\ue000", "\uff5e", "\U00010000", "\U0001f600", "\ud800")
ROOMS = ("east", "west", "", "\uff5e1", "\U0001f6001", "north-3", "@")
PLAIN_BROKERS = ("broker-a", "broker-2", "broker-10", "a", "b")
ODD_BROKERS = ("@b", "a@", "a@b@c", "@", "@@b", "a@@b", "east@", "east@@")
VIRTUAL_NODES = (0, 1, 1, 3, 10, 10, 10, 100)
INNER = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "MACHINE_ROOM", "CONFIG", "MACHINE_ROOM_NEARBY-AVG")


@dataclass(frozen=True, slots=True)
class Group:
    """A group of one topic, in no particular order.

    Attributes:
        name: the strategy's name, and
        params: its parameters, for the engine.
        wire: the same for Java.
    """

    name: str
    params: Mapping[str, Any]
    wire: bytes
    queues: list[MessageQueue]
    clients: list[str]

    @property
    def asked(self) -> list[str | None]:
        """Every distinct member, a stranger, and the two that have no id."""
        return [*dict.fromkeys(self.clients), STRANGER, "", None]


def group(strategy: str, number: int) -> Group:
    """Make the group of this number."""
    luck = random.Random(f"{strategy} {number}")
    queues, clients = _queues(luck), _clients(luck)
    if luck.random() < 0.05:
        queues, clients = _clashing(luck)
    if luck.random() < 0.02:
        queues, clients = luck.choice([([], clients), (queues, [])])
    params, wire = PARAMETERS[strategy](luck, queues, clients)
    name = strategy
    if strategy == "MACHINE_ROOM_NEARBY" and luck.random() < 0.5:
        name = f"{strategy}-{params['inner']}"
    return Group(name, params, wire, queues, clients)


def _size(luck: random.Random, most: int) -> int:
    """Small ones more often: they hold more of the odd cases, and cost less."""
    return max(1, round(most ** luck.random()))


def _queues(luck: random.Random) -> list[MessageQueue]:
    topic, brokers = _topic(luck), _brokers(luck)
    count = _size(luck, MOST_QUEUES)
    numbers = range(-(-count // len(brokers)))
    every = [MessageQueue(topic, broker, number) for broker in brokers for number in numbers]
    if luck.random() < 0.2:  # gaps, as where brokers have different write queue counts
        every = luck.sample(every, max(1, len(every) // 2))
    return luck.sample(every, min(count, len(every)))


def _topic(luck: random.Random) -> str:
    return luck.choice(("TopicTest", "%RETRY%group", "Topic_测试", _exotic(luck)))


def _brokers(luck: random.Random) -> list[str]:
    shape: Callable[[], str] = luck.choice(
        (
            lambda: luck.choice(PLAIN_BROKERS),
            lambda: f"{luck.choice(ROOMS)}@broker-{luck.randrange(4)}",
            lambda: luck.choice(ODD_BROKERS + PLAIN_BROKERS),
            lambda: f"{luck.choice(ROOMS)}@{_exotic(luck)}",
            lambda: _exotic(luck),
        )
    )
    return list(dict.fromkeys(shape() for _ in range(luck.randint(1, 6))))


def _clients(luck: random.Random) -> list[str]:
    shape: Callable[[], str] = luck.choice(
        (
            lambda: _real_id(luck),
            lambda: _real_id(luck) + luck.choice(("", "@unit", "@STREAM", "@unit@STREAM")),
            lambda: f"10.0.0.{luck.randrange(120)}@{luck.choice(('DEFAULT', '1'))}",
            lambda: _exotic(luck),
            lambda: f"{luck.choice(ROOMS)}-{luck.randrange(100)}",
        )
    )
    clients = [shape() for _ in range(_size(luck, MOST_CLIENTS))]
    if luck.random() < 0.25:
        clients += luck.choices(clients, k=luck.randint(1, 3))
    return clients


def _real_id(luck: random.Random) -> str:
    address = ".".join(str(luck.randrange(1, 255)) for _ in range(3))
    return f"10.{address}@{luck.randrange(1, 65536)}#{luck.randrange(10**9)}"


def _exotic(luck: random.Random) -> str:
    return "".join(luck.choices(EXOTIC, k=luck.randint(1, 4)))


def _clashing(luck: random.Random) -> tuple[list[MessageQueue], list[str]]:
    """Put clients together whose first nodes have one hash, and queues that hash onto a client's first node."""
    pairs, hits = _clashes()
    clients = [name for pair in luck.sample(pairs, min(3, len(pairs))) for name in pair]
    chosen = luck.sample(hits, min(3, len(hits)))
    queues = [queue for queue, _ in chosen] + [MessageQueue("TopicTest", "broker-a", -1 - i) for i in range(3)]
    clients += [name for _, name in chosen]
    return luck.sample(queues, len(queues)), luck.sample(clients, len(clients))


@cache
def _clashes() -> tuple[list[tuple[str, str]], list[tuple[MessageQueue, str]]]:
    """Among 2**32 hashes, 300,000 names have about ten pairs alike; the search takes a second."""
    clients_at: defaultdict[int, list[str]] = defaultdict(list)
    for number in range(300_000):
        name = f"10.0.{number // 250}.{number % 250}@{number}"
        clients_at[_hash(f"{name}-0")].append(name)
    pairs = [(names[0], names[1]) for names in clients_at.values() if len(names) > 1]
    queues = (MessageQueue("TopicTest", "broker-a", number) for number in range(100_000))
    hits = [(queue, clients_at[_hash(str(queue))][0]) for queue in queues if _hash(str(queue)) in clients_at]
    return pairs, hits


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest()[:4], "big")


# ---- what each strategy takes: the parameters for the engine, and the same on the wire ----

Parameters = tuple[dict[str, Any], bytes]


def _nothing(name: str) -> Callable[[random.Random, list[MessageQueue], list[str]], Parameters]:
    return lambda _luck, _queues, _clients: ({}, rocketmq.plain(name))


def _virtual_nodes(luck: random.Random, _queues: list[MessageQueue], clients: list[str]) -> Parameters:
    count = luck.choice(VIRTUAL_NODES)
    if count * len(clients) > 1000:
        count = 10  # Java walks the ring once for every node it puts there
    return {"virtual_nodes": count}, rocketmq.consistent_hash(count)


def _consumer_idcs(luck: random.Random, queues: list[MessageQueue], _clients: list[str]) -> Parameters:
    seen = {queue.broker.split("@")[0] for queue in queues}
    rooms = luck.sample(sorted(seen.union(ROOMS)), luck.randint(0, 4))
    return {"consumer_idcs": set(rooms)}, rocketmq.machine_room(rooms)


def _config(luck: random.Random, queues: list[MessageQueue], clients: list[str]) -> Parameters:
    elsewhere = [MessageQueue("other", "broker-z", number) for number in range(3)]
    known = queues + elsewhere
    told = [name for name in dict.fromkeys(clients) if luck.random() < 0.9]
    lists = {name: luck.choices(known, k=luck.randrange(6)) for name in told}
    return {"config": lists}, rocketmq.config(lists)


def _nearby(luck: random.Random, queues: list[MessageQueue], clients: list[str]) -> Parameters:
    inner = luck.choice(INNER)
    rooms = luck.sample(("east", "west", "\uff5e1", "\U0001f6001", "r1"), luck.randint(1, 4))
    broker_rooms: dict[str, str | None] = {queue.broker: luck.choice(rooms) for queue in queues}
    client_rooms: dict[str, str | None] = {name: luck.choice(rooms) for name in [*clients, STRANGER]}
    if luck.random() < 0.05:
        spoilt = luck.choice([table for table in (broker_rooms, client_rooms) if table])
        spoilt[luck.choice(list(spoilt))] = luck.choice((None, ""))
    params, wire = PARAMETERS[inner.rpartition("-")[2]](luck, queues, clients)
    for _ in range(inner.count("NEARBY")):
        wire = rocketmq.nearby(broker_rooms, client_rooms, wire)
    where = {"broker_room": lambda queue: broker_rooms.get(queue.broker), "client_room": client_rooms.get}
    return {"inner": inner, **where, **params}, rocketmq.nearby(broker_rooms, client_rooms, wire)


PARAMETERS: dict[str, Callable[[random.Random, list[MessageQueue], list[str]], Parameters]] = {
    "AVG": _nothing("AVG"),
    "AVG_BY_CIRCLE": _nothing("AVG_BY_CIRCLE"),
    "CONFIG": _config,
    "MACHINE_ROOM": _consumer_idcs,
    "CONSISTENT_HASH": _virtual_nodes,
    "MACHINE_ROOM_NEARBY": _nearby,
}


def several_topics(strategy: str, number: int) -> list[Group]:
    """Make one group of two or three topics, as Java sees it: a question a topic, the clients being the same."""
    luck = random.Random(f"{strategy} topics {number}")
    clients = _clients(luck)
    by_topic = {queues[0].topic: queues for queues in itertools.islice(iter(lambda: _queues(luck), None), 3)}
    every = [queue for queues in by_topic.values() for queue in queues]
    params, wire = PARAMETERS[strategy](luck, every, clients)
    return [Group(strategy, params, wire, queues, clients) for queues in by_topic.values()]
