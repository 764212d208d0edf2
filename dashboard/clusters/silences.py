"""Which servers of a cluster do not answer, and whether anybody watches it: what every page about it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.clusters.models import Cluster, Watch

MOST_SHOWN = 8
STALE_MS = 20_000  # as `static/js/views/as-of.js` has it


@dataclass(frozen=True, slots=True)
class SilentServer:
    """A server that does not answer; an empty broker is a NameServer. ``answered_at`` None is never."""

    server: str
    broker: str
    since: int
    answered_at: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Answering:
    """How a cluster answers; ``others`` is how many more servers do not than are named."""

    cluster: Cluster
    is_watched: bool
    answered_at: int | None
    silent: tuple[SilentServer, ...]
    others: int

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to say."""
        return self.is_watched and not self.silent


def is_silent(cluster: Cluster, now: int) -> bool:
    """Whether nothing of a cluster answers, or ever did."""
    return cluster.watched_at is None or now - cluster.watched_at > STALE_MS


def told_until(cluster: Cluster, now: int) -> int:
    """Say until when anything is told of a cluster: of one that is put aside, until its last answer."""
    return min(now, cluster.watched_at) if cluster.is_aside and cluster.watched_at is not None else now


def answering(*, clusters: Sequence[Cluster], now: int) -> list[Answering]:
    """Say how each cluster answers, as its watcher told last; ``visible_clusters`` has read both at once."""
    return [_of(cluster, getattr(cluster, "watch", None), now) for cluster in clusters]


def _of(cluster: Cluster, watch: Watch | None, now: int) -> Answering:
    is_watched = cluster.lease_until > now
    silent = [SilentServer(**each) for each in watch.silent] if watch is not None and is_watched else []
    answered_at = watch.answered_at if watch is not None else None
    return Answering(
        cluster,
        is_watched,
        cluster.watched_at if answered_at is None else answered_at,
        tuple(silent[:MOST_SHOWN]),
        max(0, len(silent) - MOST_SHOWN),
    )
