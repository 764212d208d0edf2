"""Who was lost comes back under its id: nothing that was told for certain of before becomes less certain by that."""

from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.account import account_of, figures_of
from dashboard.groups.ending import tell_again, tell_ended
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lately import lately_of
from dashboard.groups.models import Group, Handoff, Holding, Round
from dashboard.groups.story import time_bar
from dashboard.pauses.queries import pauses_of
from tests.dashboard.groups.test_story import turn
from tests.dashboard.story import T0, held, joined, left, listed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
NOW = T0 + 140_000
Queues = dict[str, list[int]]
FIRST: Queues = {"A": [0, 1], "B": [2], "C": [3]}
HEIRS: Queues = {"B": [0, 1], "C": [2, 3]}
LAST: Queues = {"AA": [0, 1], "B": [2], "C": [3]}


@pytest.fixture
def group() -> Group:
    """A is lost at 20 s, B has its queues at 25 s, lets them go by 61 s, and AA has them at 70 s: two rounds."""
    told(route(4), *seen("A"), *seen("B"), *seen("C"))
    looked(10, FIRST)
    looked(19_000, FIRST)
    told(left("A", 20_000), at=20_000)
    looked(20_000, {"B": [2], "C": [3]})
    looked(24_000, {"B": [2], "C": [3]})
    looked(25_000, HEIRS)
    looked(60_000, HEIRS)
    told(joined("AA", 60_500, low=60_000), *seen("AA", 60_500)[1:], at=60_500)
    looked(61_000, {"AA": [], "B": [], "C": [2, 3]})
    looked(69_000, {"AA": [], "B": [], "C": [2, 3]})
    looked(70_000, LAST)
    return Group.objects.get()


def looked(at: int, have: Queues) -> None:
    """All of them tell what they have."""
    told(listed(at, *have), *(held(client, at, own) for client, own in have.items()), at=at)
    turn(at + 100)
    tell_ended(group=Group.objects.get().pk, now=T0 + at + 100)


def is_back(at: int) -> None:
    """A is back, and tells that it has nothing."""
    told(joined("A", at - 500, low=at - 1_000), *seen("A", at)[1:], at=at)
    looked(at, {"A": [], **LAST})


def all_told(group: Group) -> dict[str, list[object]]:
    """Give what each place tells of time without owner in rounds 1 and 2."""
    Cluster.objects.update(watched_at=NOW)
    rows = list(Round.objects.filter(number__lte=2).order_by("number"))
    accounts = [account_of(row=row, now=NOW) for row in rows]
    bars = [time_bar(group=group, since=T0 + since, now=NOW) for since in (0, 62_000)]
    lately = lately_of(groups=[group.pk], now=NOW)[group.pk]
    pauses = pauses_of(group=group, since=T0, now=NOW)
    stored = Handoff.objects.filter(round__in=rows, queue_id=0).order_by("round")
    return {
        "figures": [figures_of(row=row, account=each, twice=None) for row, each in zip(rows, accounts, strict=True)],
        "lanes": [each.unowned for row in rows for each in lanes_of(row, now=NOW) if each.queue_id == 0],
        "stored": list(stored.values_list("unowned_low", "unowned_high")),
        "bars": [(bar["none"], bar["perhaps_none"]) for bar in bars],
        "lately": [lately.unowned and lately.unowned.low],
        "pauses": [each.cost and each.cost.unowned for each in pauses.rounds if each.number <= 2],
    }


def test_what_others_let_go_of_since_is_as_certain_as_it_was(group: Group) -> None:
    before = all_told(group)
    assert before["lanes"] == before["stored"] == [(0, 6_000), (8_000, 10_000)]
    is_back(120_000)
    bound = Holding.objects.get(member__client_id="A", queue__queue_id=0).until_high
    tell_again(group=group.pk, since=T0 + 60_000, until=T0 + 71_000, now=T0 + 121_000)
    tell_ended(group=group.pk, now=T0 + 121_100)

    assert bound == T0 + 120_000
    assert all_told(group) == before
