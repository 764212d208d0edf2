"""What goes wrong on the way to browsers, counted for good; and which processes have how many sockets."""

from django.db import migrations, models

import dashboard.common.fields
from dashboard.common.triggers import never_less


class Migration(migrations.Migration):
    dependencies = [
        ("push", "0002_triggers"),
    ]

    operations = [
        migrations.CreateModel(
            name="Server",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("process", models.CharField(max_length=300, unique=True)),
                ("at", dashboard.common.fields.AtField()),
                ("sockets", models.IntegerField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("process", ""), _negated=True), name="server_has_a_process"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="server_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("sockets__gte", 0)), name="server_sockets_are_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=60, unique=True)),
                ("count", models.BigIntegerField(default=0)),
            ],
            options={
                "verbose_name_plural": "tallies",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("kind", ""), _negated=True), name="tally_has_a_kind"),
                    models.CheckConstraint(condition=models.Q(("count__gte", 0)), name="tally_is_not_negative"),
                ],
            },
        ),
        never_less("push_tally", "count"),
    ]
