"""When members and lists did not answer. Without a default, so that SQLite need not rebuild the tables."""

from django.db import migrations, models

import dashboard.common.fields


class Migration(migrations.Migration):
    dependencies = [("groups", "0029_perhaps_orphans")]

    operations = [
        migrations.AddField(
            model_name="member",
            name="silences",
            field=models.JSONField(
                blank=True,
                null=True,
                help_text="[[told last, told again or left], …]; of many the oldest are one; NULL: none",
            ),
        ),
        migrations.AddField(
            model_name="member",
            name="silent_until",
            field=dashboard.common.fields.AtField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="memberlist",
            name="silences",
            field=models.JSONField(
                blank=True,
                null=True,
                help_text="[[missing since, told again], …]; of many the oldest are one; NULL: none",
            ),
        ),
        migrations.AddField(
            model_name="memberlist",
            name="silent_until",
            field=dashboard.common.fields.AtField(blank=True, null=True),
        ),
    ]
