"""Noting which streams are followed, and telling it: the watcher asks what is looked at, and looks there first."""

from __future__ import annotations

from collections.abc import Iterable

from dashboard.groups.models import Group
from dashboard.live.models import Follow
from dashboard.push.publish import group_stream

FOLLOW_FOR_MS = 30_000  # sockets say it again every third of this


def note_followed(*, streams: Iterable[str], now: int) -> None:
    """Note that somebody follows these streams now."""
    rows = [Follow(stream=stream, until=now + FOLLOW_FOR_MS) for stream in sorted(set(streams))]
    Follow.objects.bulk_create(rows, update_conflicts=True, unique_fields=["stream"], update_fields=["until"])
    Follow.objects.filter(until__lt=now - 20 * FOLLOW_FOR_MS).delete()


def followed_groups(*, cluster: int, now: int) -> frozenset[int]:
    """Give the groups of a cluster that somebody looks at."""
    streams = set(Follow.objects.filter(until__gte=now).values_list("stream", flat=True))
    groups = Group.objects.filter(cluster=cluster).values_list("pk", flat=True) if streams else ()
    return frozenset(group for group in groups if group_stream(group) in streams)
