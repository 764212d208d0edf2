"""Reads who had which queue of a group and when, for the time bar and for what rounds say of their queues."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from dashboard.clusters.models import Queue
from dashboard.groups.bands import FOREVER, Bounded, Gone, Held, Step, sweep
from dashboard.groups.ending import begin_of
from dashboard.groups.leaving import away_since, disputed
from dashboard.groups.models import BACK_LOW, IS_BACK, Finding, Group, Holding, Round
from dashboard.groups.proofs import sure_until_of
from dashboard.groups.shares import Share, Window, shares_of
from dashboard.groups.silences import doubts_of, silences_of, told_until_of, with_silences
from rebalance_engine.findings import FindingKind

MOST_SPANS = 60_000
NEAR = 100  # rounds: what nobody took for longer is told by each
NOBODYS = (FindingKind.ORPHAN_QUEUE.value, FindingKind.RETRY_UNOWNED.value)
BOUNDS = ("at", "at_low", "at_high", "until", "until_low", "until_high")
LOST = {
    "lost": Max("until", filter=Q(until_high=None)),
    "high": Max("until_high", filter=~IS_BACK),
    "back": Max("until", filter=IS_BACK),
    "back_low": Max(BACK_LOW),
    "back_high": Max("until_high", filter=IS_BACK),
}


class Bands(NamedTuple):
    """When queues of a group had no owner, perhaps none, and two; and whether all that is known of it was read."""

    nobody: list[Step]
    perhaps_nobody: list[Step]
    two: list[Step]
    is_whole: bool


def bands_of(*, group: Group, since: int, now: int) -> Bands:
    """Give when queues had no owner, and when two, within a window; and whether all spans of it were read."""
    if group.model == "BROADCASTING":
        return Bands([], [], [], is_whole=True)
    orphans = _orphans(group, since)
    spans, gone, is_whole = spans_of(group, since, now, orphans)
    sure = sure_until_of(groups=[group.pk]).get(group.pk, now)
    steps = sweep(spans, since=since, until=now, orphans=orphans, gone=gone, sure_until=sure)
    return Bands(*steps, is_whole)


def shares_in(*, row: Round, now: int) -> dict[int, Share]:
    """Give how long each queue had no owner, and two, in a round, as far as it had come ``now``."""
    first, last = row.number - NEAR, row.number + NEAR
    near = {} if row.group.model == "BROADCASTING" else _windows(row.group, first, last, now, once=False)
    if row.number not in near:
        return {}
    window, rounds = near[row.number], list(near.values())
    shares = _known(row.group, window.since, now).shares([window], until=now, near=rounds)[0]
    since = min((share.within[0] for share in shares.values()), default=window.since)
    let_go = Holding.objects.filter(group=row.group_id, until__gte=since, until__lt=window.since)
    if since >= window.since or not let_go.exists():
        return shares
    return _known(row.group, since, now).shares([window], until=now, near=rounds)[0]  # it tells of what is older


def shares_by_round(
    *, group: Group, first: int, last: int, now: int, once: bool = False
) -> tuple[dict[int, dict[int, Share]], bool]:
    """Give the same by round, and whether all spans were read; ``once``: to add up, nothing is told by two rounds."""
    windows = windows_of(group=group, first=first, last=last, now=now, once=once)
    if not windows:
        return {}, True
    known = _known(group, min(window.since for window in windows.values()), now)
    return known.by_round(windows, until=now, once=once), known.is_whole


def shares_both_ways(
    *, group: Group, first: int, last: int, now: int
) -> tuple[dict[int, dict[int, Share]], dict[int, dict[int, Share]], bool]:
    """Give the same ``once``, and as each round tells it, of one reading."""
    windows = windows_of(group=group, first=first, last=last, now=now)
    if not windows:
        return {}, {}, True
    known = _known(group, min(window.since for window in windows.values()), now)
    single = known.by_round(windows_of(group=group, first=first, last=last, now=now, once=True), until=now, once=True)
    return single, known.by_round(windows, until=now), known.is_whole


def shares_until(*, row: Round, times: Mapping[int, int], now: int) -> dict[int, Share]:
    """Give the same of single queues of a round, by their rows, up to when each was taken: not what followed that."""
    windows = _windows(row.group, row.number, row.number, now, once=False)
    if not times or row.number not in windows:
        return {}
    window = windows[row.number]
    known = _known(row.group, window.since, now)
    found: dict[int, Share] = {}
    for queue, own in known.of_each(times).items():
        found |= own.shares([window], until=min(now, times[queue]))[0]
    return found


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known of queues of a group, as ``shares_of`` takes it."""

    spans: list[Bounded]
    orphans: list[Held]
    gone: Gone
    told_until: int | None
    sure_until: int
    doubts: list[tuple[int, int]]
    is_whole: bool

    def shares(
        self, windows: Sequence[Window], *, until: int, once: bool = False, near: Sequence[Window] = ()
    ) -> list[dict[int, Share]]:
        """Give each round's queues that had no owner, or two, or may have had."""
        return shares_of(
            self.spans,
            windows,
            until=until,
            orphans=self.orphans,
            gone=self.gone,
            told_until=self.told_until,
            sure_until=self.sure_until,
            doubts=self.doubts,
            once=once,
            near=near,
        )

    def by_round(self, windows: Mapping[int, Window], *, until: int, once: bool = False) -> dict[int, dict[int, Share]]:
        """Give the same by the numbers of the rounds."""
        return dict(zip(windows, self.shares(list(windows.values()), until=until, once=once), strict=True))

    def of_each(self, queues: Iterable[int]) -> dict[int, _Known]:
        """Give what is known of single queues."""
        parts = {
            queue: replace(self, spans=[], orphans=[], gone={queue: self.gone[queue]} if queue in self.gone else {})
            for queue in queues
        }
        for span in self.spans:
            if span.queue in parts:
                parts[span.queue].spans.append(span)
        for orphan in self.orphans:
            if orphan.queue in parts:
                parts[orphan.queue].orphans.append(orphan)
        return parts


def _known(group: Group, since: int, now: int) -> _Known:
    orphans = _orphans(group, since)
    spans, gone, is_whole = spans_of(group, since, now, orphans)
    sure = sure_until_of(groups=[group.pk]).get(group.pk, now)
    doubts = [*doubts_of(group=group.pk, since=since), *dispute_of(group)]
    return _Known(spans, orphans, gone, told_until_of(group.pk), sure, doubts, is_whole)


def places_of(queues: Iterable[int]) -> dict[int, tuple[str, str, int]]:
    """Give the topic, broker and queue id of queues, by their rows."""
    pks = list(queues)
    rows = Queue.objects.filter(pk__in=pks).values_list("pk", "topic__name", "broker", "queue_id") if pks else ()
    return {pk: (topic, broker, number) for pk, topic, broker, number in rows}


def dispute_of(group: Group) -> list[tuple[int, int]]:
    """Say since when NameServers disagree on queues of a group: what nobody has is perhaps not there."""
    return [] if group.disputed_since is None else [(group.disputed_since, FOREVER)]


def disputes_of(group: Group, *, since: int) -> list[tuple[int, int]]:
    """Say the same of before too: when they disagreed on queues that went with that."""
    ended = [(begin, end) for begin, end, has_lost in group.disputes or () if has_lost and end > since]
    return [*ended, *dispute_of(group)]


def spans_of(group: Group, since: int, until: int, orphans: Iterable[Held] = ()) -> tuple[list[Bounded], Gone, bool]:
    """Read who had what since an instant, and when these queues, and ``orphans``, were in no route.

    Of before it gives when each queue was had last: nobody has it since. Who was seen to have a queue only after
    ``until`` may have had it by then, if nothing shows that he had not.
    """
    of_group = Holding.objects.filter(Q(queue__gone_at=None) | Q(queue__gone_at__gt=since), group=group)
    recent = of_group.filter(Q(until=None) | Q(until__gte=since), may_have_begun(until))
    spans = [span for _, span in read_spans(recent, most=MOST_SPANS)]
    spans = with_silences(spans, silences_of(groups=[group.pk], since=since))
    ended = of_group.filter(until__lt=since).values_list("queue_id")
    lasts = ended.annotate(last=Max("until"), **LOST)
    spans.extend(end for row in lasts[:MOST_SPANS] for end in ended_at(*row))
    queues = {span.queue for span in spans} | {orphan.queue for orphan in orphans}
    gone = disputed(away_since(clusters=[group.cluster_id], queues=queues, since=since), group)
    return spans, gone, len(spans) < MOST_SPANS


def read_spans(rows: QuerySet[Holding], *, most: int | None = None) -> Iterator[tuple[int, Bounded]]:
    """Read spans of holding, each with the row of its group."""
    told = Coalesce("member__held_seen_at", "at")
    columns = ("group_id", "queue_id", "member_id", *BOUNDS, "told", "back_low")
    for group, *span, back_low in rows.annotate(told=told, back_low=BACK_LOW).values_list(*columns)[:most]:
        yield group, replace(Bounded(*span), back_low=back_low)


def may_have_begun(by: int) -> Q:
    """Choose holdings that somebody may have had by an instant: seen by then, or nothing shows that he had them not."""
    return Q(at__lte=by) | Q(at_low__lte=by) | Q(at_low=None)


def ended_at(
    queue: int,
    last: int,
    lost: int | None,
    high: int | None,
    back: int | None,
    back_low: int | None,
    back_high: int | None,
) -> Iterator[Bounded]:
    """Give the end of what is known of a queue's owners: who had it last let go then, or was ``lost``, or is ``back``.

    ``high``: when those had let go for certain of whom that is known; who was lost may have had it beyond its end. Who
    is back may have it again from ``back_low`` to ``back_high``.
    """
    end = Bounded(queue, 0, last, last, last, last, last, max(last, high or last), told_until=last)
    if lost == last:
        yield replace(end, until_high=None)
        return
    if back != last:
        yield end
    if back_high is not None:
        yield replace(end, until_high=max(last, back_high), back_low=back_low)


def _orphans(group: Group, since: int) -> list[Held]:
    """Give when it was seen that nobody has a queue, also of queues that nobody had ever."""
    return orphans_of(groups=[group.pk], since=since).get(group.pk, [])


def orphans_of(*, groups: Iterable[int], since: int) -> dict[int, list[Held]]:
    """Give the same of several groups."""
    pks = list(groups)
    found = Finding.objects.filter(Q(cleared_at=None) | Q(cleared_at__gte=since), group__in=pks, kind__in=NOBODYS)
    told = ("group", "cluster", "subject", "suspected_at", "cleared_at", "group__added_at")
    times = list(found.values_list(*told))
    topics = {subject.rsplit("/", 2)[0] for _, _, subject, *_ in times}
    clusters = {cluster for _, cluster, *_ in times}
    rows = Queue.objects.filter(topic__cluster__in=clusters, topic__name__in=topics)
    keys = {
        (cluster, f"{topic}/{broker}/{number}"): (pk, came_at)
        for pk, came_at, cluster, topic, broker, number in rows.values_list(
            "pk", "came_at", "topic__cluster", "topic__name", "broker", "queue_id"
        )
    }
    begins = _begins_of({(group, at) for group, _, _, at, *_ in times if group is not None})
    orphans: dict[int, list[Held]] = {}
    for group, cluster, subject, at, cleared, added_at in times:
        if (cluster, subject) in keys and group is not None:
            queue, came_at = keys[cluster, subject]
            low = begins.get((group, at), None if came_at is None or came_at < added_at else came_at)
            orphans.setdefault(group, []).append(Held(queue, at, cleared, low=low))
    return orphans


def _begins_of(seen: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Say of groups, and instants at which something was seen, since when what was under way then may have been.

    What nobody has came to be so by a change, and a change opens a round, or supersedes one. Where none was open, it is
    left out.
    """
    if not seen:
        return {}
    times = [at for _, at in seen]
    was_open = Q(closed_at=None) | Q(closed_at__gte=min(times))
    rows = Round.objects.filter(was_open, group__in={group for group, _ in seen}, opened_at__lte=max(times))
    first = Round.objects.filter(group=OuterRef("group"), number=OuterRef("wave"))
    began = rows.annotate(began=Subquery(first.values(low=Coalesce("opened_low", "opened_at"))[:1]))
    found: dict[tuple[int, int], int] = {}
    for group, opened, closed, low in began.order_by("number").values_list("group", "opened_at", "closed_at", "began"):
        within = (each for each in seen if each[0] == group and opened <= each[1] <= (closed or FOREVER))
        found |= {each: low for each in within if low is not None}
    return found


def windows_of(*, group: Group, first: int, last: int, now: int, once: bool = False) -> dict[int, Window]:
    """Give the time of each of these rounds alone; of a broadcasting group none: nobody hands anything over."""
    if group.model == "BROADCASTING":
        return {}
    windows = _windows(group, first, last, now, once=once)
    return {number: window for number, window in windows.items() if first <= number <= last}


def _windows(group: Group, first: int, last: int, now: int, *, once: bool) -> dict[int, Window]:
    """Give the time of each of these rounds: none lies in two. What one left goes on to its end.

    One that was superseded goes on until the next was seen to begin, as its handoffs and its page do.

    ``once``: until the next wave at most, which tells of it then.
    """
    rounds = Round.objects.filter(group=group).order_by("number").defer("before", "after")
    at_last = rounds.filter(number__lte=last).last()
    if at_last is None:
        return {}
    beyond = rounds.filter(number__gt=last).exclude(wave=at_last.wave).first()
    rows = list(rounds.filter(number__gte=first - 1, number__lte=beyond.number if beyond else 2**31 - 1))
    lows = [begin_of(row, earlier) for row, earlier in zip(rows, [None, *rows], strict=False)]
    begins = [low if row.number == row.wave else row.opened_at for row, low in zip(rows, lows, strict=True)]
    windows = {}
    for place, row in enumerate(rows):
        ends = [row.closed_at, row.settled_at] if row.closed_at is not None else [now]
        following = begins[place + 1] if place + 1 < len(rows) else now
        later = (begins[n] for n in range(place + 1, len(rows)) if rows[n].wave != row.wave)
        end = min(now, following, max(end for end in ends if end is not None))
        limit = min(now, next(later, now)) if once else now
        has_last = row.closed_at is not None and end < min(now, following)
        windows[row.number] = Window(
            begins[place], max(begins[place], end), row.wave, limit, has_last, row.number, lows[place]
        )
    return windows


def began_at(row: Round) -> int:
    """Say since when a round may have been under way."""
    earlier = Round.objects.filter(group=row.group_id, number__lt=row.number).order_by("-number").first()
    return begin_of(row, earlier)
