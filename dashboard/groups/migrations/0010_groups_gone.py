from django.db import migrations

import dashboard.common.fields


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0009_dead_letters"),
    ]

    operations = [
        migrations.AddField(
            model_name="group",
            name="gone_at",
            field=dashboard.common.fields.AtField(
                blank=True, help_text="since then no broker names it, and nobody is a member", null=True
            ),
        ),
    ]
