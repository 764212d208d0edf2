from __future__ import annotations

import pytest

from dashboard.clusters.models import Broker, Cluster
from dashboard.groups.found import Now, now_wrong
from dashboard.groups.gone import AWAY_MS, note_gone, publish_row
from dashboard.groups.listing import Wish, list_groups
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.live.streams import overview_snapshot
from dashboard.people.roles import Access, Role, Scope
from dashboard.push.messages import OverviewDiff, decode
from dashboard.push.models import Step
from tests.dashboard.story import T0, held, joined, left, listed, route, seen, told

ALL = Access("a", (Scope(Role.VIEWER),))
LATER = 60_000


@pytest.fixture(autouse=True)
def left_behind(cluster: Cluster) -> Cluster:
    """A group whose only member has left."""
    told(route(2), *seen("A"), listed(0, "A"), held("A", 10, [0, 1]), left("A", 30), listed(30))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 40)
    return cluster


def note(*named: str, brokers: frozenset[str] = frozenset({"east"}), at: int = LATER, epoch: int = 0) -> int:
    return note_gone(
        cluster="shop", named=named, brokers=brokers, asked_at=T0 + at, now=T0 + at + 100, lease_epoch=epoch
    )


def shown(cluster: Cluster) -> list[str]:
    return [each.row.group for each in list_groups(clusters=[cluster], access=ALL, wish=Wish(), now=T0).rows]


def last_step() -> OverviewDiff:
    step = Step.objects.filter(stream__name__startswith="overview").order_by("seq").last()
    assert step is not None
    message = decode(bytes(step.body))
    assert isinstance(message, OverviewDiff)
    return message


def test_a_group_that_no_broker_names_is_gone_from_the_overview_and_its_browsers(left_behind: Cluster) -> None:
    assert note("g") == 0
    assert shown(left_behind) == ["g"]

    assert (note(), note()) == (1, 0)

    group = Group.objects.get()
    assert group.gone_at == group.due_at == T0 + LATER + 100  # it is rebalanced once more, which clears its findings
    assert shown(left_behind) == []
    assert last_step().gone == (group.pk,)
    assert overview_snapshot(cluster=left_behind.pk).rows == ()
    assert now_wrong(clusters=[left_behind], access=ALL, now=T0 + LATER) == Now([], 0, [], 0)


def test_a_rebalance_of_one_that_is_gone_does_not_bring_its_row_back(left_behind: Cluster) -> None:
    note()
    publish_row(group=Group.objects.get(), at=T0 + LATER + 200)

    assert (last_step().at, last_step().put) == (T0 + LATER + 200, ())
    assert shown(left_behind) == []


def test_one_that_is_named_again_or_has_a_member_again_is_there_again(left_behind: Cluster) -> None:
    note()
    assert note("g", at=LATER + 1_000) == 1
    assert shown(left_behind) == ["g"]
    assert [row.group for row in last_step().put] == ["g"]

    note(at=LATER + 2_000)
    told(joined("B", LATER + 3_000))
    assert shown(left_behind) == ["g"]


def test_who_has_a_member_or_is_new_or_whose_broker_is_away_is_not_gone(left_behind: Cluster) -> None:
    assert note(brokers=frozenset({"west"})) == 0
    assert note(at=1_000) == 0
    told(joined("B", 50))
    assert note() == 0
    assert shown(left_behind) == ["g"]


def test_a_broker_that_never_comes_back_is_not_waited_for(left_behind: Cluster) -> None:
    gone = {"at": T0, "observed_at": T0, "origin": "admin answer", "gone_at": T0 + 1}
    Broker.objects.create(cluster=left_behind, name="east", broker_id=0, address="e:1", **gone)

    assert note(brokers=frozenset({"west"}), at=AWAY_MS) == 0
    assert note(brokers=frozenset({"west"}), at=AWAY_MS + 2) == 1


def test_a_watcher_that_lost_its_lease_stores_nothing(left_behind: Cluster) -> None:
    assert note(epoch=7) == 0
    assert shown(left_behind) == ["g"]
