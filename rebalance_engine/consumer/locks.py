"""Locks of orderly queues: taken before a queue is, renewed while it is held, given back when it goes.

Brokers keep a lock for 60 s from its last renewal and do not look at it when they serve pulls: it binds only those who
ask for it.

Source: ``client/.../impl/consumer/RebalanceImpl.java`` (``lock``, ``lockAll``, ``unlock``, ``unlockAll``).
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.threads import Code, Sleep, SleepUntil, Take, ask
from rebalance_engine.effects import Address, Failure
from rebalance_engine.events import EXACT, LockGranted, LockRefused, LockReleased
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import LockBatchRequestBody
from rebalance_engine.remoting.requests.consuming import LockBatchMq, LockBatchMqResponse, UnlockBatchMq
from rebalance_engine.remoting.requests.contract import Refused

LOCK_TIMEOUT = 1_000  # ms


def lock(member: Member, mq: MessageQueue) -> Code[bool]:
    """Ask for one lock; a broker without a master, and one that does not answer, refuse it."""
    address = member.desk.routes.master(member.desk.routes.broker_of(mq))
    if address is None:
        return False
    granted = yield from _ask_for(member, address, (mq,))
    return granted is not None and mq in granted


def _ask_for(member: Member, address: Address, queues: tuple[MessageQueue, ...]) -> Code[set[MessageQueue] | None]:
    """Ask one broker, and mark the queues of the table: the granted ones, or None if it did not answer."""
    answer = yield from ask(address, LockBatchMq(body=_body(member, queues)), LOCK_TIMEOUT)
    if not isinstance(answer, LockBatchMqResponse):
        return None
    granted = set(answer.body.lock_ok_mq_set)
    for mq in queues:
        pq = member.table.get(mq)
        if mq in granted:
            _note_granted(member, mq, pq)
        else:
            _state(LockRefused, member, mq)
    return granted


def _note_granted(member: Member, mq: MessageQueue, pq: ProcessQueue | None) -> None:
    if pq is None or not pq.is_locked:
        _state(LockGranted, member, mq)
    if pq is not None:
        pq.is_locked = True
        pq.last_lock = member.desk.at


def renew(member: Member) -> Code[None]:
    """Renew all locks, from soon after the start on and every 20 s (``lockMQPeriodically``)."""
    profile = member.desk.profile
    due = member.desk.at + profile.renewal_first
    while True:
        yield SleepUntil(due)
        yield Take(member.timers)
        yield from renew_once(member)
        member.desk.threads.release(member.timers)
        due += profile.renewal_every


def renew_once(member: Member) -> Code[None]:
    """Renew all locks once; a refused queue is unlocked by Java; elsewhere its lock has to run out."""
    desk = member.desk
    for queues in _renewed_together(member):
        address = desk.routes.master(queues[0].broker)
        if address is None:
            continue
        granted = yield from _ask_for(member, address, queues)
        if granted is None or not desk.profile.refused_renewal_unlocks:
            continue
        for mq in queues:
            pq = member.table.get(mq)
            if pq is not None and mq not in granted:
                pq.is_locked = False


def _renewed_together(member: Member) -> Iterable[tuple[MessageQueue, ...]]:
    profile = member.desk.profile
    if profile.renews_by_topic:
        return member.by_broker_and_topic(with_dropped=profile.renews_dropped)
    return member.by_broker(with_dropped=profile.renews_dropped).values()


def unlock(member: Member, mq: MessageQueue) -> None:
    """Give one lock back, one-way."""
    address = member.desk.routes.master(member.desk.routes.broker_of(mq))
    if address is not None:
        member.desk.send_oneway(address, UnlockBatchMq(body=_body(member, (mq,))))
        _state(LockReleased, member, mq)


def unlock_and_wait(member: Member, mq: MessageQueue) -> Code[None]:
    """Give one lock back, and wait until the broker has heard it, as C++ does."""
    address = member.desk.routes.master(member.desk.routes.broker_of(mq))
    if address is not None:
        _state(LockReleased, member, mq)
        yield from ask(address, UnlockBatchMq(body=_body(member, (mq,))), LOCK_TIMEOUT)


def unlock_in(member: Member, mq: MessageQueue, ms: int) -> None:
    """Give one lock back after a while; a client that ends before does not."""
    member.desk.threads.spawn(_unlock_later(member, mq, ms))


def _unlock_later(member: Member, mq: MessageQueue, ms: int) -> Code[None]:
    yield Sleep(ms)
    unlock(member, mq)


def unlock_all(member: Member) -> Code[None]:
    """Give all locks back and wait for it, broker by broker; C++ asks a broker also where it forgets the only one.

    Without its answer the locks count as there still, as they do for Go in any case.
    """
    profile = member.desk.profile
    for broker, queues in member.by_broker(with_dropped=profile.renews_dropped).items():
        address = member.desk.routes.master(broker)
        released = queues if profile.unlocks_all else queues[1:]
        if address is None:
            continue
        answer = yield from ask(address, UnlockBatchMq(body=_body(member, released)), LOCK_TIMEOUT)
        is_noted = profile.notes_unlocks and not isinstance(answer, Refused | Failure)
        for mq in released:
            _state(LockReleased, member, mq)
            if is_noted and mq in member.table:
                member.table[mq].is_locked = False


def _body(member: Member, queues: tuple[MessageQueue, ...]) -> LockBatchRequestBody:
    return LockBatchRequestBody(consumer_group=member.group, client_id=member.desk.client_id, mq_set=queues)


def _state(kind: type[LockGranted | LockRefused | LockReleased], member: Member, mq: MessageQueue) -> None:
    desk = member.desk
    desk.state(
        kind(at=desk.at, source=desk.source, exactness=EXACT, group=member.group, client=desk.client_id, queue=mq)
    )
