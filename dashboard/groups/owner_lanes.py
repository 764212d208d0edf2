"""Who had each queue of a group over time: a lane for each queue, with the times in which nobody had it, or two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from dashboard.clusters.models import Queue
from dashboard.groups.bands import FOREVER, Bounded, Intervals, all_told, as_perhaps_gone, as_seen_gone, gaps, stretches
from dashboard.groups.doubts import merged
from dashboard.groups.models import Group, Member
from dashboard.groups.owned import orphans_of, spans_of
from dashboard.groups.partly import asked_in_part
from dashboard.groups.proofs import sure_until_of
from dashboard.groups.silences import doubts_of, told_until_of

MOST_LANES = 300  # of more queues those are shown that changed hands, or the first where none did
MOST_BARS = 12_000
LONGEST_MS = 48 * 3_600_000
Named = Mapping[int, tuple[str, str, int]]


def owner_lanes(*, group: Group, since: int, until: int) -> dict[str, object]:
    """Give the owners of each queue within a window, as plain values for the browser; times are ms since 1970.

    A bar is a client (its place in ``clients``), from when, until when: null where it has the queue still; and until
    when that is certain, null for all of it: who answers no more may have let go any time since. Of a group that
    broadcasts there is none: every member has every queue.
    """
    orphans = orphans_of(groups=[group.pk], since=since).get(group.pk, [])
    spans, gone, is_whole = spans_of(group, since, until, orphans)
    is_shared = group.model == "BROADCASTING"
    sure = sure_until_of(groups=[group.pk]).get(group.pk, until)
    nobody, perhaps = gaps(spans, until=until, orphans=orphans, gone=gone, sure_until=sure)
    away = as_seen_gone(gone)
    _, two = stretches(all_told(spans), until=until, gone=as_perhaps_gone(gone, spans))
    shown = [span for span in spans if span.client and (span.until is None or span.until > since)]
    queues = {span.queue for span in spans} | {orphan.queue for orphan in orphans}
    changed = _changed(shown, since) | two.keys()
    chosen = queues if len(queues) <= MOST_LANES or not changed else changed
    named = _named(chosen)
    lanes = (
        [] if is_shared else sorted(named, key=lambda pk: (named[pk][0].startswith("%RETRY%"), *named[pk]))[:MOST_LANES]
    )
    bars, is_cut = _bars(shown, lanes)
    clients = _clients(bar.client for each in bars.values() for bar in each)
    numbers = {pk: place for place, pk in enumerate(clients)}
    silent = _silent(clients)
    return {
        "since": since,
        "until": until,
        "told_until": told_until_of(group.pk),
        "in_part": asked_in_part(group=group.pk),
        "doubts": merged(doubts_of(group=group.pk, since=since), since=since, until=until),
        "clients": list(clients.values()),
        "count": len(queues),
        "changed": len(changed),
        "is_whole": is_whole and not is_cut,
        "queues": [
            {
                "topic": named[pk][0],
                "broker": named[pk][1],
                "id": named[pk][2],
                "bars": [_bar(bar, numbers[bar.client], since, silent) for bar in bars.get(pk, [])],
                "none": _within(nobody, pk, since),
                "perhaps": _within(perhaps, pk, since),
                "two": _within(two, pk, since),
                "away": _within(away, pk, since, until),
            }
            for pk in lanes
        ],
    }


def _changed(spans: Iterable[Bounded], since: int) -> set[int]:
    """Name the queues that somebody let go, or took from another; whose owner is only known since then is none."""
    spans = list(spans)
    owned = Counter(span.queue for span in spans)
    return {span.queue for span in spans if span.until is not None or (span.at > since and owned[span.queue] > 1)}


def _named(queues: Iterable[int]) -> Named:
    rows = Queue.objects.filter(pk__in=list(queues)).annotate(name=F("topic__name"))
    return {
        pk: (topic, broker, number)
        for pk, topic, broker, number in rows.values_list("pk", "name", "broker", "queue_id")
    }


def _bars(spans: Iterable[Bounded], lanes: Iterable[int]) -> tuple[dict[int, list[Bounded]], bool]:
    """Give the bars of each lane in their order; whether the oldest were left out."""
    mine = set(lanes)
    bars = sorted((span for span in spans if span.queue in mine), key=lambda span: span.at)
    found: dict[int, list[Bounded]] = {}
    for bar in bars[-MOST_BARS:]:
        found.setdefault(bar.queue, []).append(bar)
    return found, len(bars) > MOST_BARS


def _bar(bar: Bounded, number: int, since: int, silent: Mapping[int, int]) -> list[int | None]:
    told = silent.get(bar.client)
    is_doubtful = told is not None and (bar.until is None or told < bar.until)
    return [number, max(bar.at, since), bar.until, max(bar.at, since, told or 0) if is_doubtful else None]


def _silent(members: Iterable[int]) -> dict[int, int]:
    """Say of those who do not answer, or did not when they left, when they told last what they have."""
    rows = Member.objects.filter(Q(missing__isnull=False) | Q(held_seen_at=None), pk__in=set(members))
    return dict(rows.values_list("pk", Coalesce("held_seen_at", "at")))


def _clients(members: Iterable[int]) -> dict[int, str]:
    rows = Member.objects.filter(pk__in=set(members)).order_by("client_id")
    return dict(rows.values_list("pk", "client_id"))


def _within(times: Mapping[int, Intervals], queue: int, since: int, until: int = FOREVER) -> list[list[int]]:
    return [[max(low, since), min(high, until)] for low, high in times.get(queue, ()) if high > since and low < until]
