"""Who plays in the demo: the topics, consumer groups and producers of a small shop.

Each group shows something else: the default strategy, orderly consumption, stripes, consistent hashing, two topics,
broadcasting, a group that nobody is in any more, members that disagree, a configuration with a gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rebalance_engine.model import MessageModel, MessageQueue

BROKERS = ("broker-a", "broker-b", "broker-c")
TOPICS: Mapping[str, int] = {"orders": 4, "payments": 2, "clicks": 8, "stock": 3}  # queues on each broker
MOST_MEMBERS = 12  # of a group: one process carries them all
IP = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """A consumer group.

    Attributes:
        strategies: of its members in turn; more than one is a group whose members disagree.
        config: for CONFIG: member's name -> its queues.
        first: with how many members it begins.
        least, most: between how many the script keeps it; equal ones leave it alone.
        leaves_after_s: all members leave, and nobody comes back.
        work_ms: how long a message takes.
        tags: what it subscribes to.
    """

    group: str
    topics: tuple[str, ...]
    strategies: tuple[str, ...] = ("AVG",)
    config: Mapping[str, tuple[MessageQueue, ...]] | None = None
    orderly: bool = False
    model: MessageModel = MessageModel.CLUSTERING
    first: int = 2
    least: int = 2
    most: int = 2
    leaves_after_s: int | None = None
    work_ms: int = 20
    tags: str = "*"

    @property
    def is_lively(self) -> bool:
        """Say whether the script lets its members come and go."""
        return self.least < self.most

    def member(self, number: int) -> str:
        """Name the member that came as this one, from 1 on."""
        return f"{self.group}-{number}"

    def strategy(self, number: int) -> str:
        """Give the strategy of the member that came as this one."""
        return self.strategies[(number - 1) % len(self.strategies)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """A producer: ``every_ms`` a message to a topic. With keys, messages of one key stay in one queue."""

    group: str
    topic: str
    every_ms: int
    has_keys: bool = False
    tags: tuple[str, ...] = ("new",)


def _with_a_gap() -> Mapping[str, tuple[MessageQueue, ...]]:
    """Give all queues of payments but the last one: nobody was told to read it."""
    queues = [MessageQueue("payments", broker, number) for broker in BROKERS for number in range(TOPICS["payments"])]
    return {"invoices-1": tuple(queues[:3]), "invoices-2": tuple(queues[3:-1])}


CASTS = (
    Cast(group="billing", topics=("orders",), first=3, least=2, most=5, work_ms=40),
    Cast(group="payment-ledger", topics=("payments",), orderly=True, first=2, least=2, most=4, work_ms=30),
    Cast(group="recommendations", topics=("clicks",), strategies=("AVG_BY_CIRCLE",), first=4, least=3, most=6),
    Cast(group="search-index", topics=("stock",), strategies=("CONSISTENT_HASH",), first=3, least=2, most=5),
    Cast(group="warehouse", topics=("orders", "stock"), first=2, least=2, most=4, tags="new || changed"),
    Cast(group="fraud-check", topics=("payments",), strategies=("AVG", "AVG_BY_CIRCLE"), first=3, least=3, most=3),
    Cast(group="invoices", topics=("payments",), strategies=("CONFIG",), config=_with_a_gap()),
    Cast(group="price-display", topics=("stock",), model=MessageModel.BROADCASTING),
    Cast(group="monthly-report", topics=("orders",), first=1, least=1, most=1, leaves_after_s=22),
)
SENDERS = (
    Sender(group="web-shop", topic="orders", every_ms=150, tags=("new", "changed", "cancelled")),
    Sender(group="payment-gateway", topic="payments", every_ms=300, has_keys=True),
    Sender(group="web-shop-clicks", topic="clicks", every_ms=100),
    Sender(group="stock-keeper", topic="stock", every_ms=400, tags=("new", "changed")),
)


def cast_of(group: str) -> Cast | None:
    """Find a group."""
    return next((cast for cast in CASTS if cast.group == group), None)
