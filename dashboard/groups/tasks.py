"""What Celery does about groups: each task fetches by number and calls one function."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from dashboard.common.clock import now_ms
from dashboard.groups.locks import connect
from dashboard.groups.rebalancing import due_groups, rebalance_all, rebalance_now
from dashboard.groups.retention import forget

GROUPS_A_BATCH = 200


@shared_task(name="groups.rebalance_group")
def rebalance_group(*, group: int, cause: str) -> int:  # noqa: ARG001 - the cause is for whoever reads the queue
    """Rebalance one group now. What made it necessary is stored with it; ``cause`` only names it in the queue."""
    with connect() as redis:
        return rebalance_now(redis=redis, group=group, clock=now_ms)


@shared_task(name="groups.rebalance_due_groups")
def rebalance_due_groups() -> int:
    """Go through all groups that are due, in batches; those whose inputs have not changed are left out."""
    done = 0
    with connect() as redis:
        groups = due_groups(now=now_ms())
        for start in range(0, len(groups), GROUPS_A_BATCH):
            done += rebalance_all(redis=redis, groups=groups[start : start + GROUPS_A_BATCH], clock=now_ms)
    return done


@shared_task(name="groups.forget_old_rows")
def forget_old_rows() -> int:
    """Delete what is older than the setting says."""
    return forget(now=now_ms(), days=settings.RETENTION_DAYS)
