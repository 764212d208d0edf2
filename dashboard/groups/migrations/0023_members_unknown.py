"""Who was a member before the first round that was seen of a group may be unknown, which was stored as nobody."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import dashboard.common.names
from dashboard.common.triggers import keeping_triggers


def say_unknown(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Let nobody be unknown, where nothing had been shown of the group before its first round."""
    rounds = apps.get_model("groups", "Round").objects.using(editor.connection.alias)
    rows = rounds.filter(number=1, before=b"").values_list("pk", "members_before")
    nobody = [pk for pk, members in rows.iterator() if not members]
    for start in range(0, len(nobody), 500):
        rounds.filter(pk__in=nobody[start : start + 500]).update(members_before=None)


class Migration(migrations.Migration):
    dependencies = [("groups", "0022_lasted")]

    operations = [
        *keeping_triggers(
            [
                migrations.AlterField(
                    model_name="round",
                    name="members_before",
                    field=dashboard.common.names.NamesField(
                        blank=True, help_text="NULL: of before the first round nothing is known", null=True
                    ),
                ),
            ]
        ),
        migrations.RunPython(say_unknown, migrations.RunPython.noop),
    ]
