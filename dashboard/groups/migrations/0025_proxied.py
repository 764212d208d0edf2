"""How many members seem to come through a proxy. Without a default, so that SQLite need not rebuild the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0024_notified")]

    operations = [
        migrations.AddField(
            model_name="group",
            name="proxied_count",
            field=models.IntegerField(
                blank=True,
                null=True,
                help_text="of the silent ones, those that seem to come through a proxy: they own nothing",
            ),
        ),
    ]
