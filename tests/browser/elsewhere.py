"""What happens to the cluster while a browser looks on: in another thread, for Playwright's loop runs in this one."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.db import connection

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import Fact
from tests.dashboard import story
from tests.dashboard.story import T0


def elsewhere(work: Callable[[], object]) -> None:
    """Do something in a thread of its own, and wait for it."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised below
            errors.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it did not end within a minute"
    if errors:
        raise errors[0]


def told(*facts: Fact) -> None:
    elsewhere(lambda: story.told(*facts))


def rebalanced(name: str, at: int) -> Group:
    """Rebalance a group at an instant of the story, in which the cluster answered too."""
    group = Group.objects.select_related("cluster").get(name=name)
    cluster = Cluster.objects.filter(pk=group.cluster_id)

    def at_that_time() -> None:
        cluster.update(watched_at=None)  # a rebalance is never earlier than the last that was watched
        rebalance_once(group=group.pk, now=T0 + at)
        cluster.update(watched_at=group.cluster.watched_at)

    elsewhere(at_that_time)
    return group
