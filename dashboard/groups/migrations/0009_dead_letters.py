from django.db import migrations, models

from dashboard.common.triggers import never_less


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0008_moves_unknown"),
    ]

    operations = [
        migrations.AddField(
            model_name="flow",
            name="dead",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="group",
            name="closed_by",
            field=models.JSONField(blank=True, default=list, help_text="brokers with consumeEnable=false"),
        ),
        # SQLite has rebuilt the table of groups, and lost its triggers with it.
        never_less("groups_group", "inputs_version"),
        never_less("groups_group", "done_version"),
        never_less("groups_group", "fence"),
        never_less("groups_group", "round_number"),
    ]
