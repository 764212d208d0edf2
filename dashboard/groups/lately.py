"""How groups fared in the last minutes, for their rows in the overview: time without owner and with two, and lag.

The groups of a page are read together, with the same number of queries for many as for one. Only those are read in
which anything changed hands in that time, or is wrong now: all others had their owners all the time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count, Max, Min, Q, Value
from django.db.models.functions import Coalesce

from dashboard.clusters.silences import is_silent
from dashboard.groups.bands import FOREVER, Away, Bounded, Gone, Held, Step, joined_up, sweep, without
from dashboard.groups.doubts import Doubts, certain_steps
from dashboard.groups.lag import Waiting, waiting_of
from dashboard.groups.leaving import away_since, disputed
from dashboard.groups.models import Group, Holding, Member, Round
from dashboard.groups.owned import LOST, disputes_of, ended_at, orphans_of, read_spans
from dashboard.groups.proofs import answered_at_of
from dashboard.groups.shares import Lasted, Window, shares_of
from dashboard.groups.silences import doubts_of_each, silences_of, silent_lately, told_until_of_each, with_silences

WINDOW_MS = 10 * 60_000
BEFORE_MS = 60_000  # what ended shortly before: nobody has it since
MOST_SPANS = 8_000  # of all groups of a page together: those with the fewest are added up
NONE = Lasted()
COUNTS = ("queue_count", "orphan_count", "double_count", "perhaps_twice_count")
OF_CLUSTER = ("cluster", "cluster__watched_at", "cluster__watch__lists_at")
FIELDS = ("model", "rebalanced_at", "added_at", "duplicate_messages", "disputed_since", "disputes", *COUNTS)


@dataclass(frozen=True, slots=True)
class Lately:
    """One group. Times are ms added up over its queues, within ``WINDOW_MS``, until ``known_until``; None is unknown.

    ``first_at``: when its members were looked at first, where that is within the window; nothing is told of before.
    ``nobody``, ``perhaps_nobody`` and ``two`` say when. ``is_open``: somebody does not answer; ``was_open``: somebody
    did not in the window: his queues may have had no owner, or two, all that while, which their upper bounds count.
    ``has_most``: there are such bounds, as it is known how many queues there are.
    ``is_since_ever``: nobody knows since when queues may have had two owners, so that their time has no upper bound.
    ``is_gap_unseen``, ``is_overlap_unseen``: nobody looked for so long that of a queue more than half of the window is
    possible and not known. ``is_too_much``: more changed hands than is added up here. ``twice`` counts messages that
    were consumed twice, as consumers reported since the group is known. ``looked_at``: of when the oldest answer is on
    which its row rests.
    """

    known_until: int
    unowned: Lasted | None
    overlap: Lasted | None
    nobody: tuple[Step, ...] = ()
    perhaps_nobody: tuple[Step, ...] = ()
    two: tuple[Step, ...] = ()
    is_open: bool = False
    was_open: bool = False
    has_most: bool = True
    is_since_ever: bool = False
    is_gap_unseen: bool = False
    is_overlap_unseen: bool = False
    is_too_much: bool = False
    is_shared: bool = False
    twice: int | None = None
    waiting: Waiting | None = None
    looked_at: int | None = None
    first_at: int | None = None

    @property
    def known_since(self) -> int:
        """Since when its times are added up."""
        return max(self.known_until - WINDOW_MS, self.first_at or 0)


def lately_of(*, groups: Sequence[int], now: int) -> dict[int, Lately]:
    """Give how groups, by their numbers, fared lately: in a whole window, also where it ended with the last answer."""
    rows = Group.objects.filter(pk__in=groups).select_related("cluster__watch").only(*OF_CLUSTER, *FIELDS)
    by_end: dict[int, dict[int, Group]] = {}
    for row in rows:
        by_end.setdefault(_until(row, now) or now, {})[row.pk] = row
    return {pk: each for end, some in by_end.items() for pk, each in _lately_until(some, end).items()}


def _lately_until(by_pk: Mapping[int, Group], now: int) -> dict[int, Lately]:
    since = now - WINDOW_MS
    told_until, waiting = told_until_of_each(groups=list(by_pk)), waiting_of(groups=list(by_pk))
    silent = silent_lately(groups=list(by_pk), since=since)
    answered = answered_at_of(groups=list(by_pk))
    busy = set(_with_rounds(by_pk, since))
    restless = {pk for pk, row in by_pk.items() if _is_divided(row) and (pk in busy or _has_faults(row))}
    few, many = _few_and_many(restless, since)
    spans, orphans = _spans(few, by_pk, since), orphans_of(groups=few, since=since)
    silences = silences_of(groups=few & silent, since=since) if few & silent else {}
    spans = {pk: with_silences(own, silences) for pk, own in spans.items()}
    gone = _gone(by_pk, [*spans.values(), *orphans.values()], since)
    unheard = silent | set(told_until)
    doubts = doubts_of_each(groups=few | unheard, since=since) if few or unheard else {}
    alone = _alone(silent - set(told_until), since)
    found: dict[int, Lately] = {}
    firsts = _first_looks(by_pk, since)
    first_doubts = {pk: min(low for low, _ in own) for pk, own in doubts.items() if own}
    kept = _kept(few | unheard, first_doubts, told_until, since)
    for pk, row in by_pk.items():
        until, begin = _until(row, now), max(since, firsts.get(pk, since))
        if until is not None and pk in firsts and until <= begin:
            until = None  # it was not looked at by then
        if not _is_divided(row) or until is None or pk in many:
            each = Lately(until or since, None, None, is_too_much=pk in many, is_shared=row.model == "BROADCASTING")
        elif pk in few:
            sure = _sure_until(row, answered.get(pk), until)
            in_doubt = [*doubts.get(pk, []), *disputes_of(row, since=since)]
            each, lasting = _added_up(
                spans.get(pk, []),
                orphans.get(pk, []),
                disputed(gone, row),
                (begin, until),
                (told_until.get(pk), sure),
                in_doubt,
            )
            each = _with_the_rest(each, row, spans.get(pk, []), begin, (sure, in_doubt), lasting)
        else:
            each = Lately(until, NONE, NONE)
        looked_at = answered.get(pk, _listed_at(row))
        in_doubt = [*doubts.get(pk, []), *([(told_until[pk], until)] if until and pk in told_until else [])]
        went = {
            span.queue for span in spans.get(pk, []) if any(own.back_at is None for own in gone.get(span.queue, ()))
        }
        if pk in unheard or row.disputed_since is not None:
            most = _most_queues(row, len(went))
            each = _with_doubts(each, begin, in_doubt, most, kept=kept.get(pk, 0), is_alone=pk in alone)
        times = [_in_route(gone[queue], begin, each.known_until) for queue in went]
        each = _within_all(each, begin, _most_queues(row, 0), sum(times))
        is_open = each.unowned is not None and (pk in told_until or row.disputed_since is not None)
        was_open = each.unowned is not None and pk in silent
        each = replace(each, is_open=is_open, was_open=was_open)
        each = replace(each, twice=row.duplicate_messages, waiting=waiting.get(pk))
        found[pk] = replace(each, looked_at=looked_at, first_at=firsts.get(pk))
    return found


def _alone(groups: Collection[int], since: int) -> set[int]:
    """Name those of groups that had one member at most since an instant: no two of which had a queue."""
    if not groups:
        return set()
    rows = Member.objects.filter(Q(left_at=None) | Q(left_at__gt=since), group__in=groups)
    crowds = rows.values_list("group").annotate(n=Count("pk")).filter(n__gt=1)
    return set(groups) - {pk for pk, _ in crowds}


def _kept(
    groups: Collection[int], doubts: Mapping[int, int], told_until: Mapping[int, int], since: int
) -> dict[int, int]:
    """Count the queues of groups that somebody who always answered has had since before the first of their doubts."""
    before = Q(pk=None)
    for pk in groups:
        first = min(doubts.get(pk, FOREVER), told_until.get(pk, FOREVER))
        before |= Q(group=pk, at__lte=since if first == FOREVER else max(first, since))
    tells = Q(member__missing=None, member__held_seen_at__isnull=False)
    never_silent = Q(member__silent_until=None) | Q(member__silent_until__lte=since)
    rows = Holding.objects.filter(before, tells, never_silent, until=None, queue__gone_at=None)
    return dict(rows.values_list("group").annotate(n=Count("queue", distinct=True)))


def _most_queues(row: Group, went: int) -> int | None:
    """Count the queues of a group, and those that ``went`` in the window; None: nobody knows of how many."""
    return None if row.queue_count is None or row.disputed_since is not None else row.queue_count + went


def _with_doubts(each: Lately, since: int, doubts: Doubts, queues: int | None, *, kept: int, is_alone: bool) -> Lately:
    """Let queues have had no owner, or two, while not everybody answered.

    Who did not answer may have had any queue beside its owner, but for one who was a member alone. Without owner were
    none of the ``kept`` ones, which somebody who answered had all the time.
    """
    if each.unowned is None or each.overlap is None:
        return each
    if queues is None:
        return replace(each, has_most=False)
    times = joined_up([(max(low, since), min(high, each.known_until)) for low, high in doubts])
    lasted, whole = sum(max(0, high - low) for low, high in times), each.known_until - since
    more, most = queues * lasted, queues * whole
    loose = max(0, queues - kept)
    unowned, overlap = each.unowned, each.overlap
    return replace(
        each,
        unowned=replace(unowned, high=max(unowned.high, min(most, unowned.high + loose * lasted))),
        overlap=overlap if is_alone else replace(overlap, high=max(overlap.high, min(most, overlap.high + more))),
    )


def _first_looks(groups: Mapping[int, Group], since: int) -> dict[int, int]:
    """Say when groups that became known within the window were looked at first: of before nothing is known."""
    young = {pk: row.added_at for pk, row in groups.items() if row.added_at > since}
    if not young:
        return {}
    held = Holding.objects.filter(group__in=young).values_list("group").annotate(first=Min("at"))
    return {**young, **{pk: max(young[pk], first) for pk, first in held}}


def _listed_at(row: Group) -> int | None:
    """Say when everybody had told who is a member: all that is known of a group in which nobody answers."""
    watch = getattr(row.cluster, "watch", None)
    return None if watch is None or row.rebalanced_at is None else watch.lists_at


def _sure_until(row: Group, answered: int | None, until: int) -> int:
    """Say until when nobody had what nobody said to have, as ``proofs.sure_until_of`` does."""
    listed = getattr(getattr(row.cluster, "watch", None), "lists_at", None)
    return min(each for each in (answered, listed, until) if each is not None)


def _is_divided(row: Group) -> bool:
    """Whether its queues are divided among members, as far as anybody looked at it."""
    return row.model != "BROADCASTING" and row.rebalanced_at is not None


def _has_faults(row: Group) -> bool:
    return bool(row.orphan_count or row.double_count or row.perhaps_twice_count)


def _until(row: Group, now: int) -> int | None:
    """Say until when anything is known of it: until its cluster answered last."""
    return row.cluster.watched_at if is_silent(row.cluster, now) else now


def _with_rounds(groups: Iterable[int], since: int) -> Iterable[int]:
    """Give the groups with a round in the window: nothing changes hands outside of one."""
    recent = Q(closed_at=None) | Q(closed_at__gte=since - BEFORE_MS) | Q(settled_at__gte=since)
    return Round.objects.filter(recent, group__in=list(groups)).values_list("group", flat=True).distinct()


def _changed(groups: Iterable[int], since: int) -> Q:
    ended, began = Q(until__gte=since - BEFORE_MS), Q(until=None, at__gte=since - BEFORE_MS)
    return Q(group__in=list(groups)) & (ended | began)


def _few_and_many(groups: set[int], since: int) -> tuple[set[int], set[int]]:
    """Tell the groups that are added up from those of which too much changed hands for a list."""
    rows = Holding.objects.filter(_changed(groups, since)).values_list("group").annotate(n=Count("pk"))
    few, room = set(groups), MOST_SPANS
    for pk, spans in sorted(rows, key=lambda row: row[1]):
        room -= spans
        if room < 0:
            few.discard(pk)
    return few, groups - few


def _spans(groups: set[int], by_pk: Mapping[int, Group], since: int) -> dict[int, list[Bounded]]:
    """Read who had what of that which changed hands, and who else has it."""
    found = _read(_changed(groups, since))
    queues = {span.queue for spans in found.values() for span in spans}
    twice = [pk for pk in groups if by_pk[pk].double_count or by_pk[pk].perhaps_twice_count]
    others = Q(group__in=list(groups), queue__in=queues) | Q(group__in=twice)
    for pk, spans in _read(others & Q(until=None, at__lt=since - BEFORE_MS)).items():
        found.setdefault(pk, []).extend(spans)
    for pk, spans in _nobodys([pk for pk in groups if by_pk[pk].orphan_count], since).items():
        found.setdefault(pk, []).extend(spans)
    _add_ends_before(found, since)
    return found


def _add_ends_before(found: dict[int, list[Bounded]], since: int) -> None:
    """Add when queues were had last before the window that were taken in it first: nobody had them since then."""
    firsts: dict[tuple[int, int], int] = {}
    for group, spans in found.items():
        for span in spans:
            firsts[group, span.queue] = min(span.at, firsts.get((group, span.queue), span.at))
    late = {key for key, at in firsts.items() if at > since - BEFORE_MS}
    if not late:
        return
    ended = Holding.objects.filter(queue__in={queue for _, queue in late}, group__in={group for group, _ in late})
    rows = ended.filter(until__lt=since - BEFORE_MS).values_list("group", "queue")
    for group, *row in rows.annotate(last=Max("until"), **LOST)[:MOST_SPANS]:
        if (group, row[0]) in late:
            found[group].extend(ended_at(*row))


def _nobodys(groups: Sequence[int], since: int) -> dict[int, list[Bounded]]:
    """Read when the queues were had last that nobody had in the window: who was lost may have them still."""
    there = Q(queue__gone_at=None) | Q(queue__gone_at__gt=since)
    ends = Holding.objects.filter(there, group__in=groups).values_list("group", "queue")
    rows = ends.annotate(last=Max(Coalesce("until", Value(FOREVER))), **LOST)
    found: dict[int, list[Bounded]] = {}
    for group, *row in rows.filter(last__lt=since - BEFORE_MS)[:MOST_SPANS]:
        found.setdefault(group, []).extend(ended_at(*row))
    return found


def _read(which: Q) -> dict[int, list[Bounded]]:
    found: dict[int, list[Bounded]] = {}
    for group, span in read_spans(Holding.objects.filter(which)):
        found.setdefault(group, []).append(span)
    return found


def _gone(by_pk: Mapping[int, Group], owners: Iterable[Sequence[Bounded | Held]], since: int) -> Gone:
    queues = {each.queue for own in owners for each in own}
    clusters = {row.cluster_id for row in by_pk.values()}
    return away_since(clusters=clusters, queues=queues, since=since - BEFORE_MS)


def _added_up(
    spans: list[Bounded],
    orphans: list[Held],
    gone: Gone,
    window: tuple[int, int],
    known: tuple[int | None, int],
    doubts: Sequence[tuple[int, int]],
) -> tuple[Lately, int]:
    """Add up what changed hands; and count the queues that were seen to have nobody at the end of what is known."""
    (since, until), (told_until, sure_until) = window, known
    whole = Window(since, until, wave=1, limit=until)
    [shares] = shares_of(
        spans,
        [whole],
        until=until,
        orphans=orphans,
        gone=gone,
        told_until=told_until,
        sure_until=sure_until,
        doubts=doubts,
    )
    nobody, perhaps, two = sweep(spans, since=since, until=until, orphans=orphans, gone=gone, sure_until=sure_until)
    in_doubt = doubts if told_until is None else [*doubts, (told_until, until)]  # who does not answer may have any
    there = {queue: _in_route(gone.get(queue, ()), since, until) for queue in shares}
    unowned = [_capped(share.unowned, there[queue]) for queue, share in shares.items()]
    overlap = [_capped(share.overlap, there[queue]) for queue, share in shares.items()]
    each = Lately(
        until,
        _sum(unowned),
        _sum(overlap),
        tuple(certain_steps(nobody, in_doubt)),
        tuple(certain_steps(perhaps, in_doubt)),
        tuple(two),
        is_gap_unseen=_says_nothing(unowned, until - since),
        is_overlap_unseen=_says_nothing(overlap, until - since),
        is_since_ever=any(each.is_since_ever and each.overlap.low < each.overlap.high for each in shares.values()),
    )
    return each, sum(step.queues for step in (*nobody, *perhaps) if step.until == until)


def _in_route(away: Sequence[Away], since: int, until: int) -> int:
    """Say for how long of a window a queue was in a route, at most."""
    return sum(high - low for low, high in without([(since, until)], [each.surely for each in away]))


def _capped(lasted: Lasted, whole: int) -> Lasted:
    """Leave out what is possible of a queue beyond the window: what nobody saw for long has wide bounds."""
    return replace(lasted, high=max(lasted.low, min(lasted.high, whole)))


def _within_all(each: Lately, since: int, queues: int | None, went_ms: int) -> Lately:
    """Leave out what is possible beyond all of the window for each of a group's queues (None: nobody knows how many).

    And beyond ``went_ms``, for how long those were in a route that have left it.
    """
    if queues is None or each.unowned is None or each.overlap is None:
        return each
    whole = queues * max(0, each.known_until - since) + went_ms
    return replace(each, unowned=_capped(each.unowned, whole), overlap=_capped(each.overlap, whole))


def _says_nothing(times: Sequence[Lasted], whole: int) -> bool:
    """Whether of a queue more than half of the window is possible and not known."""
    return any(each.high - each.low > whole / 2 for each in times)


def _sum(times: Sequence[Lasted]) -> Lasted:
    return Lasted(*(sum(getattr(each, name) for each in times) for name in ("low", "seen", "high")))


def _with_the_rest(
    each: Lately, row: Group, spans: Sequence[Bounded], since: int, known: tuple[int, Doubts], lasting: int
) -> Lately:
    """Add queues that nobody has, of which nothing is known to have ended: perhaps nobody had them in all of the time.

    How many nobody has was counted by the last rebalance: it is certain since then until the oldest look, and not in
    doubts (``known``), and says nothing of what was taken since. ``lasting`` of them are added up: also those of which
    that is in doubt by now.
    """
    if any(span.at > (row.rebalanced_at or 0) for span in spans):
        return each
    rest, until = (row.orphan_count or 0) - lasting, each.known_until
    if rest <= 0 or each.unowned is None or since >= until:
        return each
    sure, in_doubt = min(until, known[0]), known[1]
    begin = max(since, row.rebalanced_at or 0)
    steps = certain_steps([Step(begin, sure, rest)] if begin < sure else [], in_doubt)
    surely = [(step.since, step.until) for step in steps]
    perhaps = [Step(low, high, rest) for low, high in without([(since, until)], surely)]
    most, low = rest * (until - since), rest * sum(high - low for low, high in surely)
    unowned = Lasted(each.unowned.low + low, each.unowned.seen + most, each.unowned.high + most)
    return replace(
        each, unowned=unowned, nobody=(*steps, *each.nobody), perhaps_nobody=(*perhaps, *each.perhaps_nobody)
    )
