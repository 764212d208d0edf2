"""What the migration makes of first rounds before which nothing had been shown, and nobody was stored."""

from __future__ import annotations

from tests.dashboard.migrating import Migrate, migrate  # noqa: F401 - a fixture
from tests.dashboard.story import T0

BEFORE, AFTER = ("groups", "0022_lasted"), ("groups", "0023_members_unknown")


def test_nobody_before_the_first_round_becomes_unknown_where_nothing_had_been_shown(migrate: Migrate) -> None:  # noqa: F811
    apps = migrate(BEFORE)
    cluster = apps.get_model("clusters", "Cluster").objects.create(name="shop", namesrv="a:1", added_at=T0)
    rounds = apps.get_model("groups", "Round").objects
    opened: dict[str, object] = {"cause": "manual", "opened_at": T0, "last_cause_at": T0}
    ended: dict[str, object] = {"state": "closed", "closed_at": T0}
    cases: list[tuple[str, int, list[str], bytes]] = [
        ("unknown", 1, [], b""),
        ("empty", 1, [], b"shown"),
        ("named", 1, ["A"], b""),
        ("later", 2, [], b""),
    ]
    for name, number, members, shown in cases:
        group = apps.get_model("groups", "Group").objects.create(cluster=cluster, name=name, added_at=T0)
        where: dict[str, object] = {"group": group, "number": number, "wave": number}
        rounds.create(**where, **opened, **ended, members_before=members, before=shown)

    new = migrate(AFTER).get_model("groups", "Round").objects

    assert dict(new.values_list("group__name", "members_before")) == {
        "unknown": None,
        "empty": [],
        "named": ["A"],
        "later": [],
    }
