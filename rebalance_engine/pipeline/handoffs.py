"""The handoffs of one group, and what each cost: pauses, refused pulls, lock waits, duplicates. Plain Python.

Every figure says how it is known: exactly, or as a bound. What no line tells is None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.sweep import Change, Hold, changes, returns

# From the add to the first pull: 5.x dispatches new pull requests 500 ms later (RebalancePushImpl.dispatchPullRequest).
DISPATCHED_AFTER_MS = {"java5": 500}
TELLS_REFUSALS = ("java5", "java4")  # the others' logs have no line for a pull that a broker refused
FIRST_PULL_WITHIN_MS = 60_000  # an orderly queue is pulled at once when it is locked; else its line is another hold's
REFUSED_WITHIN_MS = 35_000  # until the next heartbeat, which brings the subscription (rebalance.md 5)
TRIED_AGAIN_AFTER_MS = 1_000  # pullTimeDelayMillsWhenException
LOCK_TRIED_WITHIN_MS = 25_000  # two tries of one wait are at most a timer's round of 20 s apart
STORED_WITHIN_MS = 2_000
TOLD_LATER_MS = 60_000  # a pull loop or a listener that was at work when its queue was dropped tells it at its end


@dataclass(frozen=True, slots=True)
class Clue:
    """A line about one queue: what, when, by which process, with which number."""

    at_ms: int
    what: str
    process: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Handoff:
    """One queue's way from one member to another; times and bounds in ms, offsets in messages.

    Attributes:
        pause_ms: nobody pulled for so long, at least; exactly, within the logs' resolution, where ``first_pull_ms``
            is known.
        refused: pulls that the broker refused because the new owner's subscription was not there yet; None where no
            line would tell it.
        lock_wait_ms: from the first refused lock to the take; None where none was refused.
        silence_most_ms: no longer than this was nothing consumed; None where no line bounds it.
        duplicates_least, duplicates_most: None where no line bounds them.
    """

    queue: MessageQueue
    change: Change
    first_pull_ms: int | None
    pause_ms: int
    refused: int | None
    lock_wait_ms: int | None
    silence_most_ms: int | None
    duplicates_least: int | None
    duplicates_most: int | None


def handoffs_of(
    holds: Mapping[MessageQueue, Sequence[Hold]], clues: Mapping[MessageQueue, Sequence[Clue]]
) -> Iterator[Handoff]:
    """Tell every handoff of a group, queue by queue, and every return of a queue to the member that had let it go.

    Args:
        clues: of each queue, in any order; those of kind ``persisted all`` may be a choice.
    """
    for queue, those in holds.items():
        mine = sorted(clues.get(queue, ()), key=lambda clue: clue.at_ms)
        for change in (*changes(those), *returns(those)):
            yield _handoff(queue, change, mine)


def _handoff(queue: MessageQueue, change: Change, clues: Sequence[Clue]) -> Handoff:
    giver, taker = change.giver, change.taker
    refused = _of(clues, taker, "pull refused", 0, REFUSED_WITHIN_MS)
    pulled = _of(clues, taker, "first pull", 0, FIRST_PULL_WITHIN_MS)
    first_pull_ms = pulled[0].at_ms if pulled else None
    taken = taker.from_ms if taker.from_after_ms is None else taker.from_after_ms
    begins = first_pull_ms or taken + DISPATCHED_AFTER_MS.get(taker.layout, 0)
    if refused:
        begins = max(begins, refused[-1].at_ms + TRIED_AGAIN_AFTER_MS)
    return Handoff(
        queue=queue,
        change=change,
        first_pull_ms=first_pull_ms,
        pause_ms=max(0, begins - giver.until_ms),
        refused=len(refused) if refused or pulled or taker.layout in TELLS_REFUSALS else None,
        lock_wait_ms=_lock_wait(clues, taker),
        silence_most_ms=_silence(clues, change),
        duplicates_least=_surely_twice(clues, giver),
        duplicates_most=_perhaps_twice(clues, change),
    )


def _of(clues: Sequence[Clue], hold: Hold, what: str, earliest: int, latest: int) -> list[Clue]:
    begin = hold.from_ms
    return [
        clue
        for clue in clues
        if clue.what == what and clue.process == hold.process and begin + earliest <= clue.at_ms <= begin + latest
    ]


def _lock_wait(clues: Sequence[Clue], taker: Hold) -> int | None:
    tries = [
        clue.at_ms
        for clue in clues
        if clue.what == "lock refused" and clue.process == taker.process and clue.at_ms <= taker.from_ms
    ]
    first = taker.from_ms
    for at in reversed(tries):
        if first - at > LOCK_TRIED_WITHIN_MS:
            break
        first = at
    return taker.from_ms - first if first < taker.from_ms else None


def _silence(clues: Sequence[Clue], change: Change) -> int | None:
    """Bound it by the offsets that are persisted every 5 s: the giver's last, the first of the taker that is higher."""
    lasts = [
        clue
        for clue in clues
        if clue.process == change.giver.process
        and clue.what in ("persisted all", "persisted")
        and clue.number is not None
        and change.giver.from_ms <= clue.at_ms <= change.giver.until_ms
    ]
    if not lasts:
        return None
    top = max(clue.number or 0 for clue in lasts)
    since = min(clue.at_ms for clue in lasts if clue.number == top)
    rises = [
        clue.at_ms
        for clue in clues
        if clue.process == change.taker.process
        and clue.what in ("persisted all", "persisted")
        and (clue.number or 0) > top
        and clue.at_ms >= change.taker.from_ms
    ]
    # A persisted offset may be up to 5 s younger than the consumption that it tells: it only ever makes this larger.
    return rises[0] - since + 5_000 if rises else None


def _surely_twice(clues: Sequence[Clue], giver: Hold) -> int | None:
    """Count messages whose listener ended after the drop: they were consumed and not committed."""
    told = [
        clue.number or 0
        for clue in clues
        if clue.what == "uncommitted"
        and clue.process == giver.process
        and giver.until_ms - TOLD_LATER_MS <= clue.at_ms <= giver.until_ms + TOLD_LATER_MS
    ]
    return sum(told) if told else None


def _perhaps_twice(clues: Sequence[Clue], change: Change) -> int | None:
    """Bound them by how far the giver had pulled when its loop ended, and where the taker began."""
    giver = change.giver
    ends = [
        clue.number
        for clue in clues
        if clue.what == "pull ended"
        and clue.process == giver.process
        and clue.number is not None
        and giver.until_ms - TOLD_LATER_MS <= clue.at_ms <= giver.until_ms + TOLD_LATER_MS
        and clue.at_ms >= giver.from_ms
    ]
    begins = _begin_of(clues, change)
    if not ends or begins is None or giver.ended == "lost":
        return None
    return max(0, max(ends) - begins)


def _begin_of(clues: Sequence[Clue], change: Change) -> int | None:
    """Find where the taker began: its own line, or the last offset that was persisted before it asked."""
    giver, taker = change.giver, change.taker
    own = [
        clue.number
        for clue in clues
        if clue.what in ("start offset", "first pull")
        and clue.process == taker.process
        and clue.number is not None
        and taker.from_ms - 1_000 <= clue.at_ms <= taker.from_ms + FIRST_PULL_WITHIN_MS
    ]
    if own:
        return min(own)
    if change.unowned_ms > STORED_WITHIN_MS:
        return (
            None  # the broker was away, perhaps, and came back with offsets of up to 5 s before: they go to disk then
        )
    stored = [
        clue.number
        for clue in clues
        if clue.what in ("persisted", "persisted all")
        and clue.process == giver.process
        and clue.number is not None
        and giver.from_ms <= clue.at_ms <= taker.from_ms
    ]
    return max(stored) if stored else None
