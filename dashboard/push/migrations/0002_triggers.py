"""Streams only go on."""

from django.db import migrations

from dashboard.common.triggers import never_less


class Migration(migrations.Migration):
    """The triggers of this room."""

    dependencies = [("push", "0001_initial")]
    operations = [never_less("push_stream", "seq")]
