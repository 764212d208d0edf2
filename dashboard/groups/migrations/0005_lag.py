"""How far groups were behind, step by step."""

import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models

import dashboard.common.fields
import dashboard.common.names


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0004_bounds"),
    ]

    operations = [
        migrations.CreateModel(
            name="LagStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("broker", dashboard.common.names.NameField()),
                ("began_at", dashboard.common.fields.AtField()),
                ("at", dashboard.common.fields.AtField()),
                ("lag", models.BigIntegerField(blank=True, null=True)),
                ("most", models.BigIntegerField(blank=True, null=True)),
                ("worst_queue", models.TextField(blank=True, default="")),
                ("worst_lag", models.BigIntegerField(blank=True, null=True)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lag_steps", to="groups.group"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["group", "began_at"], name="lag_step_by_time")],
                "constraints": [
                    models.UniqueConstraint(fields=("group", "broker", "began_at"), name="lag_step_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("lag", None), ("lag__gte", 0), _connector="OR"),
                        name="lag_step_is_no_less_than_nothing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lag", None),
                            models.Q(("most__gte", models.F("lag")), ("most__isnull", False)),
                            _connector="OR",
                        ),
                        name="lag_step_has_its_most",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("at__gte", models.F("began_at")),
                            (
                                "at__lt",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("began_at"), "+", models.Value(10000)
                                ),
                            ),
                        ),
                        name="lag_step_lies_in_its_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="lag_step_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="lag_step_has_a_broker"
                    ),
                ],
            },
        ),
    ]
