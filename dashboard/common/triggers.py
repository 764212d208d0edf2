"""Rules that no check constraint can say, because they compare a row with what it was: as triggers, in migrations.

SQLite loses a table's triggers when a later migration rebuilds the table: such a migration must say them again.
A test asks the database itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import RunPython
from django.db.migrations.state import StateApps


def never_less(table: str, column: str) -> RunPython:
    """Refuse an update that makes a counter less than it was."""
    refusal = f"{table}.{column} never becomes less"
    return _trigger(f"{column}_never_less", table, f"UPDATE OF {column}", refusal, f"NEW.{column} < OLD.{column}")


def append_only(table: str) -> list[RunPython]:
    """Refuse to change or to delete a row."""
    refusal = f"{table} can only be appended to"
    return [_trigger(f"no_{verb.lower()}", table, verb, refusal) for verb in ("UPDATE", "DELETE")]


def _trigger(name: str, table: str, event: str, refusal: str, condition: str = "") -> RunPython:
    name = f"{table}_{name}"

    def create(_apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
        for statement in _create(editor.connection.vendor, name, table, event, refusal, condition):
            editor.execute(statement)

    def drop(_apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
        on_table = f" ON {table}" if editor.connection.vendor == "postgresql" else ""
        editor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")

    return RunPython(create, drop)


def _create(vendor: str, name: str, table: str, event: str, refusal: str, condition: str) -> Iterator[str]:
    when = f"WHEN ({condition}) " if condition else ""
    if vendor == "sqlite":
        yield f"DROP TRIGGER IF EXISTS {name}"
        yield f"CREATE TRIGGER {name} BEFORE {event} ON {table} {when}BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
        return
    yield (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{refusal}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    yield f"DROP TRIGGER IF EXISTS {name} ON {table}"
    yield f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW {when}EXECUTE FUNCTION {name}()"
