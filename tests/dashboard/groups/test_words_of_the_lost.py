"""Who was lost may report later that it let go later: it owned nothing meanwhile, and every place says so."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.groups.ending import tell_again
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lately import lately_of
from dashboard.groups.models import Group, Handoff, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.story import time_bar
from dashboard.pauses.queries import pauses_of
from rebalance_engine.events import EXACT, DropReason, QueueDropped
from tests.dashboard.groups.test_story import turn
from tests.dashboard.story import REPORT, T0, held, joined, left, listed, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
Within = tuple[int, int | None]


@pytest.fixture
def group() -> Group:
    """A is lost at 20 s, and B has its queue at 25 s; at 41 s A's report comes that it let go at 30 s."""
    told(route(4), listed(0, "A", "B"), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, [1, 2, 3]))
    turn(20)
    told(held("A", 19_000, [0]), held("B", 19_000, [1, 2, 3]), at=19_000)
    told(left("A", 20_000), listed(20_000, "B"), held("B", 20_000, [1, 2, 3]), at=20_000)
    turn(20_100)
    told(held("B", 24_000, [1, 2, 3]), at=24_000)
    told(held("B", 25_000, [0, 1, 2, 3]), at=25_000)
    turn(25_100)
    told(held("B", 40_000, [0, 1, 2, 3]), listed(40_000, "B"), at=40_000)
    turn(40_100)
    late = QueueDropped(
        at=T0 + 30_000, source=REPORT, exactness=EXACT, group="g", client="A", queue=queue(0), reason=DropReason.UNKNOWN
    )
    told(late, at=41_000)
    group = Group.objects.get()
    tell_again(group=group.pk, since=T0 + 30_000, until=T0 + 30_000, now=T0 + 41_000)
    turn(41_100)
    return group


def two(group: Group, now: int) -> list[Within]:
    """Give how long two had the queue at least, and at most, as each place says."""
    row = Round.objects.get(number=1)
    [lane] = [each for each in lanes_of(row, now=now) if each.queue_id == 0]
    stored = Handoff.objects.get(round=row, queue_id=0)
    [share] = shares_in(row=row, now=now).values()
    Cluster.objects.update(watched_at=now)
    lately = lately_of(groups=[group.pk], now=now)[group.pk].overlap
    [cost] = [each.cost for each in pauses_of(group=group, since=T0, now=now).rounds if each.cost is not None]
    assert lately is not None
    assert lane.overlap[0] is not None
    return [
        (lane.overlap[0], lane.overlap[1]),
        (stored.overlap_low or 0, stored.overlap_high),
        share.overlap_within,
        (lately.low, lately.high),
        (cost.overlap.low, cost.overlap.high),
    ]


def test_what_the_lost_had_until_later_is_no_time_with_two_owners(group: Group) -> None:
    now = T0 + 42_000

    assert two(group, now) == [(0, 0)] * 5
    assert time_bar(group=group, since=T0, now=now)["two"] == []
    assert Round.objects.count() == 1


def test_nor_once_it_is_back(group: Group) -> None:
    told(joined("A", 61_000, low=60_000), listed(61_000, "A", "B"), *seen("A", 61_000)[1:], at=61_000)
    told(held("A", 61_000, []), held("B", 61_000, [0, 1, 2, 3]), at=61_000)
    turn(61_100)

    unheard = 4 * 1_000  # of its four queues A may have had any from 60 s, when it may have come, until it told
    assert two(group, T0 + 62_000) == [(0, 0), (0, 0), (0, 0), (0, unheard), (0, 0)]


def test_that_nobody_had_what_it_had_until_later_is_not_certain(group: Group) -> None:
    [lane] = [each for each in lanes_of(Round.objects.get(group=group), now=T0 + 42_000) if each.queue_id == 0]

    assert lane.unowned == (0, 6_000)


@pytest.mark.usefixtures("catalogues")
def test_that_no_member_has_what_the_lost_may_have_is_said_where_it_is_perhaps_nobodys(admin_client: Client) -> None:
    told(route(4), listed(0, "A", "B"), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, [1, 2, 3]))
    turn(20)
    told(left("A", 20_000), listed(20_000, "B"), held("B", 20_000, [1, 2, 3]), at=20_000)
    turn(20_100)
    group = Group.objects.get()

    answer = admin_client.get(f"/api/v1/groups/{group.pk}/rounds/1").json()
    english = admin_client.get(f"/groups/{group.pk}/").content.decode()
    chinese = admin_client.get(f"/groups/{group.pk}/", headers={"Accept-Language": "zh-hans"}).content.decode()

    assert (group.orphan_count, answer["unowned_queues"], answer["unowned_perhaps_queues"]) == (1, 0, 1)
    assert "No member has 1 of them now: who had it last is lost, and may have it still." in answer["sentence"]
    assert "no member has 1 of them now: who is lost may have it still" in english
    assert "现在其中 1 个没有成员持有" in chinese
    told(held("B", 24_000, [0, 1, 2, 3]), at=24_000)
    turn(24_100)
    assert "No member has" not in admin_client.get(f"/api/v1/groups/{group.pk}/rounds/1").json()["sentence"]
