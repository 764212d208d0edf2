from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def count_again(apps: Apps, _schema: BaseDatabaseSchemaEditor) -> None:
    """Let rounds that have ended count the queues of their handoffs; what was not told of is unknown."""
    rounds = apps.get_model("groups", "Round").objects.filter(closed_at__isnull=False)
    for row in rounds.only("told_at", "superseded_by").iterator(chunk_size=500):
        queues = row.handoffs.values_list("topic", "broker", "queue_id").distinct()
        row.move_count = None if row.told_at is None else queues.count()
        row.save(update_fields=["move_count"])


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0007_handoffs_counted"),
    ]

    operations = [
        migrations.AlterField(
            model_name="round",
            name="move_count",
            field=models.IntegerField(blank=True, null=True),
        ),
        migrations.RunPython(count_again, migrations.RunPython.noop, elidable=True),
    ]
