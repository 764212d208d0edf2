"""Which brokers are set to give a group topics by POP. Without a default, so that SQLite need not rebuild the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0017_lag_of_queues")]

    operations = [
        migrations.AddField(
            model_name="group",
            name="popped_by",
            field=models.JSONField(
                blank=True,
                null=True,
                help_text="broker -> topics that it is set to give by POP; NULL: none told of any",
            ),
        ),
    ]
