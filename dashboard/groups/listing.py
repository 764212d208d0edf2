"""What the overview reads: groups that a person may see, searched, filtered, sorted and cut into pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import F, Q
from django.utils.translation import gettext as _

from dashboard.clusters.models import Cluster
from dashboard.common.spans import HARD
from dashboard.groups.cells import Cells, bands_of, cells_of
from dashboard.groups.finding import Search
from dashboard.groups.found import groups_with_any
from dashboard.groups.lag import lags_by_group
from dashboard.groups.lately import WINDOW_MS
from dashboard.groups.models import Group, Round
from dashboard.groups.showing import row_of
from dashboard.groups.small import Small, figures_of, shrink
from dashboard.groups.unseen import fared_of
from dashboard.groups.whose import whose
from dashboard.groups.words import GRAVE, State, is_bound, state_of
from dashboard.people.roles import Access, Role
from dashboard.push.messages import GroupSnapshot, Row, decode
from dashboard.push.models import Stream
from dashboard.push.publish import group_stream, overview_stream
from dashboard.push.runs import Runs, pack

PAGE = 100
SORTS = ("state", "name", "members", "queues", "round", "lag")
FILTERS = ("all", "findings", "owners", "moving", "unknown")
STRIP_MS = WINDOW_MS  # what the small time axis shows
ANY = Q()
MAY_BE_WITHOUT_ONE_OWNER = Q(orphan_count__gt=0) | Q(double_count__gt=0) | Q(member_count=0)
LARGEST_SMALL = 200_000  # bytes of a stored state; a larger group's map in the small is left out


@dataclass(frozen=True, slots=True)
class Listed:
    """One row; ``who`` stands behind its last round, ``cells`` say how it fared lately, ``looked_at`` of when it is.

    ``has_findings``: whether anything is found wrong with it; asked of lists alone.
    """

    cluster: Cluster
    row: Row
    state: State
    who: str = ""
    cells: Cells = field(default_factory=dict)
    looked_at: int | None = None
    has_findings: bool = False

    @property
    def stream(self) -> str:
        """What its changes come by."""
        return overview_stream(self.cluster.pk)

    @property
    def doubles_at_least(self) -> str:
        """How many queues two hold at least; empty where it is known exactly, or not at all."""
        return f"≥{HARD}{self.row.doubles}" if self.row.doubles and is_bound(self.row) else ""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of rows, and the figures of all that the person may see; ``known`` are the numbers of these groups.

    ``counts`` are of what is searched for, by filter; ``groups``, ``members`` and ``queues`` of all.
    """

    rows: tuple[Listed, ...]
    number: int
    pages: int
    found: int
    counts: dict[str, int]
    groups: int
    members: int
    queues: int
    known: Runs = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for; every part of it is in the URL."""

    search: str = ""
    only: str = "all"
    sort: str = "state"
    page: int = 1


def list_groups(*, clusters: Sequence[Cluster], access: Access, wish: Wish, now: int) -> Page:
    """Give a page of groups. All of them are read: 2,500 narrow rows take less than a tenth of a second."""
    all_of_them = _with_findings(_visible(clusters, access), clusters, now)
    search = Search.of(wish.search, clusters=clusters)
    found = [each for each in all_of_them if search.finds(each.row.id, _text_of(each))]
    counts = {name: sum(_passes(each, name) for each in found) for name in FILTERS}
    chosen = _sorted((each for each in found if _passes(each, wish.only)), wish.sort, clusters)
    pages = max(1, -(-len(chosen) // PAGE))
    number = min(max(1, wish.page), pages)
    return Page(
        tuple(chosen[(number - 1) * PAGE : number * PAGE]),
        number,
        pages,
        len(chosen),
        counts,
        len(all_of_them),
        sum(each.row.members or 0 for each in all_of_them),
        sum(each.row.queues or 0 for each in all_of_them),
        pack([each.row.id for each in all_of_them]),
    )


def chosen(*, clusters: Sequence[Cluster], access: Access, wish: Wish, now: int) -> list[Listed]:
    """Give all groups that are asked for, in their order: what a page is cut from."""
    search = Search.of(wish.search, clusters=clusters)
    all_of_them = _with_findings(_visible(clusters, access), clusters, now)
    found = (each for each in all_of_them if search.finds(each.row.id, _text_of(each)))
    return _sorted((each for each in found if _passes(each, wish.only)), wish.sort, clusters)


def _visible(clusters: Sequence[Cluster], access: Access, which: Q = ANY) -> list[Listed]:
    by_pk = {cluster.pk: cluster for cluster in clusters}
    groups = Group.objects.filter(which, cluster__in=by_pk, gone_at=None).defer("fingerprint").order_by("name")
    visible = [
        group for group in groups if access.may(Role.VIEWER, cluster=by_pk[group.cluster_id].name, group=group.name)
    ]
    return [_listed(group, by_pk[group.cluster_id]) for group in visible]


def _with_findings(rows: list[Listed], clusters: Sequence[Cluster], now: int) -> list[Listed]:
    wrong = groups_with_any(clusters=clusters, now=now)
    return [replace(each, has_findings=True) if each.row.id in wrong else each for each in rows]


def listed(*, group: Group) -> Listed:
    """Give one group's row; one that is gone stands in no list, and is in no state but that."""
    found = _listed(group, group.cluster)
    return found if group.gone_at is None else replace(found, state=State("unknown", _("gone")))


def without_one_owner(*, clusters: Sequence[Cluster], access: Access) -> set[int]:
    """Give the groups in which queues have no owner, or two, whether that is a finding or not: those of the filter."""
    some = _visible(clusters, access, MAY_BE_WITHOUT_ONE_OWNER)
    return {each.row.id for each in some if _passes(each, "owners")}


def may_see(group: Group, cluster: Cluster, access: Access) -> bool:
    """Ask whether a person may see a group."""
    return access.may(Role.VIEWER, cluster=cluster.name, group=group.name)


def smalls(*, groups: Sequence[int], now: int) -> dict[int, dict[str, object]]:
    """Give maps in the small and the last rounds of groups, as plain values for the browser."""
    names = {group_stream(pk): pk for pk in groups}
    found: dict[int, dict[str, object]] = {
        pk: {"map": None, "figures": {}, "rounds": [], "latest": None} for pk in groups
    }
    for name, state in Stream.objects.filter(name__in=names).values_list("name", "state"):
        if state and len(state) <= LARGEST_SMALL:
            message = decode(bytes(state))
            assert isinstance(message, GroupSnapshot)
            found[names[name]]["map"] = _plain(shrink(message.state))
            found[names[name]]["figures"] = figures_of(message.state)
    for group, rounds in _last_rounds(groups, now).items():
        found[group]["latest"] = rounds[-1]
        found[group]["rounds"] = [each for each in rounds if _is_of_strip(each["closed_at"], now)]
    for group, told in fared(groups=groups, now=now).items():
        found[group] |= told
    return found


def fared(*, groups: Sequence[int], now: int) -> dict[int, dict[str, object]]:
    """Give how groups fared lately, and when they were looked at, as plain values: beside their rows, and in strips."""
    return {
        pk: {
            "cells": cells_of(each),
            "bands": bands_of(each),
            "lag": each.waiting.lag if each.waiting else None,
            "looked_at": each.looked_at,
        }
        for pk, each in fared_of(groups=groups, now=now).items()
    }


def beside_their_maps(page: Page, smalls: dict[int, dict[str, object]]) -> Page:
    """Give the rows the figures of the states that their maps show, and name who stands behind their last rounds.

    A group's row is read before its map: between the two a rebalance may have come.
    """
    return replace(page, rows=tuple(_beside(each, smalls[each.row.id]) for each in page.rows))


def _beside(each: Listed, small: dict[str, object]) -> Listed:
    row = replace(each.row, **small["figures"])  # type: ignore[arg-type] # fields of a row, by their names
    latest = small["latest"]
    who = latest["who"] if isinstance(latest, dict) and latest["number"] == row.round else ""
    cells = small.get("cells", {})
    looked_at = small.get("looked_at")
    return Listed(each.cluster, row, state_of(row), who, cells, looked_at)  # type: ignore[arg-type] # as ``fared`` does


def _last_rounds(groups: Sequence[int], now: int) -> dict[int, list[dict[str, object]]]:
    """Give the rounds of the strip and the latest one, the latest last."""
    is_shown = Q(closed_at=None) | Q(closed_at__gte=now - STRIP_MS) | Q(number=F("group__round_number"))
    rows = Round.objects.filter(is_shown, group__in=groups)
    names = whose(rounds=rows)
    rounds: dict[int, list[dict[str, object]]] = {}
    for row in rows.order_by("number").only("group", "number", "cause", "opened_at", "closed_at", "move_count"):
        rounds.setdefault(row.group_id, []).append(
            {
                "number": row.number,
                "cause": row.cause,
                "opened_at": row.opened_at,
                "closed_at": row.closed_at,
                "moves": row.move_count,
                "who": names.get(row.pk, ""),
            }
        )
    return rounds


def _is_of_strip(closed_at: object, now: int) -> bool:
    return not isinstance(closed_at, int) or closed_at >= now - STRIP_MS


def _plain(small: Small) -> dict[str, object]:
    return {"columns": small.columns, "bands": small.bands, "faults": small.faults}


def _listed(group: Group, cluster: Cluster) -> Listed:
    row = row_of(group)
    return Listed(cluster, row, state_of(row))


def _text_of(each: Listed) -> str:
    return f"{each.row.group} {each.cluster.name} {each.row.strategy} {each.state.words} {each.row.round_cause or ''}"


def _sorted(rows: Iterable[Listed], sort: str, clusters: Sequence[Cluster]) -> list[Listed]:
    if sort != "lag":
        return sorted(rows, key=lambda each: _key(each, sort))
    lags = lags_by_group(clusters=[cluster.pk for cluster in clusters])
    return sorted(rows, key=lambda each: (-lags.get(each.row.id, -1), each.row.group))


def _passes(each: Listed, only: str) -> bool:
    if only == "findings":
        return each.has_findings
    if only == "owners":
        return each.state.kind in {"two", "none"}
    if only == "moving":  # whatever else is the matter with it: its row says that a round is open
        return each.state.kind == "moving" or _has_open_round(each.row)
    return only in {"all", each.state.kind}


def _has_open_round(row: Row) -> bool:
    return row.round_opened_at is not None and row.round_closed_at is None


def _key(each: Listed, sort: str) -> tuple[object, ...]:
    row = each.row
    if sort == "name":
        return (row.group,)
    if sort in {"members", "queues"}:
        figure = row.members if sort == "members" else row.queues
        return (-(figure if figure is not None else -1), row.group)
    if sort == "round":
        return (-(row.round_opened_at or 0), row.group)
    return (GRAVE.index(each.state.kind), -((row.orphans or 0) + (row.doubles or 0)), row.group)
