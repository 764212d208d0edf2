"""What is read about tokens."""

from __future__ import annotations

from dashboard.people.roles import Access, Role
from dashboard.reports.models import ReportToken

MOST = 500


def tokens_of(*, access: Access, most: int = MOST) -> list[ReportToken]:
    """Give the tokens of the groups of which somebody is an admin: the good ones first, then the newest."""
    rows = ReportToken.objects.select_related("cluster").order_by("-pk")[: 10 * most]
    mine = [row for row in rows if access.may(Role.ADMIN, cluster=row.cluster.name, group=row.group_name)]
    return sorted(mine, key=lambda row: row.revoked_at is not None)[:most]


def token_of(*, pk: int, access: Access) -> ReportToken | None:
    """Give one of them; None: there is none, or somebody is no admin of its group."""
    row = ReportToken.objects.select_related("cluster").filter(pk=pk).first()
    if row is None or not access.may(Role.ADMIN, cluster=row.cluster.name, group=row.group_name):
        return None
    return row
