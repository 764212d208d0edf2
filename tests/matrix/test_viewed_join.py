"""A fifth stock member joins a group that is looked at: what is told of each handoff beside what members print."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.groups.models import Handoff
from tests.cluster.contract import Cluster
from tests.cluster.lines import Client
from tests.dashboard.conftest import redis, redis_server  # noqa: F401 - fixtures
from tests.matrix.test_control_room import QUEUES, Open, cast, on_a_real_cluster, open_room  # noqa: F401 - a fixture

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
GROUP = "joined"
WIDEST_MS = 3_000
PRINTED_WITHIN_MS = 250  # members look at themselves each 20 ms; the machine is busy


@on_a_real_cluster
def test_what_is_told_of_each_handoff_of_a_join_contains_the_truth_and_is_three_seconds_wide_at_most(
    cluster: Cluster,
    open_room: Open,  # noqa: F811
    tmp_path: Path,
) -> None:
    with cast(cluster, GROUP, tmp_path) as group, open_room(GROUP) as room:
        old = group.start("B", "C", "D", "E")
        ids = {old.client_id(name) for name in old.names}
        room.until(lambda: room.members() == ids and room.is_settled(), "four having their shares")
        held = {name: old.held(name) for name in old.names}
        assert sorted(map(len, held.values())) == [2, 2, 2, 2]  # of 2 brokers with 4 queues each

        new = group.start("A")  # it sorts before them: each queue but the last ones moves on
        room.until(lambda: new.client_id() in room.members() and room.is_settled(), "the fifth having its share")
        told = Handoff.objects.filter(round__group__name=GROUP).exclude(from_client="").exclude(to_client="")
        told = told.exclude(topic__startswith="%RETRY%")
        moved = {queue: name for name, queues in held.items() for queue in queues if queue not in old.held(name)}
        assert moved
        room.until(lambda: told.count() >= len(moved), "each handoff being told")

        assert {f"{row.topic}/{row.broker}/{row.queue_id}" for row in told} == set(moved)
        wrong = []
        for row in told:
            queue = f"{row.topic}/{row.broker}/{row.queue_id}"
            dropped = _changed(old, moved[queue], queue, is_held=False)
            taken = _taken((old, new), queue, row.to_client)
            for low, high, truth in (
                (row.unowned_low, row.unowned_high, max(0, taken - dropped)),
                (row.overlap_low, row.overlap_high, max(0, dropped - taken)),
            ):
                assert low is not None and high is not None
                if not low - PRINTED_WITHIN_MS <= truth <= high + PRINTED_WITHIN_MS or high - low > WIDEST_MS:
                    wrong.append((queue, low, truth, high))
        assert wrong == []


def _changed(client: Client, name: str, queue: str, *, is_held: bool) -> int:
    """Give when a member printed last that it holds a queue, or no more, after it had been otherwise; ms since 1970."""
    told = [(int(str(seen["ms"])), queue in str(seen["queues"]).split("'")) for seen in client.seen("held", name)]
    turns = [at for (_, was), (at, now) in zip([(0, False), *told], told, strict=False) if now is is_held is not was]
    return turns[-1]


def _taken(clients: tuple[Client, ...], queue: str, client_id: str) -> int:
    for client in clients:
        for name in client.names:
            if client.client_id(name) == client_id:
                return _changed(client, name, queue, is_held=True)
    raise AssertionError(f"nobody is {client_id}")
