"""What was counted as consumed twice, of who took it. Without a constraint, so that SQLite need not rebuild the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0030_silences")]

    operations = [
        migrations.AddField(
            model_name="holding",
            name="twice_until",
            field=models.BigIntegerField(blank=True, null=True),
        ),
    ]
