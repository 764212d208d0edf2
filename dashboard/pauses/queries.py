"""What the page of pauses reads: rounds and handoffs of a window, as they were stored, and what they add up to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q

from dashboard.groups.doubts import doubted
from dashboard.groups.elsewhere import LetGo, Place, let_go, time_of, told_by
from dashboard.groups.lasting import Lasting, lasting_handoffs
from dashboard.groups.models import Group, Handoff, Round, RoundCause
from dashboard.groups.whose import whose
from dashboard.pauses.costs import Between, Cost, Told, Unmoved, cost_of, pause_of, with_unmoved, without
from dashboard.pauses.unmoved import unmoved_in
from rebalance_engine.events import Cause
from rebalance_engine.rounds import MEMBERS_CHANGE

WINDOWS_MS = {"1h": 3_600_000, "6h": 21_600_000, "24h": 86_400_000, "7d": 604_800_000, "30d": 2_592_000_000}
MOST_ROUNDS = 1_000
MOST_HANDOFFS = 20_000
MOST_QUEUES = 40
DEPLOY_GAP_MS, DEPLOY_MEMBERS = 300_000, 2
NO_PAUSE = Between(0, 0)
NOBODY: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
COLUMNS = (
    "round_id", "topic", "broker", "queue_id", "from_client", "to_client", "dropped_at", "taken_at",
    "pause_low", "pause_high", "unowned_low", "unowned_high", "overlap_low", "overlap_high",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RoundCost:
    """One round, who stands behind it, and what it cost; None: its handoffs are not told yet.

    ``came`` and ``went`` are the members whose joining and leaving it is of, ``last_cause_at`` when the last was seen;
    ``before`` and ``after`` who was a member (None: unknown, or it is not over). ``moves`` is how many queues changed
    owner, ``left`` how many lost theirs because all members had left; of one that is not over nobody knows, and as many
    as ``to_move`` are to change owner. ``unmoved`` are the queues without owner of which no handoff tells.
    """

    number: int
    wave: int
    cause: str
    who: str
    opened_at: int
    closed_at: int | None
    moves: int | None
    cost: Cost | None
    left: int | None = 0
    to_move: int | None = None
    last_cause_at: int = 0
    came: frozenset[str] = frozenset()
    went: frozenset[str] = frozenset()
    before: frozenset[str] | None = None
    after: frozenset[str] | None = None
    unmoved: tuple[Unmoved, ...] = ()


@dataclass(frozen=True, slots=True)
class CauseCost:
    """What all rounds of one cause cost together; ``deploy`` is its first round's number, where it is one."""

    cause: str
    rounds: tuple[int, ...]
    moves: int | None
    cost: Cost
    began_at: int
    ended_at: int | None
    left: int | None = 0


@dataclass(frozen=True, slots=True)
class Pauses:
    """A window of a group's pauses. ``is_whole``: no round and no handoff of it was left out."""

    since: int
    until: int
    rounds: tuple[RoundCost, ...]
    handoffs: tuple[Told, ...]
    queues: tuple[str, ...]
    queue_count: int
    is_whole: bool


def window_of(*, group: Group, asked: str, now: int) -> tuple[str, int]:
    """Give the window and where it begins: the one that was asked for, or the first with a round."""
    latest = group.round_opened_at
    fitting = [name for name, length in WINDOWS_MS.items() if latest is not None and latest >= now - length]
    name = asked if asked in WINDOWS_MS else fitting[0] if fitting else "24h"
    return name, now - WINDOWS_MS[name]


def pauses_of(*, group: Group, since: int, now: int) -> Pauses:
    """Read a window, the oldest round first."""
    shown = Round.objects.filter(Q(closed_at=None) | Q(closed_at__gte=since), group=group).order_by("-number")
    rows = list(shown.defer("before", "after")[: MOST_ROUNDS + 1])
    is_whole = len(rows) <= MOST_ROUNDS
    rows = rows[:MOST_ROUNDS][::-1]
    by_pk = {row.pk: row for row in rows}
    told = list(Handoff.objects.filter(round__in=by_pk).order_by("-round__number", "pk")[: MOST_HANDOFFS + 1])
    left_out = {row.round_id for row in told[MOST_HANDOFFS:]}  # a round is added up whole, or not at all
    kept_told = doubted((row for row in told[:MOST_HANDOFFS] if row.round_id not in left_out), group=group.pk)
    lasting = lasting_handoffs(rounds={row.round_id for row in kept_told if row.taken_at is None}, now=now)
    let = let_go(group=group, first=rows[0].number, last=rows[-1].number, now=now) if rows else {}
    handoffs = tuple(
        _elsewhere(_told(row, by_pk[row.round_id], lasting.get(row.pk)), row, by_pk[row.round_id], let, now)
        for row in kept_told
    )
    by_round: dict[int, list[Told]] = {}
    for each in handoffs:
        by_round.setdefault(each.round, []).append(each)
    names, changes = whose(rounds=Round.objects.filter(pk__in=by_pk)), _changes(by_pk)
    kept = [row for row in rows if row.pk not in left_out]
    unmoved, is_all = unmoved_in(group=group, rounds=kept, handoffs=handoffs, let=let, now=now)
    costs = tuple(
        replace(_cost(row, names.get(row.pk, ""), by_round.get(row.number, []), unmoved), came=came, went=went)
        for row in kept
        for came, went in [changes.get(row.pk, NOBODY)]
    )
    worst = _worst_first(handoffs)
    return Pauses(since, now, costs, handoffs, worst[:MOST_QUEUES], len(worst), is_whole and is_all and not left_out)


def _changes(rounds: Collection[int]) -> dict[int, tuple[frozenset[str], frozenset[str]]]:
    """Read who came and who went in rounds."""
    kinds = [cause.value for cause in MEMBERS_CHANGE]
    rows = RoundCause.objects.filter(round__in=rounds, cause__in=kinds, client_id__isnull=False)
    found: dict[int, tuple[set[str], set[str]]] = {}
    for number, cause, client in rows.values_list("round_id", "cause", "client_id"):
        found.setdefault(number, (set(), set()))[cause != Cause.MEMBER_JOINED.value].add(client or "")
    return {number: (frozenset(came), frozenset(went)) for number, (came, went) in found.items()}


def by_cause(rounds: Sequence[RoundCost], handoffs: Sequence[Told]) -> list[CauseCost]:
    """Add up by cause, the dearest first."""
    causes: dict[str, list[RoundCost]] = {}
    for each in rounds:
        causes.setdefault(each.cause, []).append(each)
    return sorted((_together(cause, each, handoffs) for cause, each in causes.items()), key=_dear, reverse=True)


def deploys(rounds: Sequence[RoundCost], handoffs: Sequence[Told]) -> list[CauseCost]:
    """Add up deploys, the newest first: most of a group is replaced, one member shortly after another, and it stays so.

    As the pipeline tells them from logs (``pipeline.measures.waves_of``).
    """
    runs: list[list[RoundCost]] = []
    for each in rounds:
        if not each.came and not each.went:
            continue
        if not runs or each.opened_at - runs[-1][-1].last_cause_at > DEPLOY_GAP_MS:
            runs.append([])
        runs[-1].append(each)
    found = [run for run in runs if _is_deploy(run)]
    return [_together(run[0].cause, run, handoffs) for run in reversed(found)]


def _is_deploy(run: Sequence[RoundCost]) -> bool:
    """Ask whether more than half of those who were there, two at least, were replaced by others or by themselves.

    Who comes with a deploy stays: a group of which somebody new goes again scales by itself.
    """
    came, went = set[str]().union(*(each.came for each in run)), set[str]().union(*(each.went for each in run))
    there = run[0].before
    if there is None or (came - there) & went:
        return False
    last = run[-1].after if run[-1].after is not None else (there - went) | came
    again = there & last & came & went
    left, joined = (there - last) | again, (last - there) | again
    return min(len(left), len(joined)) >= DEPLOY_MEMBERS and 2 * len(left) > len(there)


def _together(cause: str, rounds: Sequence[RoundCost], handoffs: Sequence[Told]) -> CauseCost:
    numbers = {each.number for each in rounds}
    ends = [each.closed_at for each in rounds]
    cost = cost_of([each for each in handoffs if each.round in numbers])
    cost = with_unmoved(cost, [queue for each in rounds for queue in each.unmoved])
    untold = [each.to_move or 1 for each in rounds if each.cost is None or each.left is None]
    return CauseCost(
        cause=cause,
        rounds=tuple(sorted(numbers)),
        moves=_sum(each.moves for each in rounds),
        left=_sum(each.left for each in rounds),
        cost=without(cost, sum(untold)) if untold else cost,
        began_at=min(each.opened_at for each in rounds),
        ended_at=None if None in ends else max(end for end in ends if end is not None),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)


def _dear(each: CauseCost) -> int:
    return each.cost.paused.high if each.cost.paused.high is not None else each.cost.paused.low


def _cost(row: Round, who: str, handoffs: Sequence[Told], unmoved: Mapping[int, Sequence[Unmoved]]) -> RoundCost:
    is_told = row.told_at is not None
    own = tuple(unmoved.get(row.number, ())) if is_told else ()
    cost = with_unmoved(cost_of(handoffs), own)
    cost = without(cost, 1) if row.is_left_untold else cost  # of one at least
    return RoundCost(
        number=row.number,
        wave=row.wave,
        cause=row.cause,
        who=who,
        opened_at=row.opened_at,
        closed_at=row.closed_at,
        moves=row.changed_count if is_told else None,
        cost=cost if is_told else None,
        unmoved=own,
        left=row.left_count if is_told else None,
        to_move=row.move_count,
        last_cause_at=row.last_cause_at,
        before=None if row.members_before is None else frozenset(row.members_before),
        after=None if row.members_after is None else frozenset(row.members_after),
    )


def _told(row: Handoff, of: Round, lasting: Lasting | None) -> Told:
    unowned = Between(row.unowned_low, row.unowned_high) if lasting is None else Between(lasting.low, lasting.high)
    overlap, is_missed = Between(row.overlap_low, row.overlap_high), lasting is not None and lasting.is_waited_for
    if row.taken_at is None and row.dropped_at is not None and not overlap.is_known:
        overlap = Between(0, 0)  # nobody took it beside who let it go
    at = row.dropped_at if row.dropped_at is not None else row.taken_at
    return Told(
        queue=f"{row.topic}/{row.broker}/{row.queue_id}",
        round=of.number,
        at=of.opened_at if at is None else at,
        from_client=row.from_client,
        to_client=row.to_client,
        pause=pause_of(Between(row.pause_low, row.pause_high), unowned) if lasting is None or is_missed else NO_PAUSE,
        unowned=unowned,
        overlap=overlap,
        is_seen=row.dropped_at is not None,
        has_pause=row.dropped_at is not None and (row.taken_at is not None or is_missed),
        dropped=Between(row.dropped_low, row.dropped_high),
        taken=Between(row.taken_low, row.taken_high),
        pulled=Between(row.first_pull_at, row.first_pull_at),
    )


def _elsewhere(told: Told, row: Handoff, of: Round, let: Mapping[Place, Sequence[LetGo]], now: int) -> Told:
    """Count nothing of a queue that was only taken in a round, where an earlier one let it go, and tells of it."""
    found = let.get((row.topic, row.broker, row.queue_id), ()) if row.dropped_at is None else ()
    if told_by(found, of.number, time_of(of, now)) is None:
        return told
    return replace(told, pause=NO_PAUSE, unowned=NO_PAUSE)


def _worst_first(handoffs: Sequence[Told]) -> tuple[str, ...]:
    """Order queues by how long they stood still in all, at most; what is unknown counts as far as it is known."""
    totals: dict[str, int] = {}
    for each in handoffs:
        still = each.pause.high if each.pause.high is not None else each.pause.low
        totals[each.queue] = totals.get(each.queue, 0) + (still or 0)
    return tuple(sorted(totals, key=lambda queue: (-totals[queue], queue)))
