"""RocketMQ's released strategy classes, asked and timed by a Java program of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.model import MessageQueue
from rebalance_engine.tables import Int32s
from tests.peers import wire
from tests.peers.process import Peer

RELEASES = ("5.5.0", "4.9.7")
MAIN = "evenkeel.peer.AllocationPeer"
THREW = 1

Route = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Thrown:
    """The exception that a strategy object threw."""

    kind: str
    message: str | None


Answer = list[MessageQueue] | Thrown | None


@dataclass(frozen=True, slots=True)
class Answers:
    """What each asked client is allocated, and the lists as Java sorted them beforehand."""

    queues: list[MessageQueue]
    clients: list[str]
    of: dict[str | None, Answer]


@dataclass(frozen=True, slots=True)
class Times:
    """What one rebalance of a group takes, all members together.

    Attributes:
        sample: positions of the members that were asked; all of them, or evenly spaced.
        rounds_ns: what asking the sample took, a round each.
        sorts_ns: what the two sorts that each member makes before it asks take one member.
        owner: the position of the sampled member that gets each queue, -1 for none of them.
    """

    members: int
    sample: Int32s
    rounds_ns: list[int]
    sorts_ns: list[int]
    owner: Int32s


def plain(name: str) -> bytes:
    """Ask for a strategy without parameters."""
    return wire.string(name)


def consistent_hash(virtual_nodes: int) -> bytes:
    """Ask for a consistent hash."""
    return wire.string("CONSISTENT_HASH") + wire.integer(virtual_nodes)


def machine_room(rooms: Sequence[str] | None) -> bytes:
    """Ask for a machine room; None leaves its rooms unset."""
    return wire.string("MACHINE_ROOM") + wire.strings(rooms)


def config(lists: Mapping[str, Sequence[MessageQueue]]) -> bytes:
    """Ask for lists by client; those of other clients are unset."""
    entries = b"".join(wire.string(client_id) + wire.queues(queues) for client_id, queues in lists.items())
    return wire.string("CONFIG") + wire.integer(len(lists)) + entries


def nearby(broker_rooms: Mapping[str, str | None], client_rooms: Mapping[str, str | None], inner: bytes) -> bytes:
    """Ask for a strategy that works inside of rooms."""
    return wire.string("MACHINE_ROOM_NEARBY") + wire.table(broker_rooms) + wire.table(client_rooms) + inner


class RocketMQ(Peer):
    """The strategy classes of one release."""

    def __init__(self, release: str = RELEASES[0], *options: str) -> None:
        super().__init__("rocketmq", release, MAIN, *options)

    def allocate(
        self, strategy: bytes, queues: Sequence[MessageQueue], clients: Sequence[str], asked: Sequence[str | None]
    ) -> Answers:
        """Let each of ``asked`` compute alone; the lists come in any order, and Java sorts them."""
        group = strategy + wire.queues(queues) + wire.strings(clients) + wire.strings(asked)
        answer = self.ask(b"A" + group)
        return Answers(answer.queues() or [], answer.strings(), {name: _answer(answer) for name in asked})

    def time(
        self, strategy: bytes, routes: Sequence[Route], clients: Sequence[str], *, rounds: int, allowed_s: float
    ) -> Times:
        """Time a whole group; where ``allowed_s`` does not suffice for all rounds, a sample of its members."""
        group = strategy + wire.routes(routes) + wire.strings(clients)
        answer = self.ask(b"T" + group + wire.integer(rounds) + wire.long(round(allowed_s * 1e9)))
        return Times(len(clients), answer.integers(), answer.longs(), answer.longs(), answer.integers())


def _answer(answer: wire.Reader) -> Answer:
    if answer.byte() == THREW:
        return Thrown(answer.text(), answer.string())
    return answer.queues()
