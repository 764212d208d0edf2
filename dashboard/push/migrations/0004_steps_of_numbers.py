"""Diffs of groups name members by number now: kept steps that name them by their ids are given up.

So it is the other way round: code from before cannot read those of now. A browser that asks for one gets a snapshot. What was shown at an instant of that day is put together from what is kept
longer, as for every day before; numbers of streams go on.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

GROUP_STREAMS = "group-"


def give_up(apps: Apps, _schema: BaseDatabaseSchemaEditor) -> None:
    """Delete the steps of groups."""
    apps.get_model("push", "Step").objects.filter(stream__name__startswith=GROUP_STREAMS).delete()


class Migration(migrations.Migration):
    """Steps of another form."""

    dependencies = [("push", "0003_tallies")]
    operations = [migrations.RunPython(give_up, give_up)]
