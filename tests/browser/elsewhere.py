"""What happens to the cluster while a browser looks on: in another thread, for Playwright's loop runs in this one."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.db import connection

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
    """Rebalance a group at an instant."""
    group = Group.objects.get(name=name)
    elsewhere(lambda: rebalance_once(group=group.pk, now=T0 + at))
    return group
