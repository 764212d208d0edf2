from __future__ import annotations

import pytest
from django.test import override_settings
from pytest_django import DjangoCaptureOnCommitCallbacks
from redis import Redis

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.operations import record
from dashboard.groups.pulsing import pulse_looks
from dashboard.groups.viewing import note_viewed
from dashboard.push.messages import Seen
from dashboard.push.publish import group_stream
from tests.dashboard.story import T0, held, route, seen, told


@pytest.mark.django_db
def test_a_group_that_somebody_looks_at_hears_of_looks_that_changed_nothing(
    cluster: Cluster,
    redis: Redis,
    redis_server: str,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    told(route(2), *seen("A"), *seen("B", group="other"), held("A", 10, [0, 1]), held("B", 10, [0, 1], group="other"))
    sent: list[tuple[str, tuple[Seen, ...], int]] = []
    monkeypatch.setattr("dashboard.groups.pulsing.pulse", lambda *, stream, seen, at: sent.append((stream, seen, at)))
    note_viewed(redis=redis, cluster=cluster.pk, group="g", now=T0 + 1_000)
    looks = [held("A", 1_000, [0, 1]), held("B", 1_000, [0, 1], group="other")]

    with override_settings(REDIS_URL=redis_server), django_capture_on_commit_callbacks(execute=True):
        record(cluster="shop", facts=looks, now=T0 + 1_100, lease_epoch=0)

    stream = group_stream(Group.objects.get(name="g").pk)
    assert sent == [(stream, (Seen("A", T0 + 1_000),), T0 + 1_100)]


@pytest.mark.django_db
def test_without_redis_nobody_is_told_and_nothing_fails(cluster: Cluster) -> None:
    with override_settings(REDIS_URL="redis://127.0.0.1:1/0"):
        assert pulse_looks(cluster=cluster.pk, facts=[held("A", 10, [0])], now=T0) == 0
