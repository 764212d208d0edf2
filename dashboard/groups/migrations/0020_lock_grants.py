"""Who was granted the lock of a queue last: new, and empty until somebody tells."""

import django.db.models.deletion
from django.db import migrations, models

import dashboard.common.fields
import dashboard.common.names


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0019_unasked"),
    ]

    operations = [
        migrations.CreateModel(
            name="LockGrant",
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
                ("client_id", dashboard.common.names.NameField()),
                ("topic", dashboard.common.names.NameField()),
                ("broker", dashboard.common.names.NameField()),
                ("queue_id", models.BigIntegerField()),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lock_grants", to="groups.group"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("group", "topic", "broker", "queue_id"), name="lock_grant_is_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("client_id", ""), _negated=True), name="lock_grant_has_a_client"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("queue_id__range", (-1, 2147483647))), name="lock_grant_queue_id_fits"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="lock_grant_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="lock_grant_observed_at_is_an_instant",
                    ),
                    models.CheckConstraint(
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
                        name="lock_grant_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="lock_grant_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
    ]
