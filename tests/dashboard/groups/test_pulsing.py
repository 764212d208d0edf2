from __future__ import annotations

import pytest
from django.test import override_settings
from pytest_django import DjangoCaptureOnCommitCallbacks
from redis import Redis
from redis.exceptions import RedisError

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.operations import record
from dashboard.groups.pulsing import pulse_answers, pulse_looks
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
    sent: list[dict[str, object]] = []
    monkeypatch.setattr("dashboard.groups.pulsing.pulse", lambda **told: sent.append(told))
    note_viewed(redis=redis, cluster=cluster.pk, group="g", now=T0 + 1_000)
    looks = [held("A", 1_000, [0, 1]), held("B", 1_000, [0, 1], group="other")]

    with override_settings(REDIS_URL=redis_server), django_capture_on_commit_callbacks(execute=True):
        record(cluster="shop", facts=looks, now=T0 + 1_100, lease_epoch=0)

    stream = group_stream(Group.objects.get(name="g").pk)
    looked_at = T0 + 1_000
    assert sent == [{"stream": stream, "seen": (Seen("A", looked_at),), "at": T0 + 1_100, "watched_at": looked_at}]


@pytest.mark.django_db
def test_who_looks_at_a_group_hears_when_its_cluster_answered_though_nobody_could_be_looked_at(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(route(2), *seen("A"), *seen("B", group="other"))
    sent: list[dict[str, object]] = []
    monkeypatch.setattr("dashboard.groups.pulsing.pulse", lambda **told: sent.append(told))

    assert pulse_answers(cluster=cluster.pk, names={"g", "unknown"}, watched_at=T0 + 900, now=T0 + 1_000) == 1

    stream = group_stream(Group.objects.get(name="g").pk)
    assert sent == [{"stream": stream, "seen": (), "at": T0 + 1_000, "watched_at": T0 + 900}]


@pytest.mark.django_db
def test_without_redis_nobody_is_told_and_whoever_asked_hears_it(cluster: Cluster) -> None:
    with override_settings(REDIS_URL="redis://127.0.0.1:1/0"), pytest.raises(RedisError):
        pulse_looks(cluster=cluster.pk, facts=[held("A", 10, [0])], now=T0)
