"""How many members take messages by POP. Without a default, so that SQLite need not rebuild the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0031_counted_twice")]

    operations = [
        migrations.AddField(
            model_name="group",
            name="popping_count",
            field=models.IntegerField(
                blank=True,
                null=True,
                help_text="members that take messages by POP, from queues that nobody owns",
            ),
        ),
    ]
