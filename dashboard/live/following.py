"""Saying which groups are looked at, so that the watcher looks there first."""

from __future__ import annotations

from collections.abc import Iterable

from dashboard.groups.locks import connect
from dashboard.groups.viewing import note_viewed
from dashboard.live.streams import Stream


def note_followed(*, streams: Iterable[Stream], now: int) -> None:
    """Say that somebody follows these streams now; those of the overview make no group fresher."""
    shown = {stream.shows for stream in streams if stream.shows is not None}
    if not shown:
        return
    with connect() as redis:
        for cluster, group in sorted(shown):
            note_viewed(redis=redis, cluster=cluster, group=group, now=now)
