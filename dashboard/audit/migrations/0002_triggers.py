"""The log can only be appended to."""

from django.db import migrations

from dashboard.common.triggers import append_only


class Migration(migrations.Migration):
    """The triggers of this room."""

    dependencies = [("audit", "0001_initial")]
    operations = append_only("audit_auditentry")
