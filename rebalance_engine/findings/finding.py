"""What a finding is: a named fault with the rows that prove it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from itertools import islice

from rebalance_engine.model import MessageQueue

MOST_ROWS = 50
MOST_NAMED = 3
CONFIRM_AFTER_MS = 20_000  # one-round conflicts are normal during a rebalance


class FindingKind(Enum):
    """The name of each fault, in the order in which they are shown: a cause before what comes of it."""

    NOBODY_CONSUMES = "nobody consumes"
    DUPLICATE_CLIENT_ID = "duplicate client id"
    ORPHAN_QUEUE = "orphan queue"
    RETRY_UNOWNED = "retry topic unowned"
    DOUBLE_OWNER = "double owner"
    IDLE_CONSUMER = "idle consumer"
    STRATEGY_MISMATCH = "strategy mismatch"
    BY_CONFIG_GAP = "by-config gap"
    LOCK_REFUSED = "lock refused"
    PULL_REFUSED = "pull refused"
    SUBSCRIPTION_MISMATCH = "subscription mismatch"
    DIFFERENT_MEMBER_LISTS = "different member lists"
    DIFFERENT_ROUTES = "different routes"
    STUCK_LISTENER = "stuck listener"
    RETRY_GROWING = "retry topic growing"
    DEAD_LETTERS = "dead letters growing"
    STORM = "storm"
    FLAPPING = "flapping"
    ON_PURPOSE = "no permission"
    DISABLED = "disabled on purpose"


@dataclass(frozen=True, slots=True)
class Finding:
    """A named fault with the rows that prove it.

    Attributes:
        subject: what it is about, so that two looks can be told to speak of the same: a queue, a client id,
            or the group.
        sentence: one sentence for a person.
        proof: rows of text, each of which was seen in the view.
        proven_at: when a report or a log proved it; None: only looks show it.
        ends_at: when it must have ended by itself, in ms since 1970; None is unknown.
        confirm_after_ms: so long after it was suspected a look confirms it: all who were asked have been asked again.
        over_at: when it is over unless it is seen anew; None: only what is seen ends it.
        told_by: the members on whose word it rests: a look confirms it once each of them has told again. Empty: on the
            look as a whole.
    """

    kind: FindingKind
    group: str
    subject: str
    sentence: str
    proof: tuple[str, ...]
    proven_at: int | None = None
    ends_at: int | None = None
    confirm_after_ms: int = CONFIRM_AFTER_MS
    over_at: int | None = None
    told_by: tuple[str, ...] = ()


def spell(queue: MessageQueue) -> str:
    """Write a queue as ``topic/broker/id``."""
    return f"{queue.topic}/{queue.broker}/{queue.queue_id}"


def retry_topic(group: str) -> str:
    """Name the topic of a group's messages that are to be consumed again (``MixAll.getRetryTopic``)."""
    return f"%RETRY%{group}"


def dead_letter_topic(group: str) -> str:
    """Name the topic of a group's messages that were given up (``MixAll.getDLQTopic``)."""
    return f"%DLQ%{group}"


def clock(at: int) -> str:
    """Write an instant, ms since 1970, as its time of the day.

    >>> clock(1_700_000_000_000)
    '22:13:20 UTC'
    """
    return f"{datetime.fromtimestamp(at // 1_000, UTC):%H:%M:%S} UTC"


def count_of(n: int, one: str, many: str) -> str:
    """Write a number with its noun.

    >>> count_of(1, "queue", "queues"), count_of(2, "queue", "queues")
    ('1 queue', '2 queues')
    """
    return f"{n} {one if n == 1 else many}"


def named(names: Sequence[str]) -> str:
    """Name the first of some, and how many there are besides.

    >>> named(["A", "B"]), named(["A", "B", "C", "D", "E"])
    ('A, B', 'A, B, C and 2 more')
    """
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def first_rows(rows: Iterable[str]) -> tuple[str, ...]:
    """Keep proof to what a person reads: the first rows, and how many there are besides."""
    first = list(islice(rows := iter(rows), MOST_ROWS))
    besides = sum(1 for _ in rows)
    return (*first, f"and {besides} more alike") if besides else tuple(first)
