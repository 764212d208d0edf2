"""Which groups somebody looks at just now: sockets say so, and the watcher looks at these more often.

One sorted set for each cluster in Redis, group name -> when it is forgotten. Nothing depends on it but how fresh a
page is, so that without Redis nobody is taken to look.
"""

from __future__ import annotations

from typing import cast

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from dashboard.common.names import escape, unescape

NOTE_EVERY_MS = 10_000  # how often whoever shows a group should say so
FORGOTTEN_AFTER_MS = 30_000
MOST_VIEWED = 200  # of one cluster; the most lately noted stay


def note_viewed(*, redis: Redis, cluster: int, group: str, now: int) -> None:
    """Say that somebody looks at a group, by the cluster's row number and the group's name.

    For half a minute: repeat it every ten seconds (``NOTE_EVERY_MS``) while it is so. Several may.
    """
    key = _key(cluster)
    try:
        with redis.pipeline() as together:
            together.zadd(key, {escape(group): now + FORGOTTEN_AFTER_MS})
            together.zremrangebyrank(key, 0, -MOST_VIEWED - 1)
            together.pexpire(key, FORGOTTEN_AFTER_MS * 2)
            together.execute()
    except RedisError:
        return  # the page is only less fresh


def viewed(*, redis: Redis, cluster: int, now: int) -> frozenset[str]:
    """Name the groups of a cluster at which somebody looks; none while Redis does not answer."""
    try:
        return noted(redis=redis, cluster=cluster, now=now)
    except RedisError:
        return frozenset()


def noted(*, redis: Redis, cluster: int, now: int) -> frozenset[str]:
    """Name them for whoever wants to know whether Redis answers.

    Raises:
        RedisError: it does not.
    """
    names = cast("list[bytes]", redis.zrangebyscore(_key(cluster), now, "+inf"))
    return frozenset(unescape(name.decode()) for name in names)


def _key(cluster: int) -> str:
    return f"{settings.REDIS_PREFIX}viewed:{cluster}"
