"""What the migration makes of rows that its constraints forbid: each of them alone would stop it."""

from __future__ import annotations

from django.db.migrations.state import StateApps

from tests.dashboard.migrating import Migrate, migrate  # noqa: F401 - a fixture
from tests.dashboard.story import T0

BEFORE, AFTER = ("groups", "0012_settled"), ("groups", "0013_orderly")
CLUSTERS = ("clusters", "0012_orders_in_order")
NEVER = 253_402_300_800_000  # the first ms of the year 10000
SOURCED: dict[str, object] = {"at": T0, "observed_at": T0, "origin": "admin answer"}
ENDED: dict[str, object] = {"until_origin": "admin answer", "reason": "unknown"}
CLOSED: dict[str, object] = {"state": "closed", "closed_at": T0 + 5, "told_at": T0 + 6}

HOLDINGS: list[dict[str, object]] = [
    {},
    {"at_low": -1, "at_high": NEVER, "first_pull_at": NEVER},
    {"first_pull_at": T0 - 1},
    {**ENDED, "until": T0 + 9, "until_low": -1, "until_high": NEVER},
    {**ENDED, "until": NEVER, "until_low": T0 + 1, "until_high": NEVER},
]
HANDOFFS: list[dict[str, object]] = [
    {"dropped_at": T0, "dropped_low": T0 - 5, "dropped_high": T0 + 5, "unowned_low": 0, "unowned_high": 5},
    {"dropped_at": -1, "dropped_low": -1, "dropped_high": T0, "taken_at": NEVER, "taken_high": NEVER},
    {"taken_at": T0, "taken_low": -1, "taken_high": NEVER, "first_pull_at": NEVER},
    {"dropped_at": T0, "dropped_low": T0 + 1, "dropped_high": T0 + 2},
    {"taken_at": T0, "taken_low": T0 - 2, "taken_high": T0 - 1},
    {"unowned_low": -2, "unowned_high": -1, "overlap_low": -1, "pause_low": -1, "pause_high": 5},
    {"queue_id": -2},
    {"queue_id": 2**31},
]
ROUNDS: list[dict[str, object]] = [
    CLOSED,
    {**CLOSED, "opened_low": -1},
    {"state": "closed", "last_cause_at": NEVER, "closed_at": NEVER, "settled_at": NEVER, "told_at": NEVER},
    {**CLOSED, "settled_at": T0 + 4, "told_at": -1, "not_converged_at": T0 - 1},
    {**CLOSED, "settled_at": -1, "not_converged_at": NEVER},
    {"state": "not converged", "not_converged_at": -1},
]


def fill(apps: StateApps) -> None:
    """One group with a row of each kind; the last round is open."""
    cluster = apps.get_model("clusters", "Cluster").objects.create(name="shop", namesrv="a:1", added_at=T0)
    topic = apps.get_model("clusters", "Topic").objects.create(cluster=cluster, name="orders")
    of = {name: apps.get_model("groups", name).objects for name in ("Group", "Member", "Round", "Handoff", "Holding")}
    group = of["Group"].create(cluster=cluster, name="g", added_at=T0)
    member = of["Member"].create(group=group, client_id="A", **SOURCED)
    for number, columns in enumerate(HOLDINGS):
        queue = apps.get_model("clusters", "Queue").objects.create(
            topic=topic, broker="east", queue_id=number, since=T0
        )
        of["Holding"].create(group=group, queue=queue, member=member, **SOURCED | columns)
    for number, columns in enumerate(ROUNDS, 1):
        opened: dict[str, object] = {"cause": "manual", "opened_at": T0, "last_cause_at": T0 + 3, "wave": number}
        last = of["Round"].create(group=group, number=number, **opened | columns)
    for number, columns in enumerate(HANDOFFS):
        way: dict[str, object] = {"topic": "orders", "broker": "east", "queue_id": number, "from_client": "A"}
        of["Handoff"].create(round=last, **way | columns)
    for name in ("LockRefusal", "PullRefusal"):
        told: dict[str, object] = {"code": 1, "since": T0} if name == "PullRefusal" else {}
        for queue_id in (-2, -1, 7, 2**31):
            where = {"client_id": "A", "topic": "orders", "broker": "east", "queue_id": queue_id}
            apps.get_model("groups", name).objects.create(group=group, **SOURCED, **where, **told)


def rows(apps: StateApps, name: str, *columns: str) -> list[tuple[int | None, ...]]:
    """Give columns of all rows; instants are ms after ``T0``."""
    found = apps.get_model("groups", name).objects.order_by("pk").values_list(*columns)
    return [tuple(value - T0 if value is not None and value > T0 // 2 else value for value in row) for row in found]


def test_rows_that_could_be_stored_and_cannot_be_are_put_right(migrate: Migrate) -> None:  # noqa: F811
    """One migration for all that may be in the tables: it takes seconds."""
    fill(migrate(CLUSTERS, BEFORE))

    new = migrate(CLUSTERS, AFTER)

    assert rows(new, "Holding", "at_low", "at_high", "until", "until_low", "until_high", "first_pull_at") == [
        (None, None, None, None, None, None),
        (None, None, None, None, None, None),
        (None, None, None, None, None, None),
        (None, None, 9, None, None, None),
        (None, None, 0, 0, None, None),
    ]
    assert rows(new, "Handoff", "dropped_at", "dropped_low", "dropped_high", "taken_at", "taken_low", "taken_high") == [
        (0, -5, 5, None, None, None),
        (None, None, None, None, None, None),
        (None, None, None, 0, None, None),
        (0, None, 2, None, None, None),
        (None, None, None, 0, -2, None),
        (None, None, None, None, None, None),
    ]
    lasted = rows(new, "Handoff", "unowned_low", "unowned_high", "overlap_low", "pause_low", "pause_high")
    assert [lasted[0], lasted[-1]] == [(0, 5, None, None, None), (None, None, None, None, 5)]
    times = ("opened_low", "last_cause_at", "closed_at", "settled_at", "told_at", "not_converged_at")
    assert rows(new, "Round", *times) == [
        (None, 3, 5, None, 6, None),
        (None, 3, 5, None, 6, None),
        (None, 0, 0, None, 0, None),
        (None, 3, 5, None, 5, None),
        (None, 3, 5, None, 6, None),
        (None, 3, None, None, None, 120_000),
    ]
    for name in ("LockRefusal", "PullRefusal"):
        assert rows(new, name, "queue_id") == [(-1,), (7,)]
