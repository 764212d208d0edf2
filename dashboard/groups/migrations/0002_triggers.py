"""Counters of a group only grow."""

from django.db import migrations

from dashboard.common.triggers import never_less


class Migration(migrations.Migration):
    """The triggers of this room."""

    dependencies = [("groups", "0001_initial")]
    operations = [
        never_less("groups_group", "inputs_version"),
        never_less("groups_group", "done_version"),
        never_less("groups_group", "fence"),
        never_less("groups_group", "round_number"),
    ]
