"""Rounds begin within bounds and say what they wait for; lists that brokers did not tell; how far groups are."""

import django.db.models.deletion
from django.db import migrations, models

import dashboard.common.fields
import dashboard.common.names


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0003_told"),
    ]

    operations = [
        migrations.CreateModel(
            name="Progress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", dashboard.common.fields.AtField()),
                ("at_low", dashboard.common.fields.AtField(blank=True, null=True)),
                ("at_high", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("admin answer", "admin answer"),
                            ("client log", "client log"),
                            ("broker log", "broker log"),
                            ("agent report", "agent report"),
                            ("derived", "derived"),
                            ("simulator", "simulator"),
                            ("operator", "operator"),
                        ],
                        max_length=16,
                    ),
                ),
                ("observed_at", dashboard.common.fields.AtField()),
                ("observed_by", models.TextField(blank=True, default="")),
                ("detail", models.TextField(blank=True, default="")),
                ("broker", dashboard.common.names.NameField()),
                ("queues", models.JSONField(blank=True, default=list)),
                (
                    "missing",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("timeout", "timeout"),
                            ("not online", "not online"),
                            ("refused", "refused"),
                            ("no permission", "no permission"),
                            ("not asked", "not asked"),
                            ("error", "error"),
                        ],
                        max_length=16,
                        null=True,
                    ),
                ),
                ("missing_at", dashboard.common.fields.AtField(blank=True, null=True)),
            ],
            options={
                "verbose_name_plural": "progress",
            },
        ),
        migrations.AddField(
            model_name="group",
            name="untold_count",
            field=models.IntegerField(blank=True, help_text="brokers that did not tell who is a member", null=True),
        ),
        migrations.AddField(
            model_name="memberlist",
            name="missing",
            field=models.CharField(
                blank=True,
                choices=[
                    ("timeout", "timeout"),
                    ("not online", "not online"),
                    ("refused", "refused"),
                    ("no permission", "no permission"),
                    ("not asked", "not asked"),
                    ("error", "error"),
                ],
                max_length=16,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="memberlist",
            name="missing_at",
            field=dashboard.common.fields.AtField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="round",
            name="opened_low",
            field=dashboard.common.fields.AtField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="round",
            name="waits_for",
            field=models.TextField(blank=True, default="", help_text="why it cannot be said whether held is target"),
        ),
        migrations.AddConstraint(
            model_name="memberlist",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("missing__isnull", True), ("missing_at__isnull", True)),
                    models.Q(("missing__isnull", False), ("missing_at__isnull", False)),
                    _connector="OR",
                ),
                name="member_list_missing_has_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="memberlist",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("missing__in", ["timeout", "not online", "refused", "no permission", "not asked", "error"])
                ),
                name="member_list_missing_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("opened_at__isnull", True), ("opened_at__gte", models.F("opened_low")), _connector="OR"
                ),
                name="round_opened_low_is_not_above",
            ),
        ),
        migrations.AddField(
            model_name="progress",
            name="group",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="progress", to="groups.group"
            ),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.UniqueConstraint(fields=("group", "broker"), name="progress_is_unique"),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("missing__isnull", True), ("missing_at__isnull", True)),
                    models.Q(("missing__isnull", False), ("missing_at__isnull", False)),
                    _connector="OR",
                ),
                name="progress_missing_has_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("missing__in", ["timeout", "not online", "refused", "no permission", "not asked", "error"])
                ),
                name="progress_missing_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.CheckConstraint(
                condition=models.Q(("broker", ""), _negated=True), name="progress_has_a_broker"
            ),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.CheckConstraint(
                condition=models.Q(("at__range", (0, 253402300799999))), name="progress_at_is_an_instant"
            ),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.CheckConstraint(
                condition=models.Q(("observed_at__range", (0, 253402300799999))),
                name="progress_observed_at_is_an_instant",
            ),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "origin__in",
                        [
                            "admin answer",
                            "client log",
                            "broker log",
                            "agent report",
                            "derived",
                            "simulator",
                            "operator",
                        ],
                    )
                ),
                name="progress_origin_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                    models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                ),
                name="progress_at_is_within_its_bounds",
            ),
        ),
    ]
