from django.db import migrations

import dashboard.common.fields


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0011_perhaps_twice"),
    ]

    operations = [
        migrations.AddField(
            model_name="round",
            name="settled_at",
            field=dashboard.common.fields.AtField(
                blank=True, help_text="when what was held had last changed, as it closed", null=True
            ),
        ),
    ]
