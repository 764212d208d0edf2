"""What the migration makes of rows that are there."""

from __future__ import annotations

from dashboard.push.publish import catch_up
from tests.dashboard.migrating import Migrate, migrate  # noqa: F401 - a fixture

BEFORE, AFTER = ("push", "0003_tallies"), ("push", "0004_steps_of_numbers")


def test_steps_that_name_members_by_their_ids_are_given_up_for_a_snapshot(migrate: Migrate) -> None:  # noqa: F811
    apps = migrate(BEFORE)
    for name in ("group-1", "overview-1"):
        stream = apps.get_model("push", "Stream").objects.create(name=name, seq=2, at=5)
        for seq in (1, 2):
            apps.get_model("push", "Step").objects.create(stream=stream, seq=seq, at=5, body=b"{}")

    migrate(AFTER)

    assert catch_up(stream="group-1", last_seq=1, snapshot=lambda: None).bodies == ()
    assert catch_up(stream="group-1", last_seq=2, snapshot=lambda: None).seq == 2
    assert catch_up(stream="overview-1", last_seq=1, snapshot=lambda: None).bodies == (b"{}",)
