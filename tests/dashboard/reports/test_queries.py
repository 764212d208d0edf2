from __future__ import annotations

from dashboard.clusters.models import Cluster
from dashboard.people.roles import Access, Role, Scope
from dashboard.reports.queries import token_of, tokens_of
from dashboard.reports.tokens import revoke
from tests.dashboard.reports.facts import token_of as made
from tests.dashboard.story import T0


def test_an_admin_sees_the_tokens_of_the_own_groups_good_ones_first(cluster: Cluster) -> None:
    (_, first), (_, second), (_, other) = made(cluster), made(cluster), made(cluster, "billing")
    revoke(token=second.pk, author="ada", now=T0)
    access = Access("bo", (Scope(Role.ADMIN, groups="g"), Scope(Role.OPERATOR)))

    assert [row.pk for row in tokens_of(access=access)] == [first.pk, second.pk]
    assert token_of(pk=first.pk, access=access) == first
    assert token_of(pk=other.pk, access=access) is None
    assert token_of(pk=10_000, access=access) is None
