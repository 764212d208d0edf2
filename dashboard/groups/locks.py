"""One rebalance of a group at a time: a lock in Redis saves work, a fence in the database makes it true.

A lock alone cannot: its holder may sleep until it has expired, or Redis may forget it. So a rebalance takes a number
from the group's row when it begins, and its writes demand, in their own transaction, that this is still the newest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from django.conf import settings
from django.db import transaction
from django.db.models import F
from redis import Redis
from redis.exceptions import LockError, RedisError
from redis.lock import Lock

from dashboard.groups.models import Group

EXPIRES_AFTER_S = 20.0  # so long a worker that died keeps the group from the others
RENEW_EVERY_S = 5.0  # one that lives keeps it for as long as it takes


class Late(RuntimeError):
    """A newer rebalance of the group has begun: this one must not write."""


class Outdated(RuntimeError):
    """What the group is rebalanced from changed after it was read: it is to be read again."""


def connect() -> Redis:
    """Open the Redis of the settings; every wait ends."""
    return Redis.from_url(settings.REDIS_URL, socket_timeout=5, socket_connect_timeout=5)


@contextmanager
def only_one(redis: Redis, group: int) -> Iterator[bool]:
    """Hold a group's lock for as long as this takes, or tell at once that somebody has it."""
    lock = redis.lock(_key(group), timeout=EXPIRES_AFTER_S, blocking=False, thread_local=False)
    if not lock.acquire():
        yield False
        return
    ended = Event()
    renewal = Thread(target=_renew, args=(lock, ended), name=f"lock of group {group}", daemon=True)
    renewal.start()
    try:
        yield True
    finally:
        ended.set()
        renewal.join()
        with suppress(LockError):  # it had expired, and may be somebody else's by now
            lock.release()


def _renew(lock: Lock, ended: Event) -> None:
    """Keep a lock from expiring; one that is lost stays lost, and the fence holds."""
    while not ended.wait(RENEW_EVERY_S):
        try:
            lock.extend(EXPIRES_AFTER_S, replace_ttl=True)
        except LockError:
            return
        except RedisError:
            continue  # it may answer again before the lock expires


def take_fence(*, group: int) -> int:
    """Begin a rebalance: take the group's next number.

    Raises:
        Group.DoesNotExist: there is no such group.
    """
    with transaction.atomic():
        fence = Group.objects.select_for_update(no_key=True).values_list("fence", flat=True).get(pk=group)
        Group.objects.filter(pk=group).update(fence=F("fence") + 1)
    return fence + 1


def hold_fence(*, group: int, fence: int) -> Group:
    """Lock the group's row for the writes of a rebalance. Inside their transaction.

    Raises:
        Late: a newer one has begun.
    """
    row = Group.objects.select_for_update(no_key=True).get(pk=group)
    if row.fence != fence:
        raise Late(f"rebalance {fence} of group {row.name!r} is late: {row.fence} has begun")
    return row


def hold_inputs(*, group: int, fence: int, version: int) -> Group:
    """Lock the group's row for the writes of a rebalance that was computed from this version of its inputs.

    Whoever changes them raises the version, in the same transaction and under the same lock. So inputs that were read
    after their version was are one picture if that is still the version here: nothing was committed in between, however
    many statements read them, and whatever each of them could see.

    Raises:
        Late: a newer one has begun.
        Outdated: they are others now.
    """
    row = hold_fence(group=group, fence=fence)
    if row.inputs_version != version:
        raise Outdated(f"group {row.name!r} has inputs {row.inputs_version}, not {version} any more")
    return row


def _key(group: int) -> str:
    return f"{settings.REDIS_PREFIX}rebalance:{group}"
