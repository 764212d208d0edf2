"""What Celery does about groups: each task fetches by number and calls one function.

Where the database does not answer, a task ends with a warning: what is due stays due in the tables, and beat finds it.
"""

from __future__ import annotations

from collections.abc import Sequence

from celery import shared_task
from django.conf import settings

from dashboard.common.clock import now_ms
from dashboard.common.waiting import later_if_away
from dashboard.groups.locks import connect
from dashboard.groups.rebalancing import due_groups, rebalance_all, rebalance_now
from dashboard.groups.retention import forget

GROUPS_A_BATCH = 20  # less than a second's work: whoever looks at a group that changes does not wait for all others


@shared_task(name="groups.rebalance_group")
def rebalance_group(*, group: int, cause: str) -> int:  # noqa: ARG001 - the cause is for whoever reads the queue
    """Rebalance one group now. What made it necessary is stored with it; ``cause`` only names it in the queue."""
    with later_if_away(f"the rebalance of group {group}"), connect() as redis:
        return rebalance_now(redis=redis, group=group, clock=now_ms)
    return 0


@shared_task(name="groups.rebalance_due_groups")
def rebalance_due_groups(groups: Sequence[int] | None = None) -> int:
    """Go through groups, by default all that are due, in batches; those whose inputs have not changed are left out.

    Each batch is a task, which starts the next one: what changes meanwhile comes between two of them.
    """
    waiting, done = groups, 0
    with later_if_away("a rebalance of groups that are due"), connect() as redis:
        waiting = due_groups(now=now_ms()) if waiting is None else waiting
        done = rebalance_all(redis=redis, groups=waiting[:GROUPS_A_BATCH], clock=now_ms)
    if rest := list((waiting or ())[GROUPS_A_BATCH:]):
        rebalance_due_groups.delay(groups=rest)
    return done


@shared_task(name="groups.forget_old_rows")
def forget_old_rows() -> int:
    """Delete what is older than the setting says."""
    with later_if_away("deleting what is old"):
        return forget(now=now_ms(), days=settings.RETENTION_DAYS)
    return 0
