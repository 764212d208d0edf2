"""How many messages were consumed twice in each round; of rounds that were told before this it stays unknown."""

from django.db import migrations, models

from dashboard.common.triggers import keeping_triggers


class Migration(migrations.Migration):
    dependencies = [("groups", "0020_lock_grants")]

    operations = keeping_triggers(
        [
            migrations.AlterField(
                model_name="group",
                name="duplicate_messages",
                field=models.BigIntegerField(
                    blank=True,
                    help_text="consumed twice, at least, as both members of handoffs reported; NULL: none did",
                    null=True,
                ),
            ),
            migrations.AddField(
                model_name="round",
                name="twice",
                field=models.BigIntegerField(
                    blank=True,
                    help_text="messages consumed twice in its handoffs, at least; NULL is unknown",
                    null=True,
                ),
            ),
            migrations.AddConstraint(
                model_name="round",
                constraint=models.CheckConstraint(condition=models.Q(("twice__gte", 0)), name="round_twice_is_counted"),
            ),
        ]
    )
