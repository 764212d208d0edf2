"""Asking the database itself to refuse a state: rows are written past Django's own validation."""

from __future__ import annotations

from typing import TypeVar

import pytest
from django.db import DatabaseError, models, transaction

from dashboard.clusters.models import Cluster, Queue, Topic
from dashboard.groups.models import Group, Member
from rebalance_engine.events import Origin
from tests.dashboard.story import T0

M = TypeVar("M", bound=models.Model)

SOURCED: dict[str, object] = {"at": T0, "observed_at": T0, "origin": Origin.ADMIN_ANSWER.value}
WITHOUT_SOURCE: list[dict[str, object]] = [
    {"origin": ""},
    {"origin": "hearsay"},
    {"at": None},
    {"observed_at": None},
    {"at": -1},
    {"at": T0 * 1000},
    {"at_low": T0 + 1},
    {"at_high": T0 - 1},
]


def store(model: type[M], /, **columns: object) -> M:
    return model._default_manager.create(**columns)


def assert_refused(model: type[M], columns: dict[str, object], *wrong: dict[str, object]) -> None:
    """The right columns are taken, and none of the changes to them."""
    right = store(model, **columns)
    right.delete()
    for changes in wrong:
        assert _is_refused(model, {**columns, **changes}), f"{model.__name__} was stored with {changes}"


def _is_refused(model: type[M], columns: dict[str, object]) -> bool:
    try:
        with transaction.atomic():
            store(model, **columns).delete()
    except DatabaseError:
        return True
    return False


def assert_unique(model: type[M], columns: dict[str, object], /, **other: object) -> None:
    """The same twice is refused; with other columns it is taken."""
    store(model, **columns)
    with pytest.raises(DatabaseError), transaction.atomic():
        store(model, **columns)
    store(model, **{**columns, **other})


def make_group(cluster: Cluster, name: str = "g") -> Group:
    return store(Group, cluster=cluster, name=name, added_at=T0)


def make_member(group: Group, client: str = "A") -> Member:
    return store(Member, group=group, client_id=client, **SOURCED)


def make_queue(cluster: Cluster, number: int = 0) -> Queue:
    topic, _ = Topic.objects.get_or_create(cluster=cluster, name="orders")
    return store(Queue, topic=topic, broker="east", queue_id=number, since=T0)
