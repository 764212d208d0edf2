"""Consuming in order as C++ does: in runs, each of which looks once whether it may.

Every pull that found something begins a run. It waits up to a second for the run before it, and then gives up. Within
a run nobody looks again at the lock, nor whether the queue was dropped: what is cached of that is thrown away when its
unlock was answered, and so the run ends. Holds of one queue do not wait for each other.

A message that fails is consumed again a second later, from its 17th time on five seconds later, or as soon as another
pull begins a run; for ever, as no message becomes a dead letter here.

Source: ``src/consumer/ConsumeMessageOrderlyService.cpp``, ``PullRequest.cpp`` of the C++ client.
"""

from __future__ import annotations

from dataclasses import replace

from rebalance_engine.consumer.application import Consumed, Result
from rebalance_engine.consumer.locks import lock
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.orderly import LONGEST_RUN, may_consume
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.threads import Code, HandOut, Sleep, Take

WAITS = 1_000  # ms; for the run before
SOON = 1_000  # ms; until the next run
LATER = 5_000  # ms; the same, after a message that failed often
OFTEN = 16  # so many failures before


def submit(member: Member, pq: ProcessQueue) -> None:
    """Have a queue consumed as far as it is cached."""
    member.pool.submit(_begin(member, pq))


def _submit_in(member: Member, pq: ProcessQueue, ms: int, *, asks: bool = False) -> None:
    member.desk.threads.spawn(_resubmit(member, pq, ms, asks=asks))


def _resubmit(member: Member, pq: ProcessQueue, ms: int, *, asks: bool) -> Code[None]:
    """Begin a run later (``tryLockLaterAndReconsumeDelay``), which does not wait for the lock that is asked for.

    It is the other timers that wait for that, and the renewals of locks: they have one thread together.
    """
    yield Sleep(ms)
    yield Take(member.timers)
    if not member.pool.is_stopped:
        submit(member, pq)
        if asks:
            yield from lock(member, pq.mq)
    member.desk.threads.release(member.timers)


def _begin(member: Member, pq: ProcessQueue) -> Code[None]:
    if not (yield Take(pq.consume_lock, WAITS)):
        return
    try:
        if pq.is_dropped:
            pq.clear()
        elif may_consume(member, pq):
            yield from _run(member, pq)
        else:
            _submit_in(member, pq, SOON, asks=True)
    finally:
        member.desk.threads.release(pq.consume_lock)


def _run(member: Member, pq: ProcessQueue) -> Code[None]:
    """Consume message by message, until nothing is cached, one fails, a minute is over, or the consumer is stopped."""
    began = member.desk.at
    while True:
        if member.desk.at - began > LONGEST_RUN:
            _submit_in(member, pq, SOON)
            return
        taken = pq.take(1, member.desk.at)
        if not taken:
            return
        heard: Consumed = yield HandOut(member.group, pq.mq, taken)
        if heard.result is Result.LATER:
            _try_again(member, pq, taken[0])
            return
        offset = pq.commit()
        if offset >= 0:
            member.offsets.update(pq.mq, offset, increase_only=False, is_late=pq.is_dropped)
        if member.pool.is_stopped:
            return


def _try_again(member: Member, pq: ProcessQueue, message: Message) -> None:
    """Put a message back, unless its queue was cleared meanwhile, and begin another run soon."""
    if message.offset in pq.in_hand:
        pq.put_back((replace(message, reconsume_times=message.reconsume_times + 1),))
    _submit_in(member, pq, SOON if message.reconsume_times < OFTEN else LATER)
