"""Filters that put a group's values into words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django import template
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.common.shown import shown
from dashboard.common.spans import age, span
from dashboard.groups.asking import outcome_words, receipt_words, words_of
from dashboard.groups.first.map import Picture, room_of
from dashboard.groups.first.map import Row as MapRow
from dashboard.groups.listing import Listed
from dashboard.groups.looked import Looked, look_words
from dashboard.groups.models import Finding, Round
from dashboard.groups.paragraph import more_changes_of
from dashboard.groups.pictured import Load
from dashboard.groups.proofs import proven_at
from dashboard.groups.words import cause_words, round_state_words
from dashboard.push.messages import Fault, Row
from rebalance_engine.events import Cause
from rebalance_engine.model import MessageModel
from rebalance_engine.rounds import NOT_CONVERGED_MS

register = template.Library()
LONGEST_NAME = 40  # letters, as in the map
MEMBERS_A_PAGE = 25
LEFT_OUT = re.compile(r"and (\d+) more alike")  # as the engine's ``first_rows`` ends
LEGEND = (
    Cause.MEMBER_JOINED,
    Cause.MEMBER_LEFT,
    Cause.HEARTBEAT_EXPIRED,
    Cause.MANY_AT_ONCE,
    Cause.BROKER_GONE,
    Cause.BROKER_BACK,
    Cause.ROUTE_CHANGED,
    Cause.UNKNOWN,
)
RARE = (
    Cause.SUBSCRIPTION_CHANGED,
    Cause.STRATEGY_CHANGED,
    Cause.CONFIG_CHANGED,
    Cause.PLAN_CHANGED,
    Cause.HELD_CHANGED,
    Cause.MANUAL,
)


@register.filter
def cause(value: str | None) -> str:
    """Put a round's cause into words."""
    return cause_words(value)


@register.inclusion_tag("groups/_causes.html")
def causes_legend(model: str | None = None) -> dict[str, object]:
    """Say what the heads of rounds mean; rare ones where the time bar has one (``time-bar.js``).

    And what its bands do, which a group that broadcasts has none of; their colours have their words beside them.
    """
    has_bands = model != MessageModel.BROADCASTING.value
    return {"causes": [each.value for each in LEGEND], "rare": [each.value for each in RARE], "has_bands": has_bands}


@register.filter
def round_state(value: str) -> str:
    """Put a round's state into words."""
    return round_state_words(value)


@register.filter
def more_changes(row: Round) -> int:
    """Count the changes of a round that its paragraph only counts: the page leads to them."""
    return more_changes_of(row)


@register.filter
def verb(value: str) -> str:
    """Put what was ordered into words; what is no order stays as it is."""
    return words_of(value)


@register.filter
def outcome(value: str) -> str:
    """Put what became of an order into words."""
    return outcome_words(value)


@register.filter
def receipt(value: str) -> str:
    """Put what an order did to a member into words."""
    return receipt_words(value)


@register.filter
def looked(row: Listed | None, now: int | str) -> Looked:
    """Say how old a row of the overview is; nothing of one that is cloned, and filled then."""
    if row is None or isinstance(now, str):
        return Looked(False)
    return look_words(looked_at=row.looked_at, watched_at=row.cluster.watched_at, now=now)


@register.filter
def proof_at(found: Fault | Finding, seen: Mapping[int, int] | int | str | None) -> int | None:
    """Say of when the proof of a finding is; ``seen`` is when its group was seen last, or each group. None: unknown."""
    mine = seen.get(getattr(found, "group_id", None) or 0) if isinstance(seen, Mapping) else seen
    return proven_at(found.kind, mine, found.suspected_at) if isinstance(mine, int) else None


@register.filter
def beyond(proof: Sequence[str], first: int) -> int:
    """Count the rows of a proof beyond the first: also those that are not kept, which its last row counts."""
    rest = LEFT_OUT.fullmatch(proof[-1])
    return len(proof) - first if rest is None else len(proof) - 1 - first + int(rest[1])


@register.filter
def ago(at: int, now: int | str) -> str:
    """Say how long ago an instant was; nothing on a page that has no time of its own."""
    return "" if isinstance(now, str) else _("%(span)s ago") % {"span": age(now - at)}


@register.filter
def of_a_kind(faults: Sequence[Fault]) -> list[tuple[Fault, list[Fault]]]:
    """Put faults of one kind together: the first, and the others."""
    kinds: dict[str, list[Fault]] = {}
    for fault in faults:
        kinds.setdefault(fault.kind, []).append(fault)
    return [(each[0], each[1:]) for each in kinds.values()]


@dataclass(frozen=True, slots=True)
class Paged:
    """The rows of one page, the ``first`` of ``count``, and the ways to the pages around it, None where none is."""

    rows: Sequence[object]
    count: int
    first: int
    before: str | None
    after: str | None

    @property
    def last(self) -> int:
        """The number of the last row of the page."""
        return self.first + len(self.rows) - 1


@register.filter
def paged(rows: Sequence[object], request: HttpRequest) -> Paged:
    """Cut rows about members into pages: ``?members=`` in the address says which; the nearest where there is none."""
    asked = request.GET.get("members", "")
    last = max(1, -(-len(rows) // MEMBERS_A_PAGE))
    number = min(max(1, int(asked) if asked.isdecimal() and len(asked) < 7 else 1), last)
    first = (number - 1) * MEMBERS_A_PAGE

    def way(to: int) -> str:
        query = request.GET.copy()
        query.pop("part", None)
        query["members"] = str(to)
        return f"{request.path}?{query.urlencode()}"

    return Paged(
        rows[first : first + MEMBERS_A_PAGE],
        len(rows),
        first + 1,
        way(number - 1) if number > 1 else None,
        way(number + 1) if number < last else None,
    )


@register.filter
def dumbbells(loads: Sequence[Load]) -> list[dict[str, object]]:
    """Place loads on one axis from 4 to 96, nothing to the most of all; cut names as the map does.

    Each ``name`` is what an id has in common with its neighbours, and its own rest, by which it is told apart.
    """
    most = max((each for load in loads for each in (load.before, load.after) if each is not None), default=0) or 1

    def place(queues: int | None) -> int | None:
        return None if queues is None else 4 + round(92 * queues / most)

    names = tails([shown(load.client, LONGEST_NAME) for load in loads])
    return [
        {"load": load, "name": name, "before": place(load.before), "after": place(load.after)}
        for load, name in zip(loads, names, strict=True)
    ]


@register.simple_tag
def lanes_room(lanes: Sequence[object]) -> SafeString:
    """Keep the place of handoffs that a script draws: so high, in most cases, in a wide window and on a phone."""
    heights = (("wide", 26 + 35 * len(lanes)), ("phone", 26 + 58 * len(lanes)))
    room = '<svg class="room" data-of="{}" width="1" height="{}"></svg>'
    return format_html_join("", room, heights)


@register.simple_tag
def map_room(picture: Picture | None, beside: Picture | None = None, *, has_foot: bool = False) -> SafeString | str:
    """Keep the place of a map that a script draws, also where it is in tiles because the one beside it is large."""
    if picture is None:
        return ""
    drawn = [each for each in (picture, beside) if each is not None]
    return format_html(
        '<svg class="room" width="1" height="{}" aria-hidden="true"></svg>', room_of(drawn, has_foot=has_foot)
    )


@register.filter
def with_tails(rows: Sequence[MapRow]) -> list[tuple[MapRow, tuple[str, str]]]:
    """Give rows of the map, each with its name as ``tails`` cuts it."""
    return list(zip(rows, tails([row.name for row in rows]), strict=True))


@register.filter
def plain(value: float) -> str:
    """Write a measure of a drawing, in any language with a point."""
    return f"{value:.6g}"


def tails(names: Sequence[str]) -> list[tuple[str, str]]:
    """Cut names into what they have in common with the most similar ones, and the rest; as ``map-rows.js`` does."""
    if len(names) == 1:
        return [_cut(names[0], names[0].find("@") + 1)]
    order = sorted(set(names))
    common = [_common(one, other) for one, other in pairwise(order)]
    same = {name: max([0, *common[max(0, at - 1) : at + 1]]) for at, name in enumerate(order)}
    return [_cut(name, _border(name, same[name])) for name in names]


def _common(one: str, other: str) -> int:
    """Count the first letters that two names have in common."""
    differing = (at for at, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its)
    return next(differing, min(len(one), len(other)))


def _cut(name: str, end: int) -> tuple[str, str]:
    return name[:end], name[end:]


def _border(name: str, same: int) -> int:
    """Say where an id's own part begins: behind a mark that parts ids, within what is common."""
    border = max(name.rfind(mark, 0, same + 1) for mark in "@#-.") + 1
    return border if border <= same else 0


@register.filter
def round_when(row: Row, now: int) -> str:
    """Say how the latest round of a group stands: open for how long, or how long ago it ended."""
    if row.round_opened_at is None:
        return ""
    if row.round_closed_at is None:
        is_late = now - row.round_opened_at >= NOT_CONVERGED_MS
        words = _("not converged, open for %(span)s") if is_late else _("open for %(span)s")
        return words % {"span": span(now - row.round_opened_at)}
    ago = _("%(span)s ago") % {"span": span(now - row.round_closed_at)}
    if row.round_moves is None or row.members == 0:  # what all have left moved to nobody
        return ago
    return f"{ago}, " + _("%(n)s moved") % {"n": row.round_moves}
