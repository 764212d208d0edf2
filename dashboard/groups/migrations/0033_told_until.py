"""When a broker whose list is missing had told it last. Without a default, so that SQLite need not rebuild the table."""

from django.db import migrations

import dashboard.common.fields


class Migration(migrations.Migration):
    dependencies = [("groups", "0032_popping")]

    operations = [
        migrations.AddField(
            model_name="memberlist",
            name="missing_low",
            field=dashboard.common.fields.AtField(blank=True, null=True),
        ),
    ]
