"""What the page of a past instant shows besides the state: the round as it stood, its handoffs so far, who had left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Max, Min, Q, QuerySet

from dashboard.clusters.models import Broker
from dashboard.groups import story
from dashboard.groups.lane import Lane
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Holding, Member, Presence, Round, RoundCause
from dashboard.groups.models.rounds import RoundState
from dashboard.groups.owned import shares_in
from dashboard.groups.past import Shown
from dashboard.groups.rounds import MOST_COUNTED
from dashboard.groups.shares import Share
from dashboard.groups.showing import is_cell_proxied
from dashboard.groups.story import GONE_FOR_MS, GONE_LONG_MS, MOVED_FOR_MS, WINDOWS_MS
from dashboard.groups.words import departure_words
from dashboard.push.messages import Cell, GroupState
from dashboard.push.models import Step
from dashboard.push.publish import group_stream
from rebalance_engine.events import Cause
from rebalance_engine.rounds import BROKERS_CHANGE, MEMBERS_CHANGE

MOST_ROUNDS_TRIED = 4
LONGEST_MS = max(WINDOWS_MS.values())
BROKER = re.compile(r"^broker (.*) \([^()]*\) is (?:gone|back)$")  # the evidence of its cause


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The instants of the changes and rounds before and after one; None: there is none, or it is not kept."""

    previous_change: int | None = None
    next_change: int | None = None
    previous_round: int | None = None
    next_round: int | None = None


@dataclass(frozen=True, slots=True)
class PastMember:
    """A member as it was known then, and from where it was connected. ``told_at``: its last word, if it was silent."""

    member: Cell
    addresses: tuple[str, ...]
    is_proxied: bool = False
    told_at: int | None = None


def neighbours_of(*, group: Group, at: int) -> Neighbours:
    """Give where to go from an instant: a round is looked at when it was first shown."""
    steps = Step.objects.filter(stream__name=group_stream(group.pk))
    before = steps.filter(at__lt=at).aggregate(at=Max("at"))["at"]
    after = steps.filter(at__gt=at).aggregate(at=Min("at"))["at"]
    is_kept = steps.filter(at__lte=at).exists()
    has_all = steps.filter(seq=1).exists()
    rounds = Round.objects.filter(group=group)
    earlier = rounds.filter(opened_at__lt=at).order_by("-number").values_list("opened_at", flat=True)
    seen = [_first_shown(steps, opened) for opened in earlier[:MOST_ROUNDS_TRIED]]
    later = rounds.filter(opened_at__gte=at).order_by("number").values_list("opened_at", flat=True)
    coming = [_first_shown(steps, opened) for opened in later[:MOST_ROUNDS_TRIED]]
    return Neighbours(
        before if before is not None or has_all else _span_before(group, at),
        after if is_kept else (_span_after(group, at) or after),
        max((each for each in seen if each < at), default=None),
        min((each for each in (*seen, *coming) if each > at), default=None),
    )


def round_at(*, group: Group, shown: Shown) -> Round | None:
    """Give the round that was the latest, as it stood then: not to be saved."""
    cell = shown.state.head.round
    row = Round.objects.filter(group=group, number=cell.number).first() if cell is not None else None
    if row is None or cell is None:
        return None
    row.state, row.cause, row.closed_at, row.move_count = cell.state, cell.cause, cell.closed_at, cell.moves
    row.opened_at, row.opened_low, row.waits_for = cell.opened_at, cell.opened_low, cell.waits_for
    row.unknown_members = list(cell.unknown_members)
    if cell.closed_at is None:
        row.superseded_by = None
    if cell.state != RoundState.NOT_CONVERGED.value:
        row.not_converged_at = None
    return row


def causes_at(*, row: Round, at: int) -> list[RoundCause]:
    """Give what was known then of a round's causes."""
    return [cause for cause in row.causes.order_by("at", "pk")[:MOST_COUNTED] if max(cause.at, cause.observed_at) <= at]


def lanes_at(*, row: Round, at: int, now: int) -> list[Lane]:
    """Give the handoffs of a round as far as they had come, worst first."""
    as_stored = Round.objects.get(pk=row.pk)
    cut = (cut_at(lane, at) for lane in lanes_of(as_stored, now=now))
    return sorted((lane for lane in cut if lane is not None), key=lambda lane: lane.weight, reverse=True)


def shares_at(*, row: Round, at: int) -> dict[int, Share]:
    """Give how long queues had no owner, and two, in a round as far as it had come."""
    as_stored = Round.objects.select_related("group").defer("before", "after").get(pk=row.pk)
    return shares_in(row=as_stored, now=at)


def time_bar_at(*, group: Group, at: int, asked: str, now: int) -> tuple[str, dict[str, object]]:
    """Give the time bar with an instant in it: the window that was asked for, or the first that reaches as far back."""
    if at < now - LONGEST_MS:
        since, until = at - LONGEST_MS // 2, min(now, at + LONGEST_MS // 2)
        bar = story.time_bar(group=group, since=since, now=until)
        rounds = bar["rounds"]
        assert isinstance(rounds, list)
        return "", {**bar, "rounds": [each for each in rounds if each["opened_at"] <= until]}
    fits = [name for name, length in WINDOWS_MS.items() if at >= now - length]
    name = asked if asked in fits else fits[0]
    return name, story.time_bar(group=group, since=now - WINDOWS_MS[name], now=now)


def around_at(*, group: Group, state: GroupState, lanes: Sequence[Lane], at: int) -> dict[str, object]:
    """Give what the map shows besides the state: who had left, what had just moved, which brokers were away."""
    return {
        "now": at,
        "left": _left(group, state, at),
        "away": _away(group, at),
        "seen": [],
        "moves": [story.move_of(lane) for lane in lanes[:2_000] if (lane.taken_at or 0) >= at - MOVED_FOR_MS],
    }


def members_at(*, group: Group, shown: Shown, at: int) -> list[PastMember]:
    """Give the members of then with the addresses that are known of then."""
    rows = Presence.objects.filter(Q(gone_at=None) | Q(gone_at__gt=at), member__group=group, at__lte=at)
    addresses: dict[str, list[str]] = {}
    for client, broker, address in rows.order_by("broker", "address").values_list(
        "member__client_id", "broker", "address"
    ):
        addresses.setdefault(client, []).append(f"{broker} {address}")
    return [
        PastMember(cell, tuple(addresses.get(cell.client, ())), is_cell_proxied(cell), shown.told_last.get(cell.client))
        for cell in shown.state.members
    ]


def consume_types_at(*, group: Group, state: GroupState) -> dict[str, str | None]:
    """Give how the members of then take messages, as they said it themselves: it does not change while they run."""
    told = dict(Member.objects.filter(group=group).values_list("client_id", "consume_type"))
    return {cell.client: told.get(cell.client) for cell in state.members}


def cut_at(lane: Lane, at: int) -> Lane | None:
    """Give a handoff as far as it had come; None: it had not begun."""
    dropped, taken, pulled = (_if_by(each, at) for each in (lane.dropped_at, lane.taken_at, lane.first_pull_at))
    if dropped is None and taken is None:
        return None
    if taken is None and dropped is not None:
        if lane.is_gone and (lane.gone_at is None or lane.gone_at <= at):
            return lane
        at_least, at_most = at - _or(lane.dropped[1], dropped), at - _or(lane.dropped[0], dropped)
        low = max(0, min(lane.unowned[0] or 0, at_least))
        return replace(
            lane,
            to_client="" if lane.taken_at is not None else lane.to_client,
            taken_at=None,
            taken=(None, None),
            first_pull_at=None,
            unowned=(low, at_most),
            overlap=(None, None),
            pause=(None, None),
            is_waiting=not lane.is_unknown,
            is_shared=False,
            is_gone=False,
            gone_at=None,
        )
    cut = replace(
        lane, dropped_at=dropped, first_pull_at=pulled, pause=lane.pause if pulled is not None else (None, None)
    )
    if dropped is None and taken is not None and lane.from_client:
        return _two_at(cut, at=at, taken=taken, lane=lane)
    return cut


def _two_at(cut: Lane, *, at: int, taken: int, lane: Lane) -> Lane:
    """Say how long two had a queue so far, since the second one took it; both may not have it any more."""
    low, high = lane.overlap
    at_least, at_most = max(0, at - _or(lane.taken[1], taken)), at - _or(lane.taken[0], taken)
    if lane.dropped_at is None and high is not None and high <= at_most and not lane.is_shared:
        return cut  # the second one had let it go again
    is_exact = low is not None and low == high
    low = at_least if low is None or is_exact else min(low, at_least)
    return replace(cut, overlap=(low, at_most if is_exact else None), unowned=(None, None), is_shared=True)


def _or(bound: int | None, seen: int) -> int:
    return seen if bound is None else bound


def _if_by(instant: int | None, at: int) -> int | None:
    return instant if instant is not None and instant <= at else None


def _first_shown(steps: QuerySet[Step], opened_at: int) -> int:
    """Say when a round was first shown: at the first step since it opened; where none is kept, when it opened."""
    shown = steps.filter(at__gte=opened_at).aggregate(at=Min("at"))["at"]
    is_kept = shown is not None and steps.filter(at__lt=opened_at).exists()
    return int(shown) if is_kept and shown is not None else opened_at


def _span_before(group: Group, at: int) -> int | None:
    ended = Holding.objects.filter(group=group, until__lt=at).aggregate(at=Max("until"))["at"]
    began = Holding.objects.filter(group=group, at__lt=at).aggregate(at=Max("at"))["at"]
    return max((each for each in (ended, began) if each is not None), default=None)


def _span_after(group: Group, at: int) -> int | None:
    ended = Holding.objects.filter(group=group, until__gt=at).aggregate(at=Min("until"))["at"]
    began = Holding.objects.filter(group=group, at__gt=at).aggregate(at=Min("at"))["at"]
    return min((each for each in (ended, began) if each is not None), default=None)


def _left(group: Group, state: GroupState, at: int) -> list[dict[str, object]]:
    kinds = [cause.value for cause in MEMBERS_CHANGE - {Cause.MEMBER_JOINED}]
    here = {cell.client for cell in state.members}
    rows = RoundCause.objects.filter(
        group=group, cause__in=kinds, at__gt=at - GONE_LONG_MS, at__lte=at, client_id__isnull=False
    )
    gone = {row.client_id or "": row for row in rows.order_by("at", "pk")[:2_000] if row.client_id not in here}
    told = group.members.filter(client_id__in=list(gone)).values_list("client_id", "left_at", "departure")
    departures = {(client, left_at): departure for client, left_at, departure in told}
    return [_gone(client, row.at, departures.get((client, row.at))) for client, row in sorted(gone.items())[:200]]


def _gone(client: str, at: int, departure: str | None) -> dict[str, object]:
    until = at + GONE_FOR_MS.get(departure or "", GONE_LONG_MS)
    words = departure_words(departure or "unknown")
    return {"client": client, "at": at, "until": until, "words": words, "departure": departure}


def _away(group: Group, at: int) -> list[str]:
    """Name the brokers that were away: those that are since before, and those that the group's rounds tell of."""
    still = Broker.objects.filter(cluster=group.cluster_id, broker_id=0, gone_at__lte=at).values_list("name", flat=True)
    rows = RoundCause.objects.filter(group=group, cause__in=[each.value for each in BROKERS_CHANGE], at__lte=at)
    last: dict[str, str] = {}
    for cause, evidence in rows.order_by("at", "pk").values_list("cause", "evidence"):
        found = BROKER.match(evidence)
        if found is not None:
            last[found[1]] = cause
    return sorted({*still, *(name for name, cause in last.items() if cause == Cause.BROKER_GONE.value)})
