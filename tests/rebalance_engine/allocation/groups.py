"""Groups for tests of allocation: a few names to write by hand, and random ones as odd as Java allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pytest
from hypothesis import strategies as st

from rebalance_engine import MessageQueue, allocation
from rebalance_engine.allocation import allocate, strategy
from rebalance_engine.model import Order

Lists = dict[str, list[MessageQueue]]
Numbers = dict[str, list[int]]

# UTF-16 puts the astral ones and lone surrogates before U+E000 to U+FFFF, code points put them behind.
CHARACTERS = "aB07-@#é测\ue000\uff5e\U00010000\U0001f600\ud800\udfff"
A_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # to Java this is one character, to Python two


def queues(*ids: int, topic: str = "T", broker: str = "east") -> list[MessageQueue]:
    return [MessageQueue(topic, broker, queue_id) for queue_id in ids]


def ids_of(lists: Mapping[str, Iterable[MessageQueue]]) -> Numbers:
    return {client_id: [queue.queue_id for queue in held] for client_id, held in lists.items()}


def allocate_ids(name: str, count: int, clients: Iterable[str], **params: Any) -> Numbers:
    """Allocate queues 0 to count - 1 of one topic on one broker, and name them by their numbers."""
    return ids_of(allocate(name, queues(*range(count)), clients, **params))


def members(count: int) -> list[str]:
    """Name c1, c2 and so on so that they sort by number."""
    return [f"c{number:05}" for number in range(1, count + 1)]


# ---- what the engine is compared with: sorted here, asked member by member, put together ----


def in_order(names: Iterable[str], order: Order = Order.JAVA) -> list[str]:
    return sorted(names, key=_key(order))


def queues_in_order(given: Iterable[MessageQueue], order: Order = Order.JAVA) -> list[MessageQueue]:
    key = _key(order)
    return sorted(set(given), key=lambda queue: (key(queue.topic), key(queue.broker), queue.queue_id))


def _key(order: Order) -> Callable[[str], bytes]:
    encoding = "utf-16-be" if order is Order.JAVA else "utf-8"
    return lambda name: name.encode(encoding, "surrogatepass")


def each_alone(name: str, given: Iterable[MessageQueue], clients: Iterable[str], **params: Any) -> Lists:
    """Ask every member for every topic, as its own process would."""
    chosen = strategy(name, **params)
    assert chosen.member is not None
    by_topic = groupby(queues_in_order(given, chosen.order), key=lambda queue: queue.topic)
    topics = [list(of_topic) for _, of_topic in by_topic]
    listed = in_order(clients, chosen.order)
    shares: Lists = {client_id: [] for client_id in listed}
    for client_id, share in shares.items():
        for topic in topics:
            share.extend(chosen.member(client_id, topic, listed) or [])
    return shares


def on_both_paths(name: str, given: Sequence[MessageQueue], clients: Sequence[str], **params: Any) -> list[Lists]:
    """Allocate as for a large group, in tables, and as for a small one, member by member."""
    answers = []
    for few in (0, 10**12):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(allocation, "FEW_QUESTIONS", few)
            answers.append(allocate(name, given, clients, **params))
    return answers


# ---- random groups ----


@dataclass(frozen=True, slots=True)
class Group:
    queues: list[MessageQueue]
    clients: list[str]


def names(characters: str = CHARACTERS) -> st.SearchStrategy[str]:
    odd = st.text(characters, min_size=1, max_size=5).filter(lambda name: not A_PAIR.search(name))
    return st.sampled_from(("A", "B", "C", "10.0.0.9@1", "10.0.0.10@1", "10.0.0.1@1#2")) | odd


def brokers(characters: str = CHARACTERS) -> st.SearchStrategy[str]:
    rooms = st.sampled_from(("east", "west", "", "\uff5e", "\U0001f600"))
    in_rooms = st.builds("{}@{}".format, rooms, st.sampled_from(("a", "b-10", "b-2", "b@c", "", "@")))
    return st.sampled_from(("east", "west", "broker-10", "broker-2")) | in_rooms | names(characters)


def groups(
    *, topics: int = 3, duplicates: bool = True, most_queues: int = 40, characters: str = CHARACTERS
) -> st.SearchStrategy[Group]:
    """Draw groups in no order, whose queues may be given twice."""
    # Few brokers a group, or hardly any would have two queues.
    some_brokers = st.lists(brokers(characters), min_size=1, max_size=4)
    some_topics = st.lists(names(characters), min_size=1, max_size=topics)
    given = st.tuples(some_topics, some_brokers).flatmap(
        lambda drawn: st.lists(
            st.builds(MessageQueue, st.sampled_from(drawn[0]), st.sampled_from(drawn[1]), st.integers(-1, 12)),
            min_size=1,
            max_size=most_queues,
        )
    )
    clients = st.lists(names(characters), min_size=1, max_size=8, unique=not duplicates)
    return st.builds(Group, given, clients)
