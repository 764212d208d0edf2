"""A text that changes whenever a topic's queues do."""

import secrets

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def divide(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Give one to each topic that is there already."""
    for topic in apps.get_model("clusters", "Topic").objects.all():
        topic.division = secrets.token_hex(16)
        topic.save(update_fields=["division"])


class Migration(migrations.Migration):
    """One more column."""

    dependencies = [("clusters", "0002_triggers")]
    operations = [
        migrations.AddField("topic", "division", models.CharField(blank=True, default="", max_length=32)),
        migrations.RunPython(divide, migrations.RunPython.noop),
    ]
