from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0010_groups_gone"),
    ]

    operations = [
        migrations.AddField(
            model_name="group",
            name="perhaps_twice_count",
            field=models.IntegerField(
                blank=True,
                help_text="queues that two said to hold, at times that need not overlap; no doubles",
                null=True,
            ),
        ),
    ]
