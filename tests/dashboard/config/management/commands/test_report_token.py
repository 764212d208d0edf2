from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dashboard.clusters.models import Cluster
from dashboard.reports.tokens import find


def run(*words: str) -> str:
    out = StringIO()
    call_command("report_token", *words, stdout=out)
    return out.getvalue().strip()


@pytest.mark.usefixtures("cluster")
def test_a_token_is_made_listed_without_its_secret_and_revoked() -> None:
    token = run("make", "--cluster", "shop", "--group", "g", "--note", "ci")
    row = find(authorization=f"Bearer {token}")
    assert row is not None

    listed = run("list")

    assert token not in listed
    assert f"{token[:10]}…  shop g  good, never used" in listed and listed.endswith("ci")
    assert run("revoke", str(row.pk)) == f"token {row.pk} is revoked"
    assert find(authorization=f"Bearer {token}") is None
    assert "revoked" in run("list")


def test_what_is_not_there_is_named(cluster: Cluster) -> None:
    with pytest.raises(CommandError, match="there is no cluster 'x'; there are: shop"):
        run("make", "--cluster", "x", "--group", "g")
    with pytest.raises(CommandError, match="the group is empty"):
        run("make", "--cluster", cluster.name, "--group", "")
    with pytest.raises(CommandError, match="no good token 7"):
        run("revoke", "7")
