"""What every fact carries: when, from where it is known, and whether exactly."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from rebalance_engine.events.shapes import At, Long, Text, check, refusal
from rebalance_engine.model import MessageQueue


class Origin(Enum):
    """Where a fact comes from."""

    ADMIN_ANSWER = "admin answer"
    CLIENT_LOG = "client log"
    BROKER_LOG = "broker log"
    AGENT_REPORT = "agent report"
    DERIVED = "derived"
    SIMULATOR = "simulator"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a fact comes from. One answer or one log file is one source of many facts: make it once, share it.

    Attributes:
        cluster: the cluster that it speaks of; the same group name in two clusters is two groups.
        broker: name of the broker that answered or logged.
        address: ``ip:port`` of who answered: a broker, a NameServer.
        client: id of the client that answered, logged or reported.
        detail: what else finds the proof again: request code, file and line, command.
        observed_at: when it was observed, where that is not the fact's own ``at``.
    """

    origin: Origin
    cluster: Text | None = None
    broker: Text | None = None
    address: Text | None = None
    client: Text | None = None
    detail: Text | None = None
    observed_at: At | None = None

    def __post_init__(self) -> None:
        """Refuse what no source can be."""
        check(self)


class Bound(Enum):
    """How a stated figure relates to the true one."""

    EXACT = "exact"
    AT_MOST = "at most"
    AT_LEAST = "at least"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True)
class Exactness:
    """Whether a fact's figure is exact, or the bounds that the true one lies within.

    The figure of most facts is ``at``; of intervals ``duration_ms``; of duplicates ``count``. ``low`` and
    ``high`` are in the figure's unit (instants: UTC epoch milliseconds) and belong to the range. What was
    not there at one look and was there at the next happened ``Exactness.between(first, next)``.
    """

    bound: Bound
    low: Long | None = None
    high: Long | None = None

    def __post_init__(self) -> None:
        """Refuse limits that the bound does not have."""
        check(self)
        needs = {Bound.EXACT: (), Bound.AT_MOST: ("high",), Bound.AT_LEAST: ("low",), Bound.BETWEEN: ("low", "high")}
        given = tuple(name for name in ("low", "high") if getattr(self, name) is not None)
        needed = needs[self.bound]
        if given != needed:
            raise refusal(self, f"{self.bound.value!r} with {_listed(given)}; it needs {_listed(needed)}")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise refusal(self, f"low is {self.low}, high {self.high}; low must not be above high")

    @classmethod
    def at_most(cls, high: int) -> Exactness:
        """Say that the true figure is ``high`` or less."""
        return cls(Bound.AT_MOST, high=high)

    @classmethod
    def at_least(cls, low: int) -> Exactness:
        """Say that the true figure is ``low`` or more."""
        return cls(Bound.AT_LEAST, low=low)

    @classmethod
    def between(cls, low: int, high: int) -> Exactness:
        """Say that the true figure is one from ``low`` to ``high``."""
        return cls(Bound.BETWEEN, low=low, high=high)

    def allows(self, figure: int) -> bool:
        """Ask whether ``figure`` could be the true one."""
        return (self.low is None or self.low <= figure) and (self.high is None or figure <= self.high)


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(names) or "neither low nor high"


EXACT = Exactness(Bound.EXACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What every fact carries.

    Attributes:
        at: when it happened; of an interval, when it began. UTC epoch milliseconds.
        source: where it comes from.
        exactness: whether the figure (``FIGURE`` names the field) is exact, or its bounds.
    """

    FIGURE: ClassVar[str] = "at"

    at: At
    source: Source
    exactness: Exactness

    def __post_init__(self) -> None:
        """Refuse what no fact can be."""
        check(self)
        figure = getattr(self, self.FIGURE)
        if not self.exactness.allows(figure):
            raise refusal(self, f"{self.FIGURE} is {figure}, outside of its own bounds: {self.exactness}")
        self._check_together()

    def _check_together(self) -> None:
        """Hold fields to each other; facts that need it override this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFact(Fact):
    """What every fact about one consumer group carries."""

    group: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberFact(GroupFact):
    """What every fact about one member carries; ``client`` is its client id."""

    client: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberQueueFact(MemberFact):
    """What every fact about one member and one queue carries."""

    queue: MessageQueue
