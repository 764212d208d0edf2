"""What a watcher begins with: what the one before it has left."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from rebalance_engine.effects import Address

BrokerKey = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What whoever watched before has left: so that nothing is stated twice, and nobody is forgotten.

    Attributes:
        at: when it was last watched; None is never.
        brokers: (name, id) -> address, of those that were there.
        members: group -> client id -> its (broker, address) pairs.
    """

    at: int | None = None
    brokers: Mapping[BrokerKey, Address] = field(default_factory=dict)
    members: Mapping[str, Mapping[str, Set[tuple[str, Address]]]] = field(default_factory=dict)
