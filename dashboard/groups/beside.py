"""What else is known to have changed where queues changed hands and no cause explains it: never a cause by itself."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q

from dashboard.groups.models import Finding, Presence, Round
from rebalance_engine.findings import Finding as Found
from rebalance_engine.findings import FindingKind

BESIDES = "; "
AROUND_MS = 30_000  # so far apart one may have come of the other: connections are asked for every 10 s, or more seldom
MOST_NAMED = 3
UNTOLD = "not every broker told who is a member"
TELLING = (FindingKind.DIFFERENT_MEMBER_LISTS, FindingKind.DUPLICATE_CLIENT_ID)  # members divide by what brokers list


def known_beside(row: Round, findings: Iterable[Found], before: str) -> str:
    """Say what differed or changed meanwhile; empty where nothing is known to have.

    Args:
        findings: what is found now.
        before: what was told of this round so far.
    """
    found = sorted((each for each in findings if each.kind in TELLING), key=lambda each: TELLING.index(each.kind))
    told = [each.sentence for each in found] or [before.partition(BESIDES)[2].removeprefix(UNTOLD)]
    said = next(filter(None, [*told, *_found_before(row), *_connections(row), *_untold(row)]), "")
    return said[:1].lower() + said[1:]  # it goes on after a semicolon; none of these begins with a name


def _found_before(row: Round) -> list[str]:
    """Say what was found while queues changed hands, though it is over again; of several the last one."""
    found = Finding.objects.filter(group=row.group_id, kind__in=[kind.value for kind in TELLING])
    while_it_began = found.filter(suspected_at__lte=row.opened_at, cleared_at__gte=row.opened_low or row.opened_at)
    return list(while_it_began.order_by("-suspected_at").values_list("sentence", flat=True)[:1])


def _connections(row: Round) -> list[str]:
    """Name the members of which a connection ended, or another one came to the same broker, at about that time."""
    around = ((row.opened_low or row.opened_at) - AROUND_MS, row.opened_at + AROUND_MS)
    same = Presence.objects.filter(member=OuterRef("member"), broker=OuterRef("broker"), at__lt=OuterRef("at"))
    changed = Presence.objects.filter(member__group=row.group_id).filter(
        Q(gone_at__range=around) | Q(Exists(same), at__range=around)
    )
    clients = list(changed.order_by("member__client_id").values_list("member__client_id", flat=True).distinct())
    if not clients:
        return []
    named = ", ".join([*clients[:MOST_NAMED], *("…" for _ in clients[MOST_NAMED : MOST_NAMED + 1])])
    return [f"connections of {named} ended or were replaced at about that time"]


def _untold(row: Round) -> list[str]:
    """Say that not every broker told who is a member, by the last rebalance before."""
    return [UNTOLD] if row.group.untold_count else []
