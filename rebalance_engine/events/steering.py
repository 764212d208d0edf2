"""Targets and plans, and what a person or a schedule ordered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rebalance_engine.events.fact import Fact, GroupFact, MemberFact
from rebalance_engine.events.shapes import At, Number, Text, check, refusal, repeated, shorten
from rebalance_engine.model import MessageQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The queues of one client in a target."""

    client: Text
    queues: tuple[MessageQueue, ...]

    def __post_init__(self) -> None:
        """Refuse what no share can be."""
        check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetPublished(GroupFact):
    """What the strategy says that each consumer should have of one topic; ``epoch`` where it is part of a plan."""

    topic: Text
    strategy: Text
    shares: tuple[Share, ...]
    unowned: tuple[MessageQueue, ...]
    epoch: Number | None = None

    def _check_together(self) -> None:
        queues = [queue for share in self.shares for queue in share.queues] + list(self.unowned)
        again = repeated(queues)
        if again:
            raise refusal(self, f"has {shorten(again)} more than once; a target names each queue once")
        foreign = [queue for queue in queues if queue.topic != self.topic]
        if foreign:
            raise refusal(self, f"has {shorten(foreign)}; it needs queues of topic {self.topic!r}")
        twice = repeated(share.client for share in self.shares)
        if twice:
            raise refusal(self, f"has two shares for {shorten(twice)}; each client has one")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPublished(GroupFact):
    """A target for all topics of the group; ``held_back`` are queues that nobody may take in this epoch."""

    epoch: Number
    strategy: Text
    author: Text
    topics: tuple[Text, ...]
    held_back: tuple[MessageQueue, ...]
    reason: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFollowed(MemberFact):
    """A member follows this epoch of the plan."""

    epoch: Number


# Commands: what a person or a schedule ordered.


class CommandOutcome(Enum):
    """How a command ended."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    EXPIRED = "expired"


class ReceiptAnswer(Enum):
    """What a command did to one member, as far as can be known."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    UNKNOWN = "unknown"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFact(Fact):
    """What every fact about a command carries; ``command`` is its id."""

    command: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOrdered(CommandFact):
    """Somebody ordered it; past its deadline it must not be carried out."""

    verb: Text
    author: Text
    deadline: At
    group: Text | None = None
    target: Text | None = None
    reason: Text | None = None

    def _check_together(self) -> None:
        if self.at > self.deadline:
            seen = f"ordered at {self.at}, its deadline is {self.deadline}"
            raise refusal(self, f"{seen}; a deadline must not lie before the order")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFinished(CommandFact):
    """It was carried out, or never will be; ``detail`` says why not."""

    outcome: CommandOutcome
    detail: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReceipt(CommandFact):
    """What it did to one member."""

    group: Text
    client: Text
    answer: ReceiptAnswer
