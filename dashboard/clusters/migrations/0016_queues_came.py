"""When queues were first known; of those that were there before this nobody kept it: they may have come back."""

from django.db import migrations

import dashboard.common.fields
from dashboard.common.triggers import keeping_triggers


class Migration(migrations.Migration):
    dependencies = [("clusters", "0015_queues_away")]

    operations = keeping_triggers(
        [
            migrations.AddField(
                model_name="queue",
                name="came_at",
                field=dashboard.common.fields.AtField(
                    blank=True, help_text="when it was first known; NULL: nobody kept it", null=True
                ),
            ),
        ]
    )
