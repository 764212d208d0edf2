"""The process-queue table brought in line with what is wanted: mark, remove, add, in exactly this order.

Source: ``client/.../impl/consumer/RebalanceImpl.java`` (``updateProcessQueueTableInRebalance``,
``truncateMessageQueueNotMyTopic``, ``removeProcessQueue``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rebalance_engine.consumer.flow import pull_loop
from rebalance_engine.consumer.locks import lock
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.pop_queue import PopQueue
from rebalance_engine.consumer.popping import pop_loop
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.profiles import LockTime, Truncation
from rebalance_engine.consumer.removal import let_go
from rebalance_engine.consumer.settings import Mode
from rebalance_engine.consumer.starting import start_offset
from rebalance_engine.consumer.threads import Code
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue


def reconcile(member: Member, topic: str, wanted: Collection[MessageQueue], *, needs_lock: bool) -> Code[bool]:
    """Make the table hold what is wanted of a topic, as far as that can be done now; say whether it changed."""
    has_removed = yield from _remove_unwanted(member, topic, frozenset(wanted))
    has_added = yield from _add_missing(member, wanted, needs_lock=needs_lock)
    return has_removed or has_added


def divide(
    member: Member, topic: str, pulled: Collection[MessageQueue], popped: Collection[MessageQueue]
) -> Code[bool]:
    """Make both tables hold what the broker assigned (``updateMessageQueueAssignment``); say whether one changed."""
    has_removed = yield from _remove_unwanted(member, topic, frozenset(pulled))
    has_popped_less = _remove_popped(member, topic, frozenset(popped))
    has_added = yield from _add_missing(member, pulled, needs_lock=False)
    has_popped_more = _add_popped(member, popped)
    return has_removed or has_popped_less or has_added or has_popped_more


# ---- mark and remove ----


def _remove_unwanted(member: Member, topic: str, wanted: frozenset[MessageQueue]) -> Code[bool]:
    marking = _mark(member, topic, wanted)
    marked = marking if member.desk.profile.removes_while_marking else list(marking)
    changed = False
    for pq in marked:
        if (yield from let_go(member, pq)):
            member.table.pop(pq.mq, None)
            changed = True
    return changed


def _mark(member: Member, topic: str, wanted: frozenset[MessageQueue]) -> Iterator[ProcessQueue]:
    """Drop what is not wanted, or wanted and not pulled for two minutes; its pull loop must be broken."""
    max_idle = member.desk.profile.pull_max_idle
    for pq in member.in_turn():
        if pq.mq.topic != topic:
            continue
        if pq.mq not in wanted:
            member.drop(pq, DropReason.NOT_IN_TARGET)
            yield pq
        elif member.settings.mode is Mode.PUSH and pq.has_pull_expired(member.desk.at, max_idle):
            member.drop(pq, DropReason.PULL_EXPIRED)
            yield pq


def _remove_popped(member: Member, topic: str, wanted: frozenset[MessageQueue]) -> bool:
    max_idle = member.desk.profile.pull_max_idle
    changed = False
    for mq, pq in tuple(member.pop_table.items()):
        is_wanted = mq in wanted
        if mq.topic == topic and (not is_wanted or pq.has_expired(member.desk.at, max_idle)):
            member.drop(pq, DropReason.PULL_EXPIRED if is_wanted else DropReason.NOT_IN_TARGET)
            del member.pop_table[mq]
            changed = True
    return changed


def remove(member: Member, pq: ProcessQueue, reason: DropReason) -> Code[None]:
    """Drop one queue and take it out of the table, whether or not it can be let go (``removeProcessQueue``)."""
    if member.table.pop(pq.mq, None) is not None:
        member.drop(pq, reason)
        yield from let_go(member, pq)


def truncate(member: Member) -> Code[None]:
    """Drop the queues of topics that are not subscribed any more. Java neither stores nor unlocks them."""
    rule = member.desk.profile.truncation
    if rule is Truncation.NEVER:
        return
    for pq in member.in_turn():
        if pq.mq.topic not in member.subscriptions:
            member.drop(pq, DropReason.NOT_SUBSCRIBED)
            member.table.pop(pq.mq, None)
            if rule is Truncation.STORES:
                yield from let_go(member, pq)
    _truncate_popped(member)


def _truncate_popped(member: Member) -> None:
    """Forget what the broker divided of other topics, and whether it could."""
    for mq, pq in tuple(member.pop_table.items()):
        if mq.topic not in member.subscriptions:
            member.drop(pq, DropReason.NOT_SUBSCRIBED)
            del member.pop_table[mq]
    for topic in tuple(member.assignment_support):
        if topic not in member.subscriptions:
            del member.assignment_support[topic]


# ---- add ----


def _add_missing(member: Member, wanted: Collection[MessageQueue], *, needs_lock: bool) -> Code[bool]:
    profile = member.desk.profile
    locks_first = needs_lock and profile.lock_time is LockTime.BEFORE_ADD
    has_all_locks = True
    added: list[tuple[ProcessQueue, int]] = []
    for mq in wanted:
        if mq in member.table:
            continue
        if locks_first and not (yield from lock(member, mq)):
            has_all_locks = False
            continue
        taken = yield from _add(member, mq)
        if taken is not None:
            added.append(taken)
    if not has_all_locks and profile.lock_retry is not None:
        member.desk.wake_in(profile.lock_retry)
    dispatch(member, added)
    return bool(added)


def _add(member: Member, mq: MessageQueue) -> Code[tuple[ProcessQueue, int] | None]:
    member.offsets.forget(mq)
    pq = ProcessQueue(mq, member.desk.at, is_locked=member.desk.profile.new_queue_is_locked)
    offset = yield from start_offset(member, mq)
    if offset < 0 or not member.is_running or not member.take(pq, offset):
        return None
    return pq, offset


def _add_popped(member: Member, wanted: Collection[MessageQueue]) -> bool:
    missing = [mq for mq in wanted if mq not in member.pop_table]
    for mq in missing:
        pq = PopQueue(mq, member.desk.at)
        member.take_to_pop(pq)
        member.desk.threads.spawn(pop_loop(member, pq))
    return bool(missing)


def dispatch(member: Member, added: Collection[tuple[ProcessQueue, int]]) -> None:
    """Begin to pull new queues, all after the same delay. Who polls starts his pulls himself."""
    if member.settings.mode is Mode.PUSH:
        for pq, offset in added:
            member.desk.threads.spawn(pull_loop(member, pq, offset))
