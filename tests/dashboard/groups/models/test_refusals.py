import pytest
from django.db import IntegrityError, transaction

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group, LockGrant, LockRefusal, PullRefusal
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import SOURCED, WITHOUT_SOURCE, assert_refused, assert_unique, make_group


def refusal(group: Group, **columns: object) -> LockRefusal:
    told = {"client_id": "A", "topic": "orders", "broker": "east", "queue_id": 1, "at": T0, "observed_at": T0}
    return LockRefusal(group=group, origin="client log", **(told | columns))


def test_a_member_is_refused_a_queue_once_at_a_time_and_never_without_a_source(cluster: Cluster) -> None:
    group = Group.objects.create(cluster=cluster, name="g", added_at=T0)
    refusal(group).save()
    refusal(group, queue_id=2).save()

    for wrong in (
        refusal(group),
        refusal(group, queue_id=3, count=0),
        refusal(group, queue_id=4, client_id=""),
        refusal(group, queue_id=-2),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            wrong.save()
    guessed = refusal(group, queue_id=5)
    guessed.origin = "a guess"
    with pytest.raises(IntegrityError), transaction.atomic():
        guessed.save()

    assert str(refusal(group)) == "A: orders/east/1"


def test_a_queue_has_one_lock_and_whose_it_is_has_a_source(cluster: Cluster) -> None:
    told = {"client_id": "A", "topic": "orders", "broker": "east", "queue_id": 1}
    right = {"group": make_group(cluster), **told, **SOURCED}

    assert_refused(LockGrant, right, *WITHOUT_SOURCE, {"client_id": ""}, {"queue_id": -2})
    assert_unique(LockGrant, right, queue_id=2)
    assert str(LockGrant.objects.get(queue_id=1)) == "A: orders/east/1"


def test_a_member_is_refused_to_pull_once_at_a_time_since_its_first_refusal(cluster: Cluster) -> None:
    told = {"client_id": "A", "topic": "orders", "broker": "east", "queue_id": 1, "code": 24, "since": T0}
    right = {"group": make_group(cluster), **told, **SOURCED}

    assert_refused(
        PullRefusal, right, *WITHOUT_SOURCE, {"client_id": ""}, {"count": 0}, {"since": T0 + 1}, {"queue_id": -2}
    )
    assert_unique(PullRefusal, right, queue_id=2)
    assert str(PullRefusal.objects.get(queue_id=1)) == "A: orders/east/1"
