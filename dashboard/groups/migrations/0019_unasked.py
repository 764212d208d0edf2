"""How many members nobody has asked yet. Without a default, so that SQLite need not rebuild the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0018_popped_by")]

    operations = [
        migrations.AddField(
            model_name="group",
            name="unasked_count",
            field=models.IntegerField(blank=True, null=True, help_text="of the silent ones, those not asked yet"),
        ),
    ]
