from __future__ import annotations

from dashboard.audit.models import AuditEntry
from dashboard.clusters.models import Cluster
from dashboard.reports.models import ReportToken
from dashboard.reports.tokens import find, make, note_use, revoke
from tests.dashboard.story import T0


def test_a_token_is_found_by_its_header_and_kept_nowhere(cluster: Cluster) -> None:
    token, row = make(cluster=cluster, group="g", author="ada", now=T0, note="the billing hosts")

    assert find(authorization=f"Bearer {token}") == row
    assert find(authorization=f"bearer  {token} ") == row
    kept = [str(value) for value in ReportToken.objects.values_list().get()]
    logged = [f"{entry.subject} {entry.detail}" for entry in AuditEntry.objects.all()]
    assert not any(token in text for text in kept + logged)


def test_what_is_no_good_token_is_not_found(cluster: Cluster) -> None:
    token, _row = make(cluster=cluster, group="g", author="ada", now=T0)

    for wrong in (
        "",
        "Bearer",
        "Bearer ",
        f"Basic {token}",
        token,
        f"Bearer {token}x",
        f"Bearer {token[:-1]}",
        "Bearer \0é",
    ):
        assert find(authorization=wrong) is None, wrong


def test_a_revoked_token_opens_nothing_and_stays_revoked(cluster: Cluster) -> None:
    token, row = make(cluster=cluster, group="g", author="ada", now=T0)

    assert revoke(token=row.pk, author="bo", now=T0 + 1)
    assert not revoke(token=row.pk, author="eve", now=T0 + 2)

    row.refresh_from_db()
    assert (row.revoked_by, row.revoked_at) == ("bo", T0 + 1)
    assert find(authorization=f"Bearer {token}") is None
    assert [(entry.author, entry.verb) for entry in AuditEntry.objects.order_by("number")] == [
        ("ada", "make a report token"),
        ("bo", "revoke a report token"),
    ]


def test_its_use_is_noted_once_a_minute(cluster: Cluster) -> None:
    _token, row = make(cluster=cluster, group="g", author="ada", now=T0)

    for at in (1_000, 30_000, 61_001):
        note_use(token=row, now=T0 + at)
        row.refresh_from_db()
        assert row.used_at == T0 + (61_001 if at > 61_000 else 1_000)
