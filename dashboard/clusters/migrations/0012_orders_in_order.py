"""An order ends after it was taken; one that a clock ended before ends when it was taken."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import F


def put_right(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Let orders that a clock ended before they were taken end when they were."""
    orders = apps.get_model("clusters", "Command").objects
    orders.filter(finished_at__lt=F("taken_at")).update(finished_at=F("taken_at"))


class Migration(migrations.Migration):
    dependencies = [("clusters", "0011_forgetting")]

    operations = [
        migrations.RunPython(put_right, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="command",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("finished_at__isnull", True), ("finished_at__gte", models.F("taken_at")), _connector="OR"
                ),
                name="command_is_over_after_it_was_taken",
            ),
        ),
    ]
