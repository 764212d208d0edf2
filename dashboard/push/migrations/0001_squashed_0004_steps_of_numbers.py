"""All tables and triggers of this room at once, for an empty database: what the replaced ones make, in a tenth of the time."""

import django.db.models.deletion
from django.db import migrations, models

import dashboard.common.fields
from dashboard.common.triggers import never_less


class Migration(migrations.Migration):
    replaces = [
        ("push", "0001_initial"),
        ("push", "0002_triggers"),
        ("push", "0003_tallies"),
        ("push", "0004_steps_of_numbers"),
    ]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Stream",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                ("seq", models.BigIntegerField(default=0)),
                ("at", dashboard.common.fields.AtField(default=0)),
                ("state", models.BinaryField(default=b"")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="stream_has_a_name"),
                    models.CheckConstraint(condition=models.Q(("seq__gte", 0)), name="stream_seq_is_not_negative"),
                ],
            },
        ),
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
        migrations.CreateModel(
            name="Step",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.BigIntegerField()),
                ("at", dashboard.common.fields.AtField()),
                ("body", models.BinaryField()),
                (
                    "stream",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="steps", to="push.stream"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["at"], name="step_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("stream", "seq"), name="step_is_unique"),
                    models.CheckConstraint(condition=models.Q(("seq__gte", 1)), name="step_seq_is_from_1"),
                    models.CheckConstraint(condition=models.Q(("body", b""), _negated=True), name="step_has_a_body"),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="step_at_is_an_instant"
                    ),
                ],
            },
        ),
        never_less("push_stream", "seq"),
        never_less("push_tally", "count"),
    ]
