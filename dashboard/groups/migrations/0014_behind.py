"""What the last answer about offsets comes to, beside it. Of answers from before it is unknown until the next one."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from dashboard.common.fields import AtField


def not_added_up(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Nothing is known of what earlier answers come to: not that nothing is unknown."""
    apps.get_model("groups", "Progress").objects.update(unknown_lags=1)


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0013_orderly"),
    ]

    operations = [
        migrations.AddField(
            model_name="progress",
            name="empty_at",
            field=AtField(blank=True, help_text="the last answer of which nothing waited", null=True),
        ),
        migrations.AddField(
            model_name="progress",
            name="lag",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="progress",
            name="looks",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="progress",
            name="unknown_lags",
            field=models.IntegerField(default=0, help_text="queues of which it is unknown what was consumed"),
        ),
        migrations.AddField(
            model_name="progress",
            name="waits_since",
            field=AtField(blank=True, help_text="no message waits longer; NULL: none waits, or unknown", null=True),
        ),
        migrations.RunPython(not_added_up, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="progress",
            index=models.Index(fields=["group", "missing", "lag"], name="progress_lags"),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("lag", None), ("lag__gte", 0), _connector="OR"), ("unknown_lags__gte", 0)),
                name="progress_lag_is_counted",
            ),
        ),
        migrations.AddConstraint(
            model_name="progress",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("waits_since__range", (0, 253402300799999))),
                    models.Q(("empty_at__range", (0, 253402300799999))),
                ),
                name="progress_times_are_instants",
            ),
        ),
    ]
