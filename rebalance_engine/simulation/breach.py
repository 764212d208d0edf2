"""A promise that was broken, and the times in which some promises do not hold because of the faults themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Rule(Enum):
    """What is promised; a breach names the promise that it breaks."""

    COMMIT = "no offset is committed past a message that nobody finished"
    STALE = "no offset is committed that lies behind what its client had finished long before"
    FOREIGN = "nobody commits or pulls a queue that he does not hold"
    SKIP = "nobody begins past a message that nobody finished"
    START = "nobody begins behind what is stored"
    STORED = "what is finished is stored within the time of the timers"
    EXPLAINED = "every duplicate is explained by a handoff or a crash"
    CLAIM = "who drops a queue knows how far he is"
    HOLDING = "listeners are given messages of queues that their client holds"
    REPEATED = "no listener is given a message again that it has not asked for"
    ORDER = "an orderly queue's messages are consumed in order"
    ALONE = "an orderly queue is consumed by one at a time"
    LOCKED = "an orderly queue is consumed under its lock"
    LOCK_TWICE = "a lock has one holder"
    LOCK_KEPT = "a lock is given back with its queue"
    RENEWED = "a lock is renewed every 20 s"
    RETURNED = "a failed message comes back after its delay"
    FINISHED = "every message is consumed at least once"
    PROMPT = "what waits is consumed soon where nothing is wrong"
    PACE = "a client keeps the pauses of its version"
    MEMBERS = "a broker's table of members is its open, unexpired channels"
    BEATS = "a member beats every 30 s"
    SUBSCRIBED = "brokers serve the subscription that they were told"
    SETTLED = "when all is quiet, everybody holds what the strategy gives him"
    SENT = "what a producer was told is stored is stored, and nothing else"
    MACHINE = "a machine holds its own invariants and ends no run with an error"


class Breach(AssertionError):
    """Something that must always hold does not.

    Attributes:
        rule: what was promised.
    """

    def __init__(self, rule: Rule, message: str) -> None:
        super().__init__(message)
        self.rule = rule


def hold(condition: object, rule: Rule, message: str) -> None:
    """Insist that something holds.

    Raises:
        Breach: it does not.
    """
    if not condition:
        raise Breach(rule, message)


@dataclass(frozen=True, slots=True)
class _Storm:
    begins: int
    ends: int
    names: frozenset[str]


@dataclass(slots=True)
class Weather:
    """When which processes could not hear each other as usual, or stood still; no names: all of them."""

    _storms: list[_Storm] = field(default_factory=list)
    _pauses: list[_Storm] = field(default_factory=list)

    def turns_foul(self, begins: int, ends: int, *names: str) -> None:
        """Note a fault."""
        self._storms.append(_Storm(begins, ends, frozenset(names)))

    def stops(self, begins: int, ends: int, name: str) -> None:
        """Note that a process stands still; what it hears meanwhile it hears late, and takes for new."""
        self._pauses.append(_Storm(begins, ends, frozenset((name,))))

    def was_fair(self, since: int, until: int, *names: str) -> bool:
        """Say whether no fault touched any of these processes in this time."""
        return not _rage(self._storms, since, until, names)

    def was_awake(self, since: int, until: int, name: str) -> bool:
        """Say whether a process did not stand still in this time."""
        return not _rage(self._pauses, since, until, (name,))


def _rage(storms: list[_Storm], since: int, until: int, names: tuple[str, ...]) -> bool:
    return any(
        storm.begins <= until and storm.ends >= since and (not storm.names or storm.names.intersection(names))
        for storm in storms
    )
