"""Rounds say whether their handoffs were told, handoffs their pauses; refused locks and duplicates are kept."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import dashboard.common.fields
import dashboard.common.names


def told(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Rounds that ended before this were told when they ended."""
    apps.get_model("groups", "Round").objects.filter(closed_at__isnull=False).update(told_at=models.F("closed_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0002_triggers"),
    ]

    operations = [
        migrations.CreateModel(
            name="LockRefusal",
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
                ("holder", dashboard.common.names.NameField(blank=True, default="")),
                ("count", models.BigIntegerField(default=1)),
            ],
        ),
        migrations.AddField(
            model_name="group",
            name="duplicate_messages",
            field=models.BigIntegerField(
                blank=True, help_text="consumed twice, as consumers reported; NULL: nobody reported any", null=True
            ),
        ),
        migrations.AddField(
            model_name="handoff",
            name="pause_high",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="handoff",
            name="pause_low",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="round",
            name="told_at",
            field=dashboard.common.fields.AtField(
                blank=True, help_text="when its handoffs were told; after its end", null=True
            ),
        ),
        migrations.AddIndex(
            model_name="round",
            index=models.Index(
                condition=models.Q(("closed_at__isnull", False), ("told_at__isnull", True)),
                fields=["group"],
                name="round_untold",
            ),
        ),
        migrations.AddConstraint(
            model_name="handoff",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("pause_high__isnull", True), ("pause_high__gte", models.F("pause_low")), _connector="OR"
                ),
                name="handoff_pause_bounds_are_in_order",
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(
                condition=models.Q(("told_at__isnull", True), ("closed_at__isnull", False), _connector="OR"),
                name="round_is_told_when_it_ended",
            ),
        ),
        migrations.AddField(
            model_name="lockrefusal",
            name="group",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="lock_refusals", to="groups.group"
            ),
        ),
        migrations.AddConstraint(
            model_name="lockrefusal",
            constraint=models.UniqueConstraint(
                fields=("group", "client_id", "topic", "broker", "queue_id"), name="lock_refusal_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="lockrefusal",
            constraint=models.CheckConstraint(
                condition=models.Q(("client_id", ""), _negated=True), name="lock_refusal_has_a_client"
            ),
        ),
        migrations.AddConstraint(
            model_name="lockrefusal",
            constraint=models.CheckConstraint(condition=models.Q(("count__gte", 1)), name="lock_refusal_is_counted"),
        ),
        migrations.AddConstraint(
            model_name="lockrefusal",
            constraint=models.CheckConstraint(
                condition=models.Q(("at__range", (0, 253402300799999))), name="lock_refusal_at_is_an_instant"
            ),
        ),
        migrations.AddConstraint(
            model_name="lockrefusal",
            constraint=models.CheckConstraint(
                condition=models.Q(("observed_at__range", (0, 253402300799999))),
                name="lock_refusal_observed_at_is_an_instant",
            ),
        ),
        migrations.AddConstraint(
            model_name="lockrefusal",
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
                name="lock_refusal_origin_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="lockrefusal",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                    models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                ),
                name="lock_refusal_at_is_within_its_bounds",
            ),
        ),
        migrations.RunPython(told, migrations.RunPython.noop),
    ]
