"""A healthy Java group on a real cluster, with messages on their way: the watcher finds nothing, however long it looks.

``make test`` looks for a minute, ``make test-all`` for ten.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.db.models import QuerySet

from dashboard.clusters.models import Watch
from dashboard.groups.models import Finding, Round
from tests.cluster.contract import Cluster
from tests.cluster.members import Option, java_producer
from tests.dashboard.conftest import redis, redis_server  # noqa: F401 - fixtures
from tests.matrix.room import Room, ms
from tests.matrix.test_control_room import (  # noqa: F401 - a fixture
    QUEUES,
    Open,
    cast,
    on_a_real_cluster,
    open_room,
)

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
LOOKS_FOR_S = 600 if os.environ.get("EVENKEEL_TEST_ALL") else 60
GROUP, WITHOUT_END, A_SECOND = "healthy", 1_000_000, 20


@on_a_real_cluster
def test_nothing_is_found_in_a_healthy_group(cluster: Cluster, open_room: Open, tmp_path: Path) -> None:  # noqa: F811
    with cast(cluster, GROUP, tmp_path) as group, open_room(GROUP) as room:
        a, b = group.start("A"), group.start("B")
        members = {a.client_id(), b.client_id()}
        options: dict[str, Option] = {"namesrv": cluster.namesrv, "topic": group.topic, "name": "sends", "quiet": True}
        options |= {"timeout": 20_000, "count": WITHOUT_END, "rate": A_SECOND}
        group.clients.append(java_producer("5.5.0", options, tmp_path))
        room.until(lambda: room.members() == members and room.is_settled(), "both having their share")
        room.until(lambda: all(len(room.held(each)) == QUEUES for each in members), "each having a half")
        for each in (a, b):
            each.wait("got", count=A_SECOND)
        room.until(lambda: not _found(room).filter(cleared_at=None).exists(), "what its start brought being over")
        before = [len(each.seen("got")) for each in (a, b)]
        sweeps, rounds, began_at = Watch.objects.get().sweep, Round.objects.count(), ms()

        end = began_at + LOOKS_FOR_S * 1_000
        lately = _found(room).filter(suspected_at__gte=began_at)
        room.until(lambda: ms() >= end or lately.exists(), "the time being over", within_s=LOOKS_FOR_S + 60)

        assert [(row.kind, row.sentence, row.proof, row.suspected_at - began_at) for row in lately] == []
        assert (Round.objects.count(), room.members()) == (rounds, members)
        # and it did look, at a group that did consume
        assert Watch.objects.get().sweep > sweeps
        for each, had in zip((a, b), before, strict=True):
            assert len(each.seen("got")) - had > LOOKS_FOR_S * A_SECOND / 8


def _found(room: Room) -> QuerySet[Finding]:
    return Finding.objects.filter(group__name=room.group_name)
