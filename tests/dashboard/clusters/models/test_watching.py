from dataclasses import fields

import pytest
from django.db import IntegrityError, transaction

from dashboard.clusters.models import Cluster, Watch
from rebalance_engine.network.watcher import Health
from tests.dashboard.story import T0


def test_a_watch_has_a_column_for_everything_that_a_watcher_tells() -> None:
    assert {field.name for field in fields(Health)} <= {field.name for field in Watch._meta.concrete_fields}


def test_a_cluster_has_one_and_its_instant_is_one(cluster: Cluster) -> None:
    watch = Watch.objects.create(cluster=cluster, at=T0)

    assert str(watch) == "watcher of shop"
    for wrong in (T0, -1):
        with pytest.raises(IntegrityError), transaction.atomic():
            Watch.objects.create(cluster=cluster, at=wrong)
