"""When brokers were away. Without a default, so that SQLite need not rebuild the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0013_of_one_cluster")]

    operations = [
        migrations.AddField(
            model_name="broker",
            name="absences",
            field=models.JSONField(
                blank=True,
                null=True,
                help_text="[[gone at, back at], …], the last ones; NULL: none",
            ),
        ),
    ]
