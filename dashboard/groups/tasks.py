"""What Celery does about groups: each task fetches by number and calls one function."""

from __future__ import annotations

from celery import shared_task


@shared_task(name="groups.rebalance_group")
def rebalance_group(*, group: int, cause: str) -> None:
    """Rebalance one group now, because of ``cause``."""


@shared_task(name="groups.rebalance_due_groups")
def rebalance_due_groups() -> None:
    """Go through all groups that are due, and leave out those whose inputs have not changed."""
