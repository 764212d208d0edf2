"""How many members told in part. Without a default, so that SQLite need not rebuild the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0035_numbers_stay")]

    operations = [
        migrations.AddField(
            model_name="group",
            name="partial_count",
            field=models.IntegerField(
                blank=True,
                null=True,
                help_text="members with several connections, of which only one can be asked",
            ),
        ),
    ]
