from __future__ import annotations

from typing import Any

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.pauses.costs import Sum
from dashboard.pauses.lagging import LagOverTime
from dashboard.pauses.present import charts_of, costs_of, rows_of, written
from dashboard.pauses.queries import by_cause, deploys, pauses_of
from tests.dashboard.pauses.rows import add_handoff, add_round, pulled
from tests.dashboard.story import T0


@pytest.mark.parametrize(
    ("total", "words", "mark"),
    [
        (Sum(0, 0, 0), "0\u00a0ms", "exact"),
        (Sum(1_000, 2_000, 0), "1.0\u00a0s\u00a0– 2.0\u00a0s", "bound"),
        (Sum(1_000, None, 2), "≥\u00a01.0\u00a0s", "bound"),
        (Sum(0, None, 2), "unknown", "unknown"),
    ],
)
def test_a_sum_is_written_with_what_is_known_of_it(total: Sum, words: str, mark: str) -> None:
    assert written(total)[:2] == (words, mark)


def test_a_pause_may_have_begun_before_anybody_saw_that_its_owner_had_gone(cluster: Cluster) -> None:
    group = Group.objects.create(cluster=cluster, name="g", added_at=T0)
    add_handoff(add_round(group, 1, T0), 0, dropped_at=T0 + 9_000, dropped_low=T0 - 60_000, dropped_high=None)
    read = pauses_of(group=group, since=T0 - 1, now=T0 + 20_000)

    facts: Any = charts_of(read, [], LagOverTime((), (), is_whole=True), group)

    [span] = facts["spans"]
    assert (span["first"], span["at"]) == (T0 - 60_000, T0 + 9_000)


def test_charts_lead_to_rounds_and_leave_unknown_null(cluster: Cluster) -> None:
    group = Group.objects.create(cluster=cluster, name="g", added_at=T0)
    row = add_round(group, 1, T0)
    add_handoff(row, 0, **pulled(row, 1_300, 1_700))
    add_handoff(row, 1)
    add_round(group, 2, T0 + 10_000, closed_at=None, told_at=None, state="open")
    read = pauses_of(group=group, since=T0 - 1, now=T0 + 20_000)

    lag = LagOverTime(((T0 - 1, 4), (T0 + 2_000, None), (T0 + 9_000, 8)), (), is_whole=True)

    facts: Any = charts_of(read, deploys(read.rounds, read.handoffs), lag, group)

    first, second = facts["rounds"]
    assert first["link"] == f"/groups/{group.pk}/rounds/1/"
    assert (first["longest"], second["longest"]) == ([1_300, None], None)
    assert [(each["low"], each["high"]) for each in facts["spans"]] == [(1_300, 1_700), (800, None)]
    assert facts["lag"] == [[T0 - 1, 4], [T0 + 2_000, None], [T0 + 9_000, 8]]
    rows = rows_of(read.rounds, lag, T0 + 20_000)
    assert [(each["lag_before"], each["lag_most"]) for each in rows] == [(8, 8), (4, 8)]
    assert [str(each["words"]) for each in rows] == ["member joined: C"] * 2
    assert rows[0]["paused"] is None
    [cost] = costs_of(by_cause(read.rounds, read.handoffs))
    assert (cost["rounds"], cost["took"]) == (2, None)
