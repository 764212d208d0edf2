"""Producers by their connections; how many clients rest, and since when all lists were told."""

import django.db.models.deletion
from django.db import migrations, models

import dashboard.common.fields
import dashboard.common.names


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0004_watch"),
    ]

    operations = [
        migrations.AddField(
            model_name="watch",
            name="lists_at",
            field=dashboard.common.fields.AtField(
                blank=True, help_text="every member list was told then or later, and is stored", null=True
            ),
        ),
        migrations.AddField(
            model_name="watch",
            name="resting",
            field=models.IntegerField(
                default=0, help_text="clients that did not answer, and are left alone for a while"
            ),
        ),
        migrations.CreateModel(
            name="Producer",
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
                ("group_name", dashboard.common.names.NameField()),
                ("client_id", dashboard.common.names.NameField()),
                ("address", models.TextField()),
                ("language", models.TextField(blank=True, default="")),
                ("version", models.TextField(blank=True, default="")),
                ("gone_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="producer_connections",
                        to="clusters.cluster",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "broker", "group_name", "client_id", "address"),
                        name="producer_connection_is_unique",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="producer_connection_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("client_id", ""), _negated=True), name="producer_connection_has_a_client"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("gone_at__isnull", True), ("gone_at__gte", models.F("at")), _connector="OR"
                        ),
                        name="producer_goes_after_it_came",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))),
                        name="producer_connection_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="producer_connection_observed_at_is_an_instant",
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
                        name="producer_connection_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="producer_connection_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProducerList",
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
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="producer_lists",
                        to="clusters.cluster",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "broker"), name="producer_list_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("missing__isnull", True), ("missing_at__isnull", True)),
                            models.Q(("missing__isnull", False), ("missing_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="producer_list_missing_has_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("missing__in", ["timeout", "not online", "refused", "no permission", "not asked", "error"])
                        ),
                        name="producer_list_missing_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="producer_list_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="producer_list_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="producer_list_observed_at_is_an_instant",
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
                        name="producer_list_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="producer_list_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
    ]
