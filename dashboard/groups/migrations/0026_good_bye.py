"""When a member unregistered, by its own report."""

from django.db import migrations

import dashboard.common.fields


class Migration(migrations.Migration):
    dependencies = [("groups", "0025_proxied")]

    operations = [
        migrations.AddField(
            model_name="member",
            name="good_bye_at",
            field=dashboard.common.fields.AtField(blank=True, null=True),
        ),
    ]
