"""No row joins what is of two groups, or of two clusters; what it names is given to no other one later."""

from django.db import migrations

from dashboard.common.triggers import always_the_same, of_one

GROUP = "NEW.group_id"
CLUSTER = "(SELECT cluster_id FROM groups_group WHERE id = NEW.group_id)"
OF_MEMBER = "(SELECT group_id FROM groups_member WHERE id = NEW.member_id)"
OF_ROUND = "(SELECT group_id FROM groups_round WHERE id = NEW.round_id)"
OF_QUEUE = (
    "(SELECT cluster_id FROM clusters_topic WHERE id = (SELECT topic_id FROM clusters_queue WHERE id = NEW.queue_id))"
)


class Migration(migrations.Migration):
    """Triggers: a foreign key compares nothing but the number of a row."""

    dependencies = [("groups", "0015_offsets"), ("clusters", "0012_orders_in_order")]
    operations = [
        always_the_same("groups_group", "cluster_id"),
        always_the_same("groups_member", "group_id"),
        always_the_same("groups_round", "group_id"),
        *of_one("groups_subscription", "group", ["group_id", "member_id"], ours=GROUP, theirs=OF_MEMBER),
        *of_one("groups_target", "group", ["group_id", "member_id"], ours=GROUP, theirs=OF_MEMBER),
        *of_one("groups_target", "cluster", ["group_id", "queue_id"], ours=CLUSTER, theirs=OF_QUEUE),
        *of_one("groups_holding", "group", ["group_id", "member_id"], ours=GROUP, theirs=OF_MEMBER),
        *of_one("groups_holding", "cluster", ["group_id", "queue_id"], ours=CLUSTER, theirs=OF_QUEUE),
        *of_one("groups_roundcause", "group", ["group_id", "round_id"], ours=GROUP, theirs=OF_ROUND),
        *of_one("groups_finding", "cluster", ["cluster_id", "group_id"], ours="NEW.cluster_id", theirs=CLUSTER),
    ]
