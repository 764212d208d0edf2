"""When brokers' settings of a group were looked at last."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0027_disputed")]

    operations = [
        migrations.AddField(
            model_name="group",
            name="settings_seen_at",
            field=models.JSONField(
                blank=True, help_text="setting -> broker -> when it was looked at last, ms; NULL: never", null=True
            ),
        ),
    ]
