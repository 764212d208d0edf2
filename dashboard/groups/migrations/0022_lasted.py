"""How long a round took at least; of rounds that were told before this no more is known than how long at most."""

from django.db import migrations, models

from dashboard.common.triggers import keeping_triggers


class Migration(migrations.Migration):
    dependencies = [("groups", "0021_rounds_twice")]

    operations = keeping_triggers(
        [
            migrations.AddField(
                model_name="round",
                name="lasted_low",
                field=models.BigIntegerField(
                    blank=True, help_text="ms it took at least, by its handoffs; NULL until they are told", null=True
                ),
            ),
            migrations.AddConstraint(
                model_name="round",
                constraint=models.CheckConstraint(
                    condition=models.Q(("lasted_low__gte", 0)), name="round_lasted_low_is_not_negative"
                ),
            ),
        ]
    )
