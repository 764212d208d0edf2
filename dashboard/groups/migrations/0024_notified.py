"""Where no broker notifies the members of a group, a recompute is not offered."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0023_members_unknown")]

    operations = [
        migrations.AddField(
            model_name="group",
            name="is_notified",
            field=models.BooleanField(
                blank=True,
                help_text="False: notifyConsumerIdsChangedEnable=false at every broker that has it",
                null=True,
            ),
        ),
    ]
