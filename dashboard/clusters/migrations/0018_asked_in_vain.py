"""What a sweep asked in vain, beside what it did not get to."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0017_routes_told")]

    operations = [
        migrations.AddField(
            model_name="watch",
            name="sweep_unanswered",
            field=models.IntegerField(default=0, help_text="what the last whole sweep asked in vain"),
        ),
        migrations.AlterField(
            model_name="watch",
            name="sweep_missed",
            field=models.IntegerField(default=0, help_text="what the last whole sweep did not get to"),
        ),
    ]
