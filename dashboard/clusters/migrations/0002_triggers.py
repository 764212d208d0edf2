"""Leases only grow."""

from django.db import migrations

from dashboard.common.triggers import never_less


class Migration(migrations.Migration):
    """The triggers of this room."""

    dependencies = [("clusters", "0001_initial")]
    operations = [never_less("clusters_cluster", "lease_epoch")]
