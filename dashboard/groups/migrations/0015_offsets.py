"""Where members went on and how far they had consumed, as they report it: what was consumed twice lies between."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0014_behind"),
    ]

    operations = [
        migrations.AddField(
            model_name="holding",
            name="committed_offset",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="holding",
            name="start_offset",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="holding",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("start_offset__gte", 0)), models.Q(("committed_offset__gte", 0))),
                name="holding_offsets_are_not_negative",
            ),
        ),
    ]
