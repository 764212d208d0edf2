"""When nobody watched a cluster: while it was put aside, or its watcher down. Kept as a silence of all of its members.

Who came, took queues and went again meanwhile, nobody saw: nothing is certain of that time. A member's lasts from its
last word before until its first word after (``silences.of_answer``); a broker's list until all lists were told again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from dashboard.clusters.models import Cluster, Watch
from dashboard.groups.models import Member, MemberList
from dashboard.groups.recording.silences import kept

BREAK_MS = 5_000  # a watcher that is back within this time missed no more than between two looks
LISTED_WITHIN_MS = 60_000  # before the last answer every list was told, where it is not known when
COLUMNS = ("silences", "silent_until")
PIECE = 500  # rows that are written at once: others write in between

Told = TypeVar("Told", Member, MemberList)


def note_break(*, cluster: Cluster, now: int) -> int | None:
    """Keep that nobody watched a cluster from its last answer until now; give ``now``, or None: that was a moment.

    Args:
        cluster: as its last watcher left it.
        now: by the clock of the facts; what members and brokers tell from here on is stored by the next watcher.
    """
    broke_off = cluster.watched_at
    if broke_off is None or now - broke_off <= BREAK_MS:
        return None
    here = Member.objects.filter(group__cluster=cluster, left_at=None, missing=None, held_seen_at__lt=now)
    _keep(Member, [(row, row.held_seen_at or now, now) for row in here.only("held_seen_at", *COLUMNS)])
    told = Watch.objects.filter(cluster=cluster).values_list("lists_at", flat=True).first()
    listed = min(broke_off, max(told or broke_off, broke_off - LISTED_WITHIN_MS))
    lists = MemberList.objects.filter(group__cluster=cluster, missing=None, observed_at__lt=now)
    _keep(MemberList, [(row, max(listed, row.observed_at), now) for row in lists.only("observed_at", *COLUMNS)])
    return now


def note_listed(*, cluster: Cluster, resumed: int, now: int) -> None:
    """Let the silences of lists that ended when a watcher came, at ``resumed``, last until the lists were told: by now.

    One that is another list by then was told when it changed, at the latest.
    """
    rows = MemberList.objects.filter(group__cluster=cluster, silent_until=resumed).only("observed_at", *COLUMNS)
    told = [(row, row.observed_at if row.observed_at > resumed else now) for row in rows]
    _keep(MemberList, [(row, row.silences[-1][0], until) for row, until in told if row.silences])


def _keep(model: type[Told], rows: Iterable[tuple[Told, int, int]]) -> None:
    changed: list[Told] = []
    for row, since, until in rows:
        row.silences, row.silent_until = kept(row.silences, since, until), max(until, row.silent_until or 0)
        changed.append(row)
    for start in range(0, len(changed), PIECE):
        model._default_manager.bulk_update(changed[start : start + PIECE], COLUMNS)
