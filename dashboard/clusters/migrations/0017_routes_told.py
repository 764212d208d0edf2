"""When all routes were told last: a queue that is in none is gone for certain until then."""

from django.db import migrations

import dashboard.common.fields


class Migration(migrations.Migration):
    dependencies = [("clusters", "0016_queues_came")]

    operations = [
        migrations.AddField(
            model_name="watch",
            name="routes_at",
            field=dashboard.common.fields.AtField(
                blank=True, help_text="every route was told then or later, and is stored", null=True
            ),
        ),
    ]
