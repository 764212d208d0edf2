"""What a cluster offers to a test, real or embedded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from rebalance_engine.remoting.acl import Credentials
from rebalance_engine.remoting.requests.contract import Request, Response
from tests.cluster.certificates import Certificate

R = TypeVar("R", bound=Response)


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Which cluster is wanted.

    Attributes:
        settings: of the brokers, beyond the usual.
        lock_expires_s: how long brokers honour the lock of a member that renews it no more, as every member does each
            20 s; they do for a minute unless told otherwise.
        acl: where given, brokers let in only who has these keys.
        tls: where given, all servers speak TLS; ``tls_mode`` says whether they speak anything else.
    """

    release: str
    brokers: tuple[str, ...] = ("broker-a", "broker-b")
    settings: dict[str, str] = field(default_factory=dict)
    lock_expires_s: int = 60
    acl: Credentials | None = None
    tls: Certificate | None = None
    tls_mode: str = "enforcing"


class Cluster(Protocol):
    """A running cluster on loopback.

    Attributes:
        name: what runs: a release, or ``embedded``.
        setup: how it was wanted.
        folder: where clients may write.
    """

    name: str
    setup: Setup
    folder: Path

    @property
    def namesrv(self) -> str:
        """Give where its NameServer listens."""

    @property
    def addresses(self) -> dict[str, str]:
        """Give where each broker listens, by name."""

    @property
    def java(self) -> str:
        """Give the release of the Java clients that belong to it."""

    def ask(self, address: str, request: Request[R]) -> R:
        """Ask a server something, as an operator would."""

    def create_topic(self, topic: str, queues: int) -> str:
        """Make a topic with so many queues on each broker, and wait until routes lead there."""

    def kill(self, broker: str) -> None:
        """End a broker as a crash would."""

    def stop(self, broker: str) -> None:
        """Stop a broker in order."""

    def restart(self, broker: str) -> None:
        """Start a broker that ended, on what it had stored, and wait until clients find it."""

    def pause(self, broker: str) -> None:
        """Let a broker hang: connections stay open, nobody answers."""

    def resume(self, broker: str) -> None:
        """Let a broker that hangs go on."""


def queues_of(cluster: Cluster, topic: str, queues: int) -> frozenset[str]:
    """Name the queues of a topic that was made with so many on each broker, as ``topic/broker/id``."""
    return frozenset(f"{topic}/{broker}/{number}" for broker in cluster.addresses for number in range(queues))
