"""Consuming in order: one thread a queue at a time, under the broker's lock.

Source: ``client/.../impl/consumer/ConsumeMessageOrderlyService.java``; Go: ``consumer/push_consumer.go``
(``consumeMessageOrderly``). What C++ does is in :mod:`~rebalance_engine.consumer.orderly_cpp`.
"""

from __future__ import annotations

from dataclasses import replace

from rebalance_engine.consumer.application import Consumed, Result
from rebalance_engine.consumer.locks import lock
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.profiles import OrderlyRun
from rebalance_engine.consumer.sending_back import DEAD_LETTER, send_back
from rebalance_engine.consumer.threads import Code, HandOut, Sleep, Take

LONGEST_RUN = 60_000  # ms; ``rocketmq.client.maxTimeConsumeContinuously``
SOON = 10  # ms
RELOCK_DELAY = 100  # ms
REFUSED_DELAY = 3_000  # ms
SUSPEND_LEAST, SUSPEND_MOST = 10, 30_000  # ms


def submit(member: Member, pq: ProcessQueue) -> None:
    """Have a queue consumed as far as it is cached."""
    member.pool.submit(_consume(member, pq))


def attend(member: Member, pq: ProcessQueue) -> None:
    """Begin to consume a queue that was just taken, as Go does in a thread of the queue's own (``submitToConsume``).

    It finds that the queue is not locked and asks for its lock once more, as the take did so before there was anything
    to mark. The pull loop has then put its first pull off already.
    """
    pq.is_consuming = True
    submit(member, pq)


def _submit_later(member: Member, pq: ProcessQueue, ms: int) -> None:
    member.desk.threads.spawn(_resubmit(member, pq, min(max(ms, SUSPEND_LEAST), SUSPEND_MOST)))


def _resubmit(member: Member, pq: ProcessQueue, ms: int) -> Code[None]:
    yield Sleep(ms)
    submit(member, pq)


def _consume(member: Member, pq: ProcessQueue) -> Code[None]:
    if pq.is_dropped:
        return
    queue_lock = member.queue_lock(pq.mq)
    yield Take(queue_lock)
    try:
        if may_consume(member, pq):
            yield from _consume_on(member, pq)
        elif not pq.is_dropped or member.desk.profile.orderly_run is OrderlyRun.UNBROKEN:
            _relock_later(member, pq, RELOCK_DELAY)
    finally:
        member.desk.threads.release(queue_lock)


def may_consume(member: Member, pq: ProcessQueue) -> bool:
    """Whether a queue is under its lock, as far as is known here; who is broadcasting needs none."""
    return not member.settings.is_clustering or (pq.is_locked and not pq.has_lock_expired(member.desk.at))


def _consume_on(member: Member, pq: ProcessQueue) -> Code[None]:
    """Consume batch by batch, until nothing is cached, the lock is lost, or a minute is over.

    Go's minute begins anew with each batch, so that only a single batch can be too long for it.
    """
    began = member.desk.at
    while not pq.is_dropped:
        if not may_consume(member, pq):
            _relock_later(member, pq, SOON)
            return
        if member.desk.at - began > LONGEST_RUN:
            _submit_later(member, pq, SOON)
            return
        batch = pq.take(member.settings.batch, member.desk.at)
        if not batch:
            return
        if member.desk.profile.orderly_run is OrderlyRun.UNBROKEN:
            began = member.desk.at
        heard = yield from _hand_out(member, pq, batch)
        if heard is None or not (yield from _settle(member, pq, batch, heard)):
            return


def _hand_out(member: Member, pq: ProcessQueue, batch: tuple[Message, ...]) -> Code[Consumed | None]:
    """Let the listener have a batch while nobody can let go of the queue; None if it was dropped before."""
    yield Take(pq.consume_lock)
    try:
        if pq.is_dropped:
            return None
        heard: Consumed = yield HandOut(member.group, pq.mq, batch)
        return heard
    finally:
        member.desk.threads.release(pq.consume_lock)


def _settle(member: Member, pq: ProcessQueue, batch: tuple[Message, ...], heard: Consumed) -> Code[bool]:
    """Commit, or put the batch back and pause (``processConsumeResult``); say whether to go on at once."""
    if heard.result is Result.LATER:
        again = yield from _retried(member, pq, batch)
        if again is not None:
            pq.put_back(again)
            _suspend(member, pq, heard.suspend_ms)
            return False
    offset = pq.commit()
    if offset >= 0 and not pq.is_dropped:
        member.offsets.update(pq.mq, offset, increase_only=False)
    return True


def _suspend(member: Member, pq: ProcessQueue, told_ms: int | None) -> None:
    """Pause for as long as the listener said, else as is set; Go does not heed what is set, and then does not pause."""
    if member.desk.profile.orderly_run is OrderlyRun.UNBROKEN:
        member.desk.threads.spawn(_resubmit(member, pq, told_ms or 0))
    else:
        _submit_later(member, pq, member.settings.suspend_ms if told_ms is None else told_ms)


def _retried(member: Member, pq: ProcessQueue, batch: tuple[Message, ...]) -> Code[tuple[Message, ...] | None]:
    """Count one more try (``checkReconsumeTimes``); None once all are dead letters and the queue can go on."""
    counted = []
    must_suspend = False
    for message in batch:
        is_used_up = message.reconsume_times >= member.settings.attempts + member.desk.profile.spare_tries
        if is_used_up and (yield from send_back(member, pq.mq, message, DEAD_LETTER)):
            counted.append(message)
            continue
        must_suspend = True
        counted.append(replace(message, reconsume_times=message.reconsume_times + 1))
    return tuple(counted) if must_suspend else None


def _relock_later(member: Member, pq: ProcessQueue, ms: int) -> None:
    member.desk.threads.spawn(_relock(member, pq, ms))


def _relock(member: Member, pq: ProcessQueue, ms: int) -> Code[None]:
    """Try to lock a queue and have it consumed (``tryLockLaterAndReconsume``); even one dropped meanwhile, as Java.

    Go begins so even where it was dropped before, while it waited for the listener of the hold before; and while it
    shuts down: a lock that it gets after it gave all back lies with it until it runs out.
    """
    yield Sleep(ms)
    if member.pool.is_stopped and member.desk.profile.orderly_run is not OrderlyRun.UNBROKEN:
        return
    is_locked = yield from lock(member, pq.mq)
    _submit_later(member, pq, SOON if is_locked else REFUSED_DELAY)
