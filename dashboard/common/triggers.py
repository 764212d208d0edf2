"""Rules that no check constraint can say, because they compare a row with what it was: as triggers, in migrations.

SQLite loses a table's triggers when a later migration rebuilds the table, and cannot rebuild one that a trigger of
another reads: such a migration does it within ``keeping_triggers``. A test asks the database itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

Do = Callable[[BaseDatabaseSchemaEditor], None]


class Statements(Operation):
    """Statements that no model knows of. Unlike ``RunPython`` it asks for no models: Django makes all anew for that."""

    reduces_to_sql = False

    def __init__(self, forwards: Do, backwards: Do) -> None:
        self._forwards, self._backwards = forwards, backwards

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change no model."""

    def database_forwards(
        self,
        _app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        _from_state: ProjectState,
        _to_state: ProjectState,
    ) -> None:
        """Run them."""
        self._forwards(schema_editor)

    def database_backwards(
        self,
        _app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        _from_state: ProjectState,
        _to_state: ProjectState,
    ) -> None:
        """Take them back."""
        self._backwards(schema_editor)

    def describe(self) -> str:
        """Say what it is."""
        return "Triggers"


def never_less(table: str, column: str) -> Statements:
    """Refuse an update that makes a counter less than it was."""
    refusal = f"{table}.{column} never becomes less"
    return _trigger(f"{column}_never_less", table, f"UPDATE OF {column}", refusal, f"NEW.{column} < OLD.{column}")


def always_the_same(table: str, column: str) -> Statements:
    """Refuse an update that gives a row to another one."""
    refusal = f"{table}.{column} is always the same"
    return _trigger(f"{column}_always_the_same", table, f"UPDATE OF {column}", refusal, f"NEW.{column} <> OLD.{column}")


def of_one(table: str, parent: str, columns: Sequence[str], *, ours: str, theirs: str) -> list[Statements]:
    """Refuse a row that joins what belongs to two: the rows that it names are of one ``parent``.

    Args:
        table: of the row.
        parent: what both belong to; of the trigger's name.
        columns: those of the row that name others.
        ours: whose the row is, and
        theirs: whose the named row is: SQL of ``NEW``. NULL, of a row that names none, passes.
    """
    refusal = f"{table} joins what is of one {parent}"
    name, condition = f"of_one_{parent}", f"{theirs} <> {ours}"
    return [
        _trigger(f"{name}_{verb}", table, event, refusal, condition, reads_others=True)
        for verb, event in (("insert", "INSERT"), ("update", f"UPDATE OF {', '.join(columns)}"))
    ]


def append_only(table: str) -> list[Statements]:
    """Refuse to change or to delete a row."""
    refusal = f"{table} can only be appended to"
    return [_trigger(f"no_{verb.lower()}", table, verb, refusal) for verb in ("UPDATE", "DELETE")]


def not_replaced(table: str, columns: Sequence[str]) -> list[Statements]:
    """Refuse a row that says of itself what one that is there says, in any of the unique ``columns``.

    Their constraints refuse it too, but for SQLite's ``INSERT OR REPLACE``, which deletes the other row without a word
    to triggers. To PostgreSQL ``ON CONFLICT DO UPDATE`` is an update, which ``append_only`` refuses.
    """
    same = " OR ".join(f"{column} = NEW.{column}" for column in columns)
    there = f"EXISTS (SELECT 1 FROM {table} WHERE {same})"  # noqa: S608 - names of a migration
    return [_trigger("no_replacing", table, "INSERT", f"{table} has it already", there, is_for=("sqlite",))]


def keeping_triggers(operations: Iterable[Operation]) -> list[Operation]:
    """Put all triggers aside while these operations rebuild tables, and say them again after, in one transaction."""
    kept: dict[str, str] = {}

    def put_aside(editor: BaseDatabaseSchemaEditor) -> None:
        kept.clear()
        kept.update(_triggers_on_sqlite(editor))
        for name in kept:
            editor.execute(f"DROP TRIGGER {name}")

    def say_again(editor: BaseDatabaseSchemaEditor) -> None:
        there = _triggers_on_sqlite(editor)
        for name in kept.keys() - there.keys():
            editor.execute(kept[name])

    return [Statements(put_aside, say_again), *operations, Statements(say_again, put_aside)]


def _triggers_on_sqlite(editor: BaseDatabaseSchemaEditor) -> dict[str, str]:
    """Read all triggers, each as it was made; none of another database, which loses none."""
    if editor.connection.vendor != "sqlite":
        return {}
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        return dict(cursor.fetchall())


def _trigger(
    name: str,
    table: str,
    event: str,
    refusal: str,
    condition: str = "",
    *,
    reads_others: bool = False,
    is_for: Collection[str] = ("sqlite", "postgresql"),
) -> Statements:
    name = f"{table}_{name}"

    def create(editor: BaseDatabaseSchemaEditor) -> None:
        if editor.connection.vendor not in is_for:
            return
        of_vendor = _create_on_sqlite if editor.connection.vendor == "sqlite" else _create_on_postgresql
        for statement in of_vendor(name, table, event, refusal, condition, reads_others=reads_others):
            editor.execute(statement)

    def drop(editor: BaseDatabaseSchemaEditor) -> None:
        on_table = f" ON {table}" if editor.connection.vendor == "postgresql" else ""
        editor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")

    return Statements(create, drop)


def _create_on_sqlite(
    name: str, table: str, event: str, refusal: str, condition: str, *, reads_others: bool
) -> Iterator[str]:
    del reads_others  # as any condition may
    when = f"WHEN ({condition}) " if condition else ""
    yield f"DROP TRIGGER IF EXISTS {name}"
    yield f"CREATE TRIGGER {name} BEFORE {event} ON {table} {when}BEGIN SELECT RAISE(ABORT, '{refusal}'); END"


def _create_on_postgresql(
    name: str, table: str, event: str, refusal: str, condition: str, *, reads_others: bool
) -> Iterator[str]:
    """Only the body of the function may read other rows."""
    refuse = f"RAISE EXCEPTION '{refusal}' USING ERRCODE = 'integrity_constraint_violation';"
    body = f"IF {condition} THEN {refuse} END IF; RETURN NEW;" if reads_others else refuse
    when = f"WHEN ({condition}) " if condition and not reads_others else ""
    yield f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
    yield f"DROP TRIGGER IF EXISTS {name} ON {table}"
    yield f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW {when}EXECUTE FUNCTION {name}()"
