"""What the migration makes of rows that are there."""

from __future__ import annotations

from django.db.migrations.state import StateApps

from tests.dashboard.migrating import Migrate, migrate  # noqa: F401 - a fixture
from tests.dashboard.story import T0

BEFORE, AFTER = ("clusters", "0010_canary"), ("clusters", "0011_forgetting")
MINUTE = 60_000
STRANGE = "A\0\udc80\\u0000"  # no database takes it as it is


def add(apps: StateApps, client: str, port: int, at: int, gone_at: int | None, **columns: object) -> None:
    cluster, _ = apps.get_model("clusters", "Cluster").objects.get_or_create(
        name="shop", defaults={"namesrv": "a:1", "added_at": T0}
    )
    told = {"broker": "east", "group_name": "sends", "origin": "admin answer", **columns}
    seen_at = T0 + (at if gone_at is None else gone_at)
    apps.get_model("clusters", "Producer").objects.create(
        cluster=cluster,
        client_id=client,
        address=f"10.0.0.1:{port}",
        at=T0 + at,
        observed_at=seen_at,
        gone_at=None if gone_at is None else T0 + gone_at,
        **told,
    )


def add_broker(apps: StateApps, name: str, gone_at: int | None) -> None:
    apps.get_model("clusters", "Broker").objects.create(
        cluster=apps.get_model("clusters", "Cluster").objects.get(),
        name=name,
        broker_id=0,
        address="a:1",
        at=T0,
        observed_at=T0,
        origin="admin answer",
        gone_at=None if gone_at is None else T0 + gone_at,
    )


def rows(apps: StateApps) -> dict[str, tuple[int, int, int | None]]:
    """Give the port of each client, when it came and when it went; each may be there once."""
    told = list(apps.get_model("clusters", "Producer").objects.all())
    found = {
        row.client_id: (
            int(row.address.partition(":")[2]),
            row.at - T0,
            None if row.gone_at is None else row.gone_at - T0,
        )
        for row in told
    }
    assert len(found) == len(told)
    return found


def test_connections_of_a_producer_become_one_row_and_nothing_that_was_known_of_it_is_lost(
    migrate: Migrate,  # noqa: F811
) -> None:
    """One migration for all that may be in a table: it takes seconds."""
    old = migrate(BEFORE)
    for number in range(200):
        add(old, "reconnects", number, number * MINUTE, (number + 1) * MINUTE, at_low=T0 + number * MINUTE - 5)
    add(old, "reconnects", 200, 200 * MINUTE, None)
    add(old, "was away", 5, 0, MINUTE)
    add(old, "was away", 6, 3 * MINUTE, 4 * MINUTE)
    add(old, "is there", 5, 2 * MINUTE, None)
    add(old, "is there", 6, 0, 5 * MINUTE)
    for port in (5, 6):
        add(old, STRANGE, port, 0, None)
    add(old, "alone", 7, 0, None)
    add(old, "at a broker that went", 5, 0, None, broker="west")
    add(old, "came when its broker had gone", 5, 2 * MINUTE, None, broker="west")
    add_broker(old, "east", None)
    add_broker(old, "west", MINUTE)

    new = migrate(AFTER)

    assert rows(new) == {
        "reconnects": (200, 0, None),
        "was away": (6, 3 * MINUTE, 4 * MINUTE),
        "is there": (5, 0, None),
        STRANGE: (6, 0, None),
        "alone": (7, 0, None),
        "at a broker that went": (5, 0, MINUTE),
        "came when its broker had gone": (5, 2 * MINUTE, 2 * MINUTE),
    }
    assert new.get_model("clusters", "Producer").objects.get(client_id="reconnects").at_low == T0 - 5
