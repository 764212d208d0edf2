"""A round keeps its number: whoever names it would name another one otherwise."""

from django.db import migrations

from dashboard.common.triggers import always_the_same


class Migration(migrations.Migration):
    """The trigger of rounds."""

    dependencies = [("groups", "0034_told_before_missing")]
    operations = [always_the_same("groups_round", "number")]
