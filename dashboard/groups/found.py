"""What is found wrong now, the gravest first: what the overview begins with, the page of all of it, and the API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Case, Count, F, Q, QuerySet, Value, When, Window
from django.db.models.functions import RowNumber

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Finding, Group
from dashboard.groups.young import explained
from dashboard.people.roles import Access, Role
from rebalance_engine.findings import FindingKind

PAGE = 100
MOST_SHOWN = 6  # on the overview, of one kind in one group once
STATES = ("confirmed", "suspected")
GRAVEST = (  # nobody at all, what makes a group's shares wrong, two owners, no owner; the others in their own order
    FindingKind.NOBODY_CONSUMES,
    FindingKind.DUPLICATE_CLIENT_ID,
    FindingKind.DOUBLE_OWNER,
    FindingKind.ORPHAN_QUEUE,
    FindingKind.RETRY_UNOWNED,
    FindingKind.BY_CONFIG_GAP,
)
KINDS = tuple(kind.value for kind in (*GRAVEST, *(kind for kind in FindingKind if kind not in GRAVEST)))
GRAVITY = Case(*(When(kind=kind, then=Value(place)) for place, kind in enumerate(KINDS)), default=Value(len(KINDS)))
IN_ORDER = (GRAVITY, F("confirmed_at").asc(nulls_last=True), "suspected_at", "pk")


@dataclass(frozen=True, slots=True)
class Sought:
    """Which findings: with these words in sentence, subject or group; of a kind; confirmed or suspected; empty: all."""

    search: str = ""
    kind: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Now:
    """What the overview says of findings.

    Attributes:
        first: the gravest, one of each kind in each group; ``others`` of it are as many more like it.
        count: how many findings there are in all.
        rebalancing: groups that only rebalance, and how many more of them there are.
    """

    first: Sequence[Finding]
    count: int
    rebalancing: list[Group]
    more_rebalancing: int

    @property
    def more(self) -> int:
        """How many findings neither stand here nor are counted by one that does."""
        return self.count - sum(map(_stands_for, self.first))


@dataclass(frozen=True, slots=True)
class Page:
    """One page of findings, by gravity."""

    rows: list[Finding]
    number: int
    pages: int
    count: int


def found(*, clusters: Sequence[Cluster], access: Access, sought: Sought | None = None) -> QuerySet[Finding]:
    """Give the findings there are now that a person may see and asks for, the gravest first."""
    rows = Finding.objects.filter(_visible(clusters, access), cleared_at=None, group__gone_at=None)
    sought = sought or Sought()
    if sought.kind:
        rows = rows.filter(kind=sought.kind)
    if sought.state in STATES:
        rows = rows.filter(confirmed_at__isnull=sought.state == "suspected")
    for word in sought.search.split():
        rows = rows.filter(
            Q(sentence__icontains=word)
            | Q(subject__icontains=word)
            | Q(group__name__icontains=word)
            | Q(kind__icontains=word)
        )
    return in_order(rows)


def in_order(rows: QuerySet[Finding]) -> QuerySet[Finding]:
    """Sort findings: the gravest kind first, confirmed before suspected, the oldest first."""
    return rows.select_related("group", "cluster").order_by(*IN_ORDER)


def page_of(*, rows: QuerySet[Finding], number: int) -> Page:
    """Cut a page; one beyond the last is the last."""
    count = rows.count()
    pages = max(1, -(-count // PAGE))
    number = min(max(1, number), pages)
    return Page(list(rows[(number - 1) * PAGE : number * PAGE]), number, pages, count)


def now_wrong(*, clusters: Sequence[Cluster], access: Access, now: int) -> Now:
    """Give what the overview begins with.

    Queues without owner and with two belong to every rebalance: while a group's round is young, they are no faults.
    """
    every = found(clusters=clusters, access=access)
    alarms = every.filter(_is_alarm(now))
    alike = [F("group"), F("kind")]
    first = alarms.annotate(
        place=Window(RowNumber(), partition_by=alike, order_by=IN_ORDER[1:]),
        others=Window(Count("pk"), partition_by=alike) - 1,
    )
    young = every.filter(explained(now)).order_by("group").values_list("group", flat=True).distinct()
    busy = Group.objects.filter(pk__in=young).order_by("name")
    shown = list(busy[: MOST_SHOWN + 1])
    more = busy.count() - MOST_SHOWN if len(shown) > MOST_SHOWN else 0
    gravest = list(first.filter(place=1)[: MOST_SHOWN + 1])
    count = alarms.count() if len(gravest) > MOST_SHOWN else sum(map(_stands_for, gravest))
    return Now(gravest[:MOST_SHOWN], count, shown[:MOST_SHOWN], more)


def _stands_for(row: Finding) -> int:
    """Count a finding of the overview with the others like it."""
    return 1 + int(getattr(row, "others", 0))


def groups_with_any(*, clusters: Sequence[Cluster], now: int) -> set[int]:
    """Give the groups of which anything is found wrong: by number, whoever may see them."""
    rows = Finding.objects.filter(_is_alarm(now), cluster__in=clusters, cleared_at=None, group__gone_at=None)
    return set(rows.filter(group__isnull=False).order_by().values_list("group", flat=True).distinct())


def _is_alarm(now: int) -> Q:
    on_purpose = Q(kind=FindingKind.ON_PURPOSE.value)  # no alarm: the group's page tells of it
    return ~on_purpose & ~explained(now)


def _visible(clusters: Sequence[Cluster], access: Access) -> Q:
    """Say which findings a person may see; what is of no group is for whoever may see all groups of its cluster."""
    whole = [each.pk for each in clusters if access.may_everywhere(Role.VIEWER, cluster=each.name)]
    part = {each.pk: each.name for each in clusters if each.pk not in whole}
    if not part:
        return Q(cluster__in=whole)
    wrong = Group.objects.filter(cluster__in=part, findings__cleared_at=None, findings__isnull=False).distinct()
    names = wrong.order_by().values_list("pk", "cluster", "name")
    mine = [pk for pk, cluster, name in names if access.may(Role.VIEWER, cluster=part[cluster], group=name)]
    return Q(cluster__in=whole) | Q(group__in=mine)
