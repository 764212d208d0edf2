"""When a client does what it does without being asked: rebalance, heartbeat, refresh routes, persist offsets.

Sources: ``client/.../impl/consumer/RebalanceService.java``, ``client/.../impl/factory/MQClientInstance.java``
(``startScheduledTask``).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heapreplace

from rebalance_engine.consumer.desk import Desk
from rebalance_engine.consumer.heartbeats import heartbeat_all
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.rounds import rebalance
from rebalance_engine.consumer.threads import Code, Listen, SleepUntil, Take

FIRST_ROUTES = 10  # ms
FIRST_HEARTBEAT = 1_000
FIRST_PERSIST = 10_000


def rebalance_service(desk: Desk) -> Code[None]:
    """Rebalance when woken and every 20 s; since 5.2.0 not within a second of the last, and soon if it failed."""
    profile = desk.profile
    wait, last = profile.round_every, desk.at
    while True:
        yield Listen(desk.bell, wait)
        too_soon = profile.round_floor - (desk.at - last)
        if profile.round_floor and too_soon > 0:
            wait = too_soon
            continue
        is_balanced = yield from rebalance_all(desk)
        wait = profile.round_every if is_balanced or profile.round_retry is None else profile.round_retry
        last = desk.at


def rebalance_all(desk: Desk) -> Code[bool]:
    """Rebalance every consumer of the client; say whether all are balanced."""
    yield Take(desk.round_lock)
    try:
        is_balanced = True
        for member in tuple(desk.members.values()):
            if not (yield from rebalance(member)):
                is_balanced = False
        return is_balanced
    finally:
        desk.threads.release(desk.round_lock)


def rebalance_one(desk: Desk, member: Member) -> Code[bool]:
    """Rebalance one consumer at once, in the thread that wants it."""
    yield Take(desk.round_lock)
    try:
        return (yield from rebalance(member))
    finally:
        desk.threads.release(desk.round_lock)


# ---- the one thread of the timetable ----


def timetable(desk: Desk) -> Code[None]:
    """Do what recurs, one after the other: what takes long makes the others late, who then catch up."""
    settings = desk.settings
    rows: list[tuple[int, int, int, Callable[[Desk], Code[object]]]] = [
        (desk.at + FIRST_ROUTES, 0, settings.routes_every_ms, refresh_routes),
        (desk.at + FIRST_HEARTBEAT, 1, settings.heartbeat_every_ms, beat),
        (desk.at + FIRST_PERSIST, 2, settings.persist_every_ms, persist_all),
    ]
    heapify(rows)
    while True:
        due, number, every, task = rows[0]
        yield SleepUntil(due)
        yield from task(desk)
        heapreplace(rows, (due + every, number, every, task))


def refresh_routes(desk: Desk) -> Code[None]:
    """Ask where every topic is that anybody here subscribes to. That wakes nobody."""
    topics = dict.fromkeys(topic for member in desk.members.values() for topic in member.subscriptions)
    for topic in topics:
        yield from desk.refresh_route(topic)


def beat(desk: Desk) -> Code[None]:
    """Forget brokers that are in no route, and tell the others that we are here."""
    desk.routes.forget_offline()
    yield from heartbeat_all(desk, has_news=False)


def persist_all(desk: Desk) -> Code[None]:
    """Store how far all consumers are."""
    for member in tuple(desk.members.values()):
        yield from member.persist_all()
