"""When NameServers disagree on a group's queues. Without a default, so that SQLite need not rebuild the table."""

from django.db import migrations, models

import dashboard.common.fields


class Migration(migrations.Migration):
    dependencies = [("groups", "0026_good_bye")]

    operations = [
        migrations.AddField(
            model_name="group",
            name="disputed_count",
            field=models.IntegerField(
                blank=True, null=True, help_text="queues that not every NameServer has in its route"
            ),
        ),
        migrations.AddField(
            model_name="group",
            name="disputed_since",
            field=dashboard.common.fields.AtField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="group",
            name="disputes",
            field=models.JSONField(
                blank=True, null=True, help_text="[[since, until, whether queues went], …]; NULL: none"
            ),
        ),
    ]
