"""Rounds and handoffs as a rebalance stores them, short to say."""

from __future__ import annotations

from dashboard.groups.models import Group, Handoff, Round, RoundCause


def add_round(
    group: Group, number: int, at: int, *, who: str = "C", cause: str = "member joined", **columns: object
) -> Round:
    """A round that took 4 s, and is told; ``who`` stands behind it."""
    given: dict[str, object] = {
        "cause": cause,
        "closed_at": at + 4_000,
        "told_at": at + 4_000,
        "wave": number,
        "state": "closed",
    }
    if "superseded_by" in columns:
        given["state"] = "superseded"
    columns = {**given, **columns}
    row = Round.objects.create(
        group=group, number=number, opened_at=at, opened_low=at - 500, last_cause_at=at, move_count=2, **columns
    )
    RoundCause.objects.create(
        group=group,
        round=row,
        cause=cause,
        client_id=who,
        evidence=f"{who} joined",
        at=at,
        origin="admin answer",
        observed_at=at,
    )
    Group.objects.filter(pk=group.pk).update(round_number=number, round_opened_at=at)
    return row


def add_handoff(row: Round, queue: int, **columns: object) -> Handoff:
    """A queue that B let go at the beginning of its round, and C took a second later."""
    at = row.opened_at
    given = {
        "from_client": "B",
        "to_client": "C",
        "dropped_at": at,
        "dropped_low": at - 200,
        "dropped_high": at,
        "taken_at": at + 1_000,
        "taken_low": at + 800,
        "taken_high": at + 1_000,
        "unowned_low": 800,
        "unowned_high": 1_200,
        "overlap_low": 0,
        "overlap_high": 0,
    }
    return Handoff.objects.create(round=row, topic="orders", broker="east", queue_id=queue, **{**given, **columns})


def pulled(row: Round, low: int, high: int) -> dict[str, int]:
    """Columns of a handoff whose first pull is known."""
    return {"first_pull_at": row.opened_at + 1_500, "pause_low": low, "pause_high": high}
