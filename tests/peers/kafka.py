"""Kafka's server-side UniformAssignor, timed by a Java program of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_engine.tables import Int32s
from tests.peers import wire
from tests.peers.process import Peer

RELEASE = "4.4.0"
MAIN = "evenkeel.peer.UniformPeer"


@dataclass(frozen=True, slots=True)
class Join:
    """What Kafka does when the last member of a group joins.

    Attributes:
        rounds_ns: how long the assignor took, a round each.
        before: the number of the member that owned each partition; partitions are numbered through.
        after: the same after the join.
    """

    rounds_ns: list[int]
    before: Int32s
    after: Int32s


class Kafka(Peer):
    """The assignor of one release."""

    def __init__(self, release: str = RELEASE, *options: str) -> None:
        super().__init__("kafka", release, MAIN, *options)

    def join(
        self,
        partitions: Sequence[int],
        members: Sequence[str],
        subscriptions: Sequence[Sequence[int]],
        *,
        rounds: int,
        allowed_s: float,
    ) -> Join:
        """Let the last member join a group that Kafka itself had balanced.

        Args:
            partitions: how many each topic has.
            members: their ids.
            subscriptions: for each member, the numbers of its topics.
            rounds: how often the join is timed at most,
            allowed_s: and for about how long.
        """
        described = (
            wire.utf(name) + wire.integers(topics) for name, topics in zip(members, subscriptions, strict=True)
        )
        group = wire.integers(partitions) + wire.integer(len(members)) + b"".join(described)
        answer = self.ask(b"J" + group + wire.integer(rounds) + wire.long(round(allowed_s * 1e9)))
        return Join(answer.longs(), answer.integers(), answer.integers())
