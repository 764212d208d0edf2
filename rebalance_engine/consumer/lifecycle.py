"""How consumers start, pause and end, each step in RocketMQ's order.

Source: ``client/.../impl/consumer/DefaultMQPushConsumerImpl.java`` (``start``, ``shutdown``, ``suspend``, ``resume``,
``subscribe``), ``DefaultLitePullConsumerImpl.java``, ``client/.../impl/factory/MQClientInstance.java``.
"""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_engine.consumer import lite_pull, locks
from rebalance_engine.consumer.consuming import clean_expired
from rebalance_engine.consumer.desk import Desk
from rebalance_engine.consumer.heartbeats import heartbeat_all
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.profiles import FirstRound
from rebalance_engine.consumer.schedule import rebalance_all, rebalance_one, rebalance_service, timetable
from rebalance_engine.consumer.settings import GroupSettings, Mode
from rebalance_engine.consumer.threads import Code, Take, Thread, ask
from rebalance_engine.events import DropReason
from rebalance_engine.remoting.requests.membership import UnregisterClient

UNREGISTER_TIMEOUT = 3_000  # ms


def start(desk: Desk, settings: GroupSettings, saved: Mapping[str, str], services: list[Thread]) -> Code[None]:
    """Start a consumer; the client's first one starts its threads, which go into ``services``."""
    member = Member(desk, settings, saved)
    desk.threads.try_take(member.lifecycle_lock)
    _start_consuming(member)
    desk.members[settings.group] = member
    is_first = not services
    if is_first:
        services += [desk.threads.spawn(timetable(desk)), desk.threads.spawn(rebalance_service(desk))]
    for topic in member.subscriptions:
        yield from desk.refresh_route(topic)
    if settings.mode is Mode.PUSH and (yield from heartbeat_all(desk)):
        yield from _first_round(desk, member, is_first=is_first)
    desk.threads.release(member.lifecycle_lock)


def _start_consuming(member: Member) -> None:
    spawn = member.desk.threads.spawn
    if member.settings.locks_queues:
        member.own_threads.append(spawn(locks.renew(member)))
    elif member.settings.mode is Mode.PUSH and not member.settings.orderly and member.desk.profile.cleans_expired:
        member.own_threads.append(spawn(clean_expired(member)))


def _first_round(desk: Desk, member: Member, *, is_first: bool) -> Code[None]:
    how = desk.profile.first_round
    if how is FirstRound.WAKES:
        desk.wake()
    elif how is FirstRound.AT_ONCE:
        yield from rebalance_all(desk)
    elif is_first:
        yield from rebalance_one(desk, member)


def drain(member: Member) -> None:
    """Begin nothing new; what the listener has in hand goes on, and counts."""
    member.is_paused = True
    member.pool.stop()


def stop(desk: Desk, member: Member, services: list[Thread]) -> Code[None]:
    """Shut a consumer down. The locks go before the last offsets, so that the next owner may start too early."""
    yield Take(member.lifecycle_lock)
    if not member.is_running:  # shut down twice
        desk.threads.release(member.lifecycle_lock)
        return
    desk.leaving += 1
    member.is_leaving = True
    member.pool.stop()
    for thread in member.own_threads:
        desk.threads.stop(thread)
    if desk.profile.awaits_listeners:
        yield from member.pool.join()
    if member.settings.locks_queues:
        yield from locks.unlock_all(member)
    yield from member.persist_all()
    desk.members.pop(member.group, None)
    if desk.profile.unregisters:
        yield from _unregister(desk, member)
    if not desk.members:
        for thread in services:
            desk.threads.stop(thread)
        services.clear()
    give_up(member)
    desk.leaving -= 1
    desk.threads.release(member.lifecycle_lock)


def give_up(member: Member) -> None:
    """Drop every queue, whoever was told: the end of a shutdown, also of one for which the process cannot wait."""
    member.is_running = False
    for pq in member.table.values():
        member.drop(pq, DropReason.STOPPED)
    for popped in member.pop_table.values():
        member.drop(popped, DropReason.STOPPED)
    member.table.clear()
    member.pop_table.clear()


def _unregister(desk: Desk, member: Member) -> Code[None]:
    request = UnregisterClient(client_id=desk.client_id, consumer_group=member.group)
    for address in tuple(desk.routes.addresses()):
        yield from ask(address, request, UNREGISTER_TIMEOUT)


def resume(desk: Desk, member: Member) -> Code[None]:
    """Pull again, after one rebalance in the caller's thread."""
    member.is_paused = False
    yield from rebalance_one(desk, member)


def subscribe(desk: Desk, member: Member, topic: str, expression: str) -> Code[None]:
    """Subscribe to one more topic; brokers learn of it at once, the rebalance thread is not woken."""
    member.subscriptions.add(topic, expression, desk.version)
    yield from heartbeat_all(desk)


def unsubscribe(member: Member, topic: str) -> None:
    """Give a topic up: a listener keeps its queues until the next rebalance. No broker is told before a heartbeat."""
    member.subscriptions.remove(topic)
    lite_pull.release_topic(member, topic)
