import pytest
from django.db import connection

TRIGGERS = {
    "audit_auditentry_no_delete",
    "audit_auditentry_no_update",
    "clusters_cluster_lease_epoch_never_less",
    "groups_group_done_version_never_less",
    "groups_group_fence_never_less",
    "groups_group_inputs_version_never_less",
    "groups_group_round_number_never_less",
    "groups_target_fence_never_less",
    "push_stream_seq_never_less",
    "push_tally_count_never_less",
}


@pytest.mark.django_db
def test_no_later_migration_has_lost_a_trigger() -> None:
    """SQLite loses the triggers of a table that a migration rebuilds: it must say them again."""
    query = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        there = {name for (name,) in cursor.fetchall()}

    assert there == TRIGGERS
