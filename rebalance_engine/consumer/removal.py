"""How a consumer lets go of a queue that it has dropped, by client and version.

Source: ``client/.../impl/consumer/RebalancePushImpl.java`` (``removeUnnecessaryMessageQueue``,
``tryRemoveOrderMessageQueue``; to 5.1.x ``unlockDelay``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rebalance_engine.consumer.locks import unlock, unlock_and_wait, unlock_in
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.profiles import OrderlyRemoval
from rebalance_engine.consumer.threads import Code, Take

UNLOCK_DELAY = 20_000  # ms; ``rocketmq.client.unlockDelayTimeMills``


def let_go(member: Member, pq: ProcessQueue) -> Code[bool]:
    """Let go of a dropped queue: True once that is done, False if it must stay in the table for now."""
    is_gone = True
    if member.settings.locks_queues:
        is_gone = yield from _RULES[member.desk.profile.removal](member, pq)
    else:
        yield from _store(member, pq)
    if member.desk.profile.clears_dropped:
        pq.clear()
    return is_gone


def _store(member: Member, pq: ProcessQueue) -> Code[None]:
    yield from member.offsets.persist(pq.mq)
    member.offsets.forget(pq.mq)


def _force_unlock(member: Member, pq: ProcessQueue) -> Code[bool]:
    """Wait for the listener a little; 20 s after the last renewal it is not waited for any more."""
    yield from member.offsets.persist(pq.mq)
    threads = member.desk.threads
    is_forced = pq.is_dropped and member.desk.at > pq.last_lock + UNLOCK_DELAY
    if not is_forced and not (yield Take(pq.consume_lock, member.desk.profile.removal_wait)):
        pq.unlock_tries += 1
        return False
    try:
        yield from _store(member, pq)
        pq.is_locked = False
        unlock(member, pq.mq)
    finally:
        if not is_forced:
            threads.release(pq.consume_lock)
    return True


def _delay_unlock(member: Member, pq: ProcessQueue) -> Code[bool]:
    """Wait for the listener a little; what is cached makes the broker's lock stay for 20 s more."""
    yield from _store(member, pq)
    if not (yield Take(pq.consume_lock, member.desk.profile.removal_wait)):
        pq.unlock_tries += 1
        return False
    if pq.first is not None:
        unlock_in(member, pq.mq, UNLOCK_DELAY)
    else:
        unlock(member, pq.mq)
    member.desk.threads.release(pq.consume_lock)
    return True


def _unlock_at_once(member: Member, pq: ProcessQueue) -> Code[bool]:
    """Whoever consumes goes on, until the broker has answered and nothing is cached any more."""
    yield from _store(member, pq)
    yield from unlock_and_wait(member, pq.mq)
    return True


def _keep_lock(member: Member, pq: ProcessQueue) -> Code[bool]:
    yield from _store(member, pq)
    return True


_RULES: Mapping[OrderlyRemoval, Callable[[Member, ProcessQueue], Code[bool]]] = {
    OrderlyRemoval.FORCES_UNLOCK: _force_unlock,
    OrderlyRemoval.DELAYS_UNLOCK: _delay_unlock,
    OrderlyRemoval.UNLOCKS: _unlock_at_once,
    OrderlyRemoval.KEEPS_LOCK: _keep_lock,
}
