from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster, Watch
from dashboard.clusters.silences import MOST_SHOWN, answering
from tests.dashboard.story import T0, add_cluster

pytestmark = pytest.mark.django_db
MUTE = {"server": "127.0.0.1:1", "broker": "", "since": T0 + 5, "answered_at": None, "why": "refused"}


def watched(silent: list[dict[str, object]]) -> Cluster:
    cluster = add_cluster()
    cluster.lease_holder, cluster.lease_epoch, cluster.lease_until = "here:1", 1, T0 + 100
    cluster.save()
    Watch.objects.create(cluster=cluster, at=T0 + 10, silent=silent, answered_at=T0 + 9)
    return cluster


def test_a_name_server_that_never_answered_is_named() -> None:
    [found] = answering(clusters=[watched([MUTE])], now=T0 + 20)

    assert (found.is_watched, found.answered_at, found.is_fine) == (True, T0 + 9, False)
    assert [(each.server, each.since, each.answered_at) for each in found.silent] == [("127.0.0.1:1", T0 + 5, None)]


def test_a_cluster_that_nobody_watches_is_said_to_be_one_and_names_no_servers_of_before() -> None:
    [found] = answering(clusters=[watched([MUTE])], now=T0 + 200)

    assert (found.is_watched, found.silent, found.is_fine) == (False, (), False)


def test_of_many_silent_servers_the_first_are_named_and_the_others_counted() -> None:
    [found] = answering(clusters=[watched([MUTE] * (MOST_SHOWN + 3))], now=T0 + 20)

    assert (len(found.silent), found.others) == (MOST_SHOWN, 3)


def test_where_all_answer_there_is_nothing_to_say() -> None:
    [found] = answering(clusters=[watched([])], now=T0 + 20)

    assert found.is_fine
