"""When members had several connections, of which only one is asked: of then less is certain."""

from django.db import migrations, models

import dashboard.common.fields


class Migration(migrations.Migration):
    dependencies = [("groups", "0036_partial")]

    operations = [
        migrations.AddField(
            model_name="member",
            name="doubled_at",
            field=dashboard.common.fields.AtField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="member",
            name="doubled",
            field=models.JSONField(
                blank=True,
                help_text="[[several connections since, until], …]; of many the oldest are one; NULL: none",
                null=True,
            ),
        ),
    ]
