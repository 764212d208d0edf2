import pytest
from django.db import connection
from django.db.migrations import AddConstraint, Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.models import CheckConstraint, Q

from dashboard.common.triggers import keeping_triggers

TRIGGERS = {
    "audit_auditentry_no_delete",
    "audit_auditentry_no_update",
    "clusters_cluster_lease_epoch_never_less",
    "clusters_queue_topic_id_always_the_same",
    "clusters_topic_cluster_id_always_the_same",
    "groups_finding_of_one_cluster_insert",
    "groups_finding_of_one_cluster_update",
    "groups_group_cluster_id_always_the_same",
    "groups_group_done_version_never_less",
    "groups_group_fence_never_less",
    "groups_group_inputs_version_never_less",
    "groups_group_round_number_never_less",
    "groups_holding_of_one_cluster_insert",
    "groups_holding_of_one_cluster_update",
    "groups_holding_of_one_group_insert",
    "groups_holding_of_one_group_update",
    "groups_member_group_id_always_the_same",
    "groups_round_group_id_always_the_same",
    "groups_round_number_always_the_same",
    "groups_roundcause_of_one_group_insert",
    "groups_roundcause_of_one_group_update",
    "groups_subscription_of_one_group_insert",
    "groups_subscription_of_one_group_update",
    "groups_target_fence_never_less",
    "groups_target_of_one_cluster_insert",
    "groups_target_of_one_cluster_update",
    "groups_target_of_one_group_insert",
    "groups_target_of_one_group_update",
    "push_stream_seq_never_less",
    "push_tally_count_never_less",
}
ON_SQLITE = {"audit_auditentry_no_replacing"}  # of which PostgreSQL has no need


def wanted() -> set[str]:
    return TRIGGERS | ON_SQLITE if connection.vendor == "sqlite" else TRIGGERS


def there() -> set[str]:
    query = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {name for (name,) in cursor.fetchall()}


@pytest.mark.django_db
def test_no_later_migration_has_lost_a_trigger() -> None:
    """SQLite loses the triggers of a table that a migration rebuilds: it must say them again."""
    assert there() == wanted()


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_rebuilds_a_table_keeps_the_triggers_that_are_of_it_and_that_read_it() -> None:
    limit = CheckConstraint(condition=Q(registrations__lt=1_000), name="member_is_registered_less_often")

    class Rebuilding(Migration):
        operations = keeping_triggers([AddConstraint("member", limit)])

    state = MigrationExecutor(connection).loader.project_state()
    with connection.schema_editor() as editor:
        after = Rebuilding("later", "groups").apply(state.clone(), editor)
    forward = there()
    with connection.schema_editor() as editor:
        Rebuilding("later", "groups").unapply(state, editor)

    assert after.models["groups", "member"].options["constraints"][-1] == limit
    assert (forward, there()) == (wanted(), wanted())
