"""An entry cannot be replaced by another one either, which is no update nor delete to SQLite's triggers."""

from django.db import migrations

from dashboard.common.triggers import not_replaced


class Migration(migrations.Migration):
    """The trigger."""

    dependencies = [("audit", "0002_triggers")]
    operations = not_replaced("audit_auditentry", ["id", "number", "previous", "digest"])
