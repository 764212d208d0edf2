"""When queues were in no route; of what was gone before this it stays unknown since when it may have been."""

from django.db import migrations, models
from django.db.models import F

import dashboard.common.fields
from dashboard.common.triggers import keeping_triggers


class Migration(migrations.Migration):
    dependencies = [("clusters", "0014_absences")]

    operations = keeping_triggers(
        [
            migrations.AddField(
                model_name="queue",
                name="gone_low",
                field=dashboard.common.fields.AtField(blank=True, null=True),
            ),
            migrations.AddField(
                model_name="queue",
                name="absences",
                field=models.JSONField(
                    blank=True,
                    null=True,
                    help_text="[[gone low, gone at, back low, back at], …], the last ones; NULL: none",
                ),
            ),
            migrations.AddConstraint(
                model_name="queue",
                constraint=models.CheckConstraint(
                    condition=models.Q(("gone_at__isnull", True), ("gone_at__gte", F("gone_low")), _connector="OR"),
                    name="queue_gone_bounds_are_in_order",
                ),
            ),
        ]
    )
