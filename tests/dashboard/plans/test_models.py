from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.plans.models import ByConfig
from tests.dashboard.story import T0


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="g", added_at=T0)


def made(group: Group, version: int = 1) -> ByConfig:
    return ByConfig(
        group=group, version=version, at=T0, author="ada", reason="x", document="{}", client_count=0, queue_count=0
    )


@pytest.mark.parametrize(
    ("column", "value"), [("version", 0), ("author", ""), ("reason", ""), ("client_count", -1), ("at", -1)]
)
def test_a_version_that_cannot_be_is_refused(group: Group, column: str, value: object) -> None:
    row = made(group)
    setattr(row, column, value)

    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()


def test_a_version_is_there_once(group: Group) -> None:
    first = made(group)
    first.save()
    assert str(first) == "1 by ada: x"

    with pytest.raises(IntegrityError), transaction.atomic():
        made(group).save()
    made(group, 2).save()
