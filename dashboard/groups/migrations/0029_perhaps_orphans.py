"""How many of the disputed queues nobody is known to hold. Without a default, so that SQLite need not rebuild the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0028_settings_seen")]

    operations = [
        migrations.AddField(
            model_name="group",
            name="perhaps_orphan_count",
            field=models.IntegerField(
                blank=True,
                null=True,
                help_text="of the disputed queues, those that nobody is known to hold; no orphans",
            ),
        ),
    ]
