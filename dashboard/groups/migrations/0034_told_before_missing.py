"""A broker told its list before it was missing, or never."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0033_told_until")]

    operations = [
        migrations.AddConstraint(
            model_name="memberlist",
            constraint=models.CheckConstraint(
                condition=models.Q(missing_low__isnull=True)
                | models.Q(missing_at__isnull=False, missing_low__lte=models.F("missing_at")),
                name="member_list_told_before_it_was_missing",
            ),
        ),
    ]
