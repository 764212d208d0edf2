"""Consuming by several threads at once: what is committed, what is retried, and what is thrown away.

A queue's offset is the smallest one that is still cached: one slow message holds back all later ones, and whoever gets
the queue next gets those again.

Source: ``client/.../impl/consumer/ConsumeMessageConcurrentlyService.java``, ``ProcessQueue.java``
(``cleanExpiredMsg``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rebalance_engine.consumer.application import Consumed, Result
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.sending_back import send_back
from rebalance_engine.consumer.threads import Code, HandOut, Sleep

EXPIRED_LEVEL = 3
EXPIRED_AT_ONCE = 16


def submit(member: Member, pq: ProcessQueue, messages: Sequence[Message]) -> None:
    """Have messages consumed, in batches as large as the listener takes."""
    size = len(messages) if member.desk.profile.gives_whole_pulls else member.settings.batch
    for first in range(0, len(messages), size):
        member.pool.submit(_consume(member, pq, tuple(messages[first : first + size])))


def _consume(member: Member, pq: ProcessQueue, batch: tuple[Message, ...]) -> Code[None]:
    if pq.is_dropped:
        return
    pq.start(batch, member.desk.at)
    heard: Consumed = yield HandOut(member.group, pq.mq, batch)
    if not pq.is_dropped or member.desk.profile.sends_back_dropped:  # else "dropped without process consume result"
        yield from _settle(member, pq, batch, heard)


def _settle(member: Member, pq: ProcessQueue, batch: tuple[Message, ...], heard: Consumed) -> Code[None]:
    """Give failed messages back, and commit what is finished (``processConsumeResult``)."""
    failed = batch[_done(batch, heard) :]
    kept: tuple[Message, ...] = ()
    if failed and member.settings.is_clustering:
        kept = yield from _give_back(member, pq, failed, heard.delay_level)
    if kept:
        member.desk.threads.spawn(_consume_later(member, pq, kept))
    offsets = {message.offset for message in kept}
    offset = pq.remove((message for message in batch if message.offset not in offsets), member.desk.at)
    if offset >= 0 and not pq.is_dropped:
        member.offsets.update(pq.mq, offset, increase_only=not member.desk.profile.offset_can_fall)


def _done(batch: tuple[Message, ...], heard: Consumed) -> int:
    if heard.result is Result.LATER:
        return 0
    return len(batch) if heard.done is None else min(heard.done, len(batch))


def _give_back(
    member: Member, pq: ProcessQueue, failed: tuple[Message, ...], delay_level: int
) -> Code[tuple[Message, ...]]:
    """Send messages back to their broker: those that it did not take stay here and are tried again."""
    kept = []
    for message in failed:
        if message.offset not in pq and not member.desk.profile.sends_back_dropped:
            continue  # it expired, and was sent back before
        if not (yield from send_back(member, pq.mq, message, delay_level)):
            kept.append(replace(message, reconsume_times=message.reconsume_times + 1))
    return tuple(kept)


def _consume_later(member: Member, pq: ProcessQueue, messages: tuple[Message, ...]) -> Code[None]:
    yield Sleep(member.desk.profile.local_retry)
    submit(member, pq, messages)


# ---- messages that the listener does not finish ----


def clean_expired(member: Member) -> Code[None]:
    """Send back what the listener has had for too long, every ``consumeTimeout``."""
    while True:
        yield Sleep(member.settings.consume_timeout_ms)
        for pq in tuple(member.table.values()):
            yield from _clean(member, pq)


def _clean(member: Member, pq: ProcessQueue) -> Code[None]:
    for _ in range(min(pq.count, EXPIRED_AT_ONCE)):
        message = pq.oldest_since(member.desk.at - member.settings.consume_timeout_ms)
        if message is None:
            return
        if (yield from send_back(member, pq.mq, message, EXPIRED_LEVEL)) and pq.first == message.offset:
            pq.remove((message,), member.desk.at)
