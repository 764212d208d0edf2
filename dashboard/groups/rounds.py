"""What pages read of rounds: lists, one with its neighbours, and who holds what in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dashboard.clusters.silences import told_until
from dashboard.groups.ending import moved_so_far
from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.showing import is_cell_proxied
from dashboard.groups.whose import whose
from dashboard.push.messages import GroupState
from dashboard.push.runs import count, unpack
from rebalance_engine.events import Cause
from rebalance_engine.rounds import MEMBERS_CHANGE

PAGE = 50
WENT = frozenset(cause.value for cause in MEMBERS_CHANGE - {Cause.MEMBER_JOINED})
MEMBER = frozenset(cause.value for cause in MEMBERS_CHANGE)
MOST_COUNTED = 20_000
MOST_PARTS = 60
LARGEST_STATE = 2_000_000  # bytes of a stored state that a round's page still shows as a map


@dataclass(frozen=True, slots=True)
class RoundsPage:
    """One page of a group's rounds, newest first."""

    rows: tuple[Round, ...]
    number: int
    pages: int
    count: int


def latest_of(*, group: Group) -> Round | None:
    """Give the newest round."""
    return Round.objects.filter(group=group).order_by("-number").first()


def newest(*, group: Group, most: int, now: int) -> list[Round]:
    """Give the newest rounds, without their states; ``who`` of each stands behind its cause.

    ``moved_so_far`` of one that is open is how many queues changed owner in it, by ``told_until``, when the last was
    heard of its cluster.
    """
    rows = Round.objects.filter(group=group).order_by("-number").defer("before", "after")
    return _named(list(rows[:most]), told_until(group.cluster, now))


def find(*, group: Group, number: int) -> Round | None:
    """Give a round by its number."""
    return Round.objects.filter(group=group, number=number).select_related("group__cluster").first()


def page_of(*, group: Group, number: int, now: int) -> RoundsPage:
    """Give a page of rounds, each as ``newest`` does."""
    rows = Round.objects.filter(group=group).order_by("-number").defer("before", "after")
    total = rows.count()
    pages = max(1, -(-total // PAGE))
    number = min(max(1, number), pages)
    shown = _named(list(rows[(number - 1) * PAGE : number * PAGE]), told_until(group.cluster, now))
    return RoundsPage(tuple(shown), number, pages, total)


def _named(rows: list[Round], until: int) -> list[Round]:
    names = whose(rounds=Round.objects.filter(pk__in=[row.pk for row in rows]))
    for row in rows:
        row.told_until = until  # type: ignore[attr-defined] # for the template alone
        row.moved_so_far = moved_so_far(row, now=until)  # type: ignore[attr-defined] # likewise
        row.who = names.get(row.pk, "")  # type: ignore[attr-defined] # likewise
    return rows


def neighbours_of(row: Round) -> tuple[Round | None, Round | None]:
    """Give the rounds before and after one, as far as they are kept."""
    others = Round.objects.filter(group=row.group_id).defer("before", "after")
    before = others.filter(number__lt=row.number).order_by("-number").first()
    return before, others.filter(number__gt=row.number).order_by("number").first()


def causes_of(row: Round, *, most: int = MOST_COUNTED) -> list[RoundCause]:
    """Give what proves a round's cause, the first of it first."""
    return list(row.causes.order_by("at", "pk")[:most])


def held_by(state: GroupState) -> list[dict[str, object]]:
    """Say the map in words, member by member: the table for whoever cannot see it, and the first paint."""
    starts: list[tuple[int, str, str, np.ndarray[tuple[int], np.dtype[np.int64]]]] = []
    number = 0
    for part in state.queues:
        ids = unpack(part.ids)
        starts.append((number, part.topic, part.broker, ids))
        number += len(ids)
    return [
        {
            "cell": cell,
            "is_proxied": is_cell_proxied(cell),
            "held": None if cell.held is None else _places(set(unpack(cell.held).tolist()), starts),
            "wanted": _places(set(unpack(cell.target).tolist()) - _held(cell.held), starts),
            "extra": _places(_held(cell.held) - set(unpack(cell.target).tolist()), starts)
            if state.head.is_target_known
            else [],
            "count": None if cell.held is None else count(cell.held),
        }
        for cell in state.members
    ]


def _held(runs: tuple[int, ...] | None) -> set[int]:
    return set(unpack(runs or ()).tolist())


def _places(
    numbers: set[int], parts: list[tuple[int, str, str, np.ndarray[tuple[int], np.dtype[np.int64]]]]
) -> list[str]:
    """Write queue numbers as ``topic/broker 0-3, 7``."""
    found = []
    for start, topic, broker, ids in parts:
        mine = [int(each) for place, each in enumerate(ids) if start + place in numbers] if numbers else []
        if mine:
            found.append(f"{topic}/{broker} {_runs(mine)}")
        if len(found) >= MOST_PARTS:
            found.append("…")
            break
    return found


def _runs(numbers: list[int]) -> str:
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}–{high}" for low, high in parts)
