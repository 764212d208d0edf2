"""What happened to the tables, said as facts of ``events`` with this broker as their source.

A peer may send names that nobody has (an empty group, a queue -7). The tables keep them, as Java's do; facts about them
are not stated, because no fact can hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypedDict

from rebalance_engine import events
from rebalance_engine.events import EXACT, Exactness, Fact, Source
from rebalance_engine.membership.locks import Answer, Verdict
from rebalance_engine.membership.offsets import Commit
from rebalance_engine.membership.registry import (
    Came,
    Change,
    ConsumerGroup,
    TopicAdded,
    TopicRemoved,
    TopicReplaced,
    Went,
)
from rebalance_engine.model import MAX_QUEUE_ID, MessageQueue
from rebalance_engine.remoting.bodies.clients import SubscriptionData
from rebalance_engine.remoting.versions import version_name


class _Frame(TypedDict):
    """What every fact about a group carries."""

    at: int
    source: Source
    exactness: Exactness
    group: str


@dataclass(frozen=True, slots=True)
class Witness:
    """One broker that states facts; a member that two brokers know is stated by both."""

    source: Source
    broker: str
    lock_expires_after_ms: int = 60_000

    def of_changes(self, changes: Iterable[Change], group: ConsumerGroup | None, at: int) -> Iterator[Fact]:
        """Say what happened to a group; ``group`` is its table afterwards, None if it is gone."""
        for change in changes:
            if not _can_be_said(change):
                continue
            frame = self._frame(change.group, at)
            if isinstance(change, Came):
                yield from self._came(change, group, frame)
            elif isinstance(change, Went):
                yield from self._went(change, frame)
            else:
                yield _topic(change, frame)

    def _came(self, came: Came, group: ConsumerGroup | None, frame: _Frame) -> Iterator[Fact]:
        client, peer = came.presence.client, came.presence.peer
        language, version = peer.language.name, version_name(peer.version)
        if came.is_first:
            yield events.MemberJoined(**frame, client=client)
        yield events.PresenceSeen(
            **frame, client=client, broker=self.broker, address=peer.address, language=language, version=version
        )
        if group is not None:
            yield events.MemberSeen(
                **frame,
                client=client,
                language=language,
                version=version,
                consume_type=events.ConsumeType(group.consume_type.value),
                message_model=group.message_model,
            )

    def _went(self, went: Went, frame: _Frame) -> Iterator[Fact]:
        client, address = went.presence.client, went.presence.peer.address
        yield events.PresenceGone(**frame, client=client, broker=self.broker, address=address, departure=went.departure)
        if went.is_last:
            yield events.MemberLeft(**frame, client=client, departure=went.departure)

    def of_locks(self, verdicts: Iterable[Verdict], group: str, client: str, at: int) -> Iterator[Fact]:
        """Say what became of locks; a renewal is nothing new."""
        for verdict in verdicts:
            if group and client and _is_sayable(verdict.queue):
                yield from self._lock(verdict, client, self._frame(group, at))

    def _lock(self, verdict: Verdict, client: str, frame: _Frame) -> Iterator[Fact]:
        queue, holder = verdict.queue, verdict.holder or None
        if verdict.answer is Answer.GRANTED:
            yield events.LockGranted(**frame, client=client, queue=queue)
        elif verdict.answer is Answer.TAKEN_OVER:
            yield from self._expired(verdict, frame["group"])
            yield events.LockGranted(**frame, client=client, queue=queue, expired_holder=holder)
        elif verdict.answer is Answer.REFUSED:
            yield events.LockRefused(**frame, client=client, queue=queue, holder=holder)
        elif verdict.answer is Answer.RELEASED:
            yield events.LockReleased(**frame, client=client, queue=queue)

    def _expired(self, verdict: Verdict, group: str) -> Iterator[Fact]:
        """Say when the lock ran out; the broker notices only now, when somebody wants it."""
        if verdict.holder and verdict.renewed_at is not None:
            frame = self._frame(group, verdict.renewed_at + self.lock_expires_after_ms)
            yield events.LockExpired(**frame, client=verdict.holder, queue=verdict.queue)

    def of_commit(self, commit: Commit, client: str | None, at: int) -> Iterator[Fact]:
        """Say that messages are consumed again, when an offset went back (``[NOTIFYME]`` in its log)."""
        queue = MessageQueue(commit.topic, self.broker, commit.queue_id)
        if not (commit.group and _is_sayable(queue) and commit.offset >= 0):
            return
        frame = self._frame(commit.group, at)
        frame["exactness"] = Exactness.at_least(commit.went_back_by)
        yield events.Duplicates(
            **frame,
            queue=queue,
            count=commit.went_back_by,
            clients=(client,) if client else (),
            first_offset=commit.offset,
            last_offset=commit.offset + commit.went_back_by - 1,
        )

    def _frame(self, group: str, at: int) -> _Frame:
        return {"at": at, "source": self.source, "exactness": EXACT, "group": group}


def _topic(change: TopicAdded | TopicReplaced | TopicRemoved, frame: _Frame) -> Fact:
    if isinstance(change, TopicRemoved):
        return events.SubscriptionRemoved(**frame, topic=change.topic)
    if isinstance(change, TopicAdded):
        return events.SubscriptionAdded(**frame, subscription=_subscription(change.subscription))
    return events.SubscriptionReplaced(**frame, subscription=_subscription(change.subscription))


def _subscription(data: SubscriptionData) -> events.Subscription:
    return events.Subscription(
        topic=data.topic,
        expression=data.sub_string,
        expression_type=data.expression_type or "TAG",
        sub_version=data.sub_version,
    )


def _can_be_said(change: Change) -> bool:
    if isinstance(change, Came | Went):
        return bool(change.group and change.presence.client)
    topic = change.topic if isinstance(change, TopicRemoved) else change.subscription.topic
    return bool(change.group and topic)


def _is_sayable(queue: MessageQueue) -> bool:
    return bool(queue.topic and queue.broker) and -1 <= queue.queue_id <= MAX_QUEUE_ID
