"""What brokers refuse members, as reports and logs prove it: locks of queues, and pulls; and what they do on purpose.

A refusal is over once it has not been refused again for a minute: whoever still wants it asks more often than that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from rebalance_engine.findings.finding import Finding, FindingKind, clock, count_of, first_rows, named, spell
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageQueue

LOCK_EXPIRES_MS = 60_000  # ``RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME``
ASKED_AGAIN_MS = 60_000  # a lock at every rebalance, each 20 s; a pull each 3 s: refused no more is over
NOBODYS = frozenset({FindingKind.ORPHAN_QUEUE, FindingKind.RETRY_UNOWNED})
HEARTBEAT_MS = 30_000  # ``ClientConfig.heartbeatBrokerInterval``

NO_PERMISSION = 16
# ``ResponseCode``: what a broker means, and whether the member's next heartbeat mends it
NOT_YET = {
    24: "it does not know yet that the group consumes this topic",
    25: "it has an older subscription of the group",
}
MEANINGS = {
    **NOT_YET,
    NO_PERMISSION: "the group or the topic may not be read there",
    17: "it has no such topic",
    23: "the filter expression is wrong",
    26: "it has no such group",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A broker refused a member the lock of a queue, ``count`` times since it had it last, at ``at`` the last time.

    ``holder`` has the lock, None is unknown. ``holder_left_at`` is when the holder was known to be gone; None: it is a
    member, or nothing is known of it. ``let_go_at`` is since when it has the lock but not the queue; None: it has it,
    or nothing is known of that.
    """

    client_id: str
    queue: MessageQueue
    at: int
    count: int = 1
    holder: str | None = None
    holder_left_at: int | None = None
    let_go_at: int | None = None

    @property
    def ends_at(self) -> int | None:
        """When the lock must have ended: who is gone renews nothing, and nobody the lock of a queue it has not.

        None: whoever has it may keep it. Source: ``RebalanceImpl.lockAll``, which renews what is in the table.
        """
        since = self.holder_left_at if self.holder_left_at is not None else self.let_go_at
        return None if since is None else since + LOCK_EXPIRES_MS

    @property
    def whose(self) -> str:
        """Who has the lock, in words, and what ends that."""
        holder, within = self.holder or "somebody", f"the lock ends within {LOCK_EXPIRES_MS // 1_000} s of that"
        if self.holder_left_at is not None:
            return f"{holder} has it, and is gone: {within}"
        if self.let_go_at is not None:
            return f"{holder} has it, though it has let the queue go: {within}"
        return f"{holder} has it"


@dataclass(frozen=True, slots=True)
class PullRefusal:
    """A broker refused a member to pull from a queue: first at ``since``, ``count`` times, the last time at ``at``.

    ``code`` is RocketMQ's, of the last time.
    """

    client_id: str
    queue: MessageQueue
    code: int
    since: int
    at: int
    count: int = 1

    @property
    def ends_at(self) -> int | None:
        """When it must have ended: with the next heartbeat, where that mends it. None is unknown."""
        until = self.since + HEARTBEAT_MS
        return until if self.code in NOT_YET and self.at <= until else None


def lock_refusals(group: str, refusals: Iterable[Refusal], now: int) -> Iterator[Finding]:
    """Find members that are refused a lock still: one finding a queue, as reports and logs prove it."""
    for each in refusals:
        if now - each.at > ASKED_AGAIN_MS:
            continue
        queue, times = spell(each.queue), _times(each.count)
        sentence = f"{each.client_id} was refused the lock of {queue} {times}: {each.whose}."
        proof: tuple[str, ...] = (f"a broker refused {each.client_id} the lock of {queue}, {times}",)
        if each.holder is not None:
            proof += (f"{each.holder} has the lock of {queue}",)
        if each.holder_left_at is not None:
            proof += (f"{each.holder} is no member any more",)
        elif each.let_go_at is not None:
            proof += (f"{each.holder} has not had {queue} since {clock(each.let_go_at)}",)
        yield Finding(
            FindingKind.LOCK_REFUSED,
            group,
            f"{queue} for {each.client_id}",
            sentence,
            proof,
            each.at,
            each.ends_at,
            over_at=each.at + ASKED_AGAIN_MS,
        )


def why_unowned(findings: Iterable[Finding], refusals: Iterable[Refusal], now: int) -> Iterator[Finding]:
    """Say of queues that nobody consumes whom their lock is refused, who has it, and when that must have ended."""
    wanted = {spell(each.queue): each for each in refusals if now - each.at <= ASKED_AGAIN_MS}
    for found in findings:
        each = wanted.get(found.subject) if found.kind in NOBODYS else None
        if each is None:
            yield found
            continue
        sentence = f"{found.sentence} {each.client_id} was refused its lock: {each.whose}."
        yield replace(found, sentence=sentence, ends_at=each.ends_at)


def who_may_have(findings: Iterable[Finding], lost: Mapping[str, str]) -> Iterator[Finding]:
    """Say of queues that no member consumes who told last to have them, where that one was lost.

    Args:
        lost: client ids, by ``topic/broker/id``.
    """
    for found in findings:
        client_id = lost.get(found.subject) if found.kind in NOBODYS else None
        if client_id is None:
            yield found
        else:
            yield replace(found, sentence=f"{found.sentence} {client_id} had it last, is gone, and may have it still.")


def pull_refusals(group: str, refusals: Iterable[PullRefusal], now: int) -> Iterator[Finding]:
    """Find members that have a queue and may not pull from it: it stands still as if nobody had it."""
    for each in refusals:
        if now - each.at > ASKED_AGAIN_MS:
            continue
        queue, meaning = spell(each.queue), MEANINGS.get(each.code, "what that means is not known here")
        mends = "; the next heartbeat should mend it" if each.ends_at is not None else ""
        sentence = (
            f"{each.client_id} has {queue}, and its broker refuses to let it pull (code {each.code}): {meaning}{mends}."
        )
        proof = (
            f"{each.queue.broker} refused {each.client_id} a pull of {queue}, {_times(each.count)}",
            f"first at {clock(each.since)}, last at {clock(each.at)}, with code {each.code}",
        )
        yield Finding(
            FindingKind.PULL_REFUSED,
            group,
            f"{queue} for {each.client_id}",
            sentence,
            proof,
            each.at,
            each.ends_at,
            over_at=each.at + ASKED_AGAIN_MS,
        )


def on_purpose(refusal: PullRefusal, closed: Collection[str]) -> bool:
    """Whether a pull was refused because the broker is told to let nobody of the group consume."""
    return refusal.code == NO_PERMISSION and refusal.queue.broker in closed


def disabled(view: GroupView, closed: Collection[str]) -> Iterator[Finding]:
    """Find that brokers are told to let nobody of a group consume: no alarm, but why its messages wait.

    Its members divide and hold the queues there as any others (``PullMessageProcessor`` refuses, nobody else does).
    """
    brokers = sorted({view.queues.brokers[number] for number in set(view.queues.broker.tolist())} & set(closed))
    if not brokers:
        return
    sentence = (
        f"Nobody of this group may consume at {named(brokers)}, on purpose: its members keep their queues there, and"
        " get nothing."
    )
    proof = first_rows(f"{broker} has consumeEnable=false for {view.group}" for broker in brokers)
    yield Finding(FindingKind.DISABLED, view.group, view.group, sentence, proof)


def _times(count: int) -> str:
    return count_of(count, "time", "times") if count > 1 else "once"
