from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.muted import note_muted
from tests.dashboard.story import T0


@pytest.fixture(autouse=True)
def groups(cluster: Cluster) -> None:
    for name in ("billing", "invoices"):
        Group.objects.create(cluster=cluster, name=name, added_at=T0)


def note(*names: str, epoch: int = 0) -> bool:
    return note_muted(cluster="shop", muted=frozenset(names), lease_epoch=epoch)


def stored() -> dict[str, bool | None]:
    return dict(Group.objects.values_list("name", "is_notified"))


def test_whom_nobody_notifies_is_stored_and_taken_back() -> None:
    assert note("billing")
    assert stored() == {"billing": False, "invoices": None}
    assert note("invoices")
    assert stored() == {"billing": None, "invoices": False}
    assert note()
    assert stored() == {"billing": None, "invoices": None}


def test_a_group_that_is_not_known_yet_is_to_be_stored_later(cluster: Cluster) -> None:
    assert not note("billing", "new")
    Group.objects.create(cluster=cluster, name="new", added_at=T0)
    assert note("billing", "new")
    assert stored() == {"billing": False, "invoices": None, "new": False}


def test_a_watcher_whose_lease_is_lost_stores_nothing() -> None:
    assert not note("billing", epoch=7)
    assert stored()["billing"] is None
