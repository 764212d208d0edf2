"""Kafka's server-side UniformAssignor, timed by a Java program of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.tables import Int32s
from tests.peers import wire
from tests.peers.process import Peer

RELEASE = "4.4.0"
MAIN = "evenkeel.peer.UniformPeer"


@dataclass(frozen=True, slots=True)
class Assigned:
    """What Kafka assigns.

    Attributes:
        rounds_ns: how long the assignor took, a round each.
        owner: the number of the member that gets each partition; partitions are numbered through.
    """

    rounds_ns: list[int]
    owner: Int32s


class Kafka(Peer):
    """The assignor of one release."""

    def __init__(self, release: str = RELEASE, *options: str) -> None:
        super().__init__("kafka", release, MAIN, *options)

    def assign(
        self,
        partitions: Sequence[int],
        subscriptions: Mapping[str, Sequence[int]],
        before: Int32s,
        *,
        rounds: int,
        allowed_s: float,
    ) -> Assigned:
        """Let Kafka assign anew.

        Args:
            partitions: how many each topic has.
            subscriptions: for each member the numbers of its topics.
            before: the number of the member that had each partition, -1 for none.
            rounds: how often it is timed at most,
            allowed_s: and for about how long.
        """
        members = b"".join(wire.utf(name) + wire.integers(topics) for name, topics in subscriptions.items())
        group = wire.integers(partitions) + wire.integer(len(subscriptions)) + members + wire.integers(before)
        answer = self.ask(b"A" + group + wire.integer(rounds) + wire.long(round(allowed_s * 1e9)))
        return Assigned(answer.longs(), answer.integers())
