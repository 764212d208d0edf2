"""Thousands of rows in one statement, without an object for each: where Django's own way takes ten times as long.

Values are given as the database takes them; only names are escaped here. Constraints hold all the same: they stand in
the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import connection, models
from django.db.backends.utils import CursorWrapper

from dashboard.common.names import NameField, escape

Value = str | int | bytes | bool | None
Values = Sequence[Value]


def insert(model: type[models.Model], columns: Sequence[str], rows: Iterable[Values], *, on_conflict: str = "") -> None:
    """Insert rows, each with the values of ``columns`` (fields' names) in their order.

    ``on_conflict`` is what stands behind these words in SQL, as both databases understand it: ``DO NOTHING``.
    """
    fields = _fields(model, columns)
    named = [place for place, field in enumerate(fields) if isinstance(field, NameField)]
    values = [_escaped(row, named) for row in rows] if named else list(rows)
    if not values:
        return
    into = f"INSERT INTO {_quote(model._meta.db_table)} ({', '.join(_quote(str(field.column)) for field in fields)})"
    tail = f" ON CONFLICT {on_conflict}" if on_conflict else ""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            _execute(cursor, f"{into} SELECT * FROM {_unnest(fields)}{tail}", values)  # noqa: S608 - names of ours
        else:
            cursor.executemany(f"{into} VALUES ({', '.join(['%s'] * len(fields))}){tail}", values)


def update(model: type[models.Model], columns: Sequence[str], rows: Iterable[Values]) -> None:
    """Set ``columns`` of rows that exist; each row's values end with its primary key."""
    key = model._meta.pk
    assert key is not None
    fields = _fields(model, columns)
    values = list(rows)
    if not values:
        return
    table, names = _quote(model._meta.db_table), [_quote(str(field.column)) for field in fields]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            told = ", ".join([f"v{number}" for number in range(len(fields))] + ["k"])
            puts = ", ".join(f"{name} = told.v{number}" for number, name in enumerate(names))
            source = f"{_unnest([*fields, key])} AS told({told})"
            where = f"{table}.{_quote(key.column)} = told.k"
            _execute(cursor, f"UPDATE {table} SET {puts} FROM {source} WHERE {where}", values)  # noqa: S608 - as above
        else:
            puts = ", ".join(f"{name} = %s" for name in names)
            where = f"{_quote(key.column)} = %s"
            cursor.executemany(f"UPDATE {table} SET {puts} WHERE {where}", values)  # noqa: S608 - as above


def _fields(model: type[models.Model], columns: Sequence[str]) -> list[models.Field[object, object]]:
    fields = [model._meta.get_field(name) for name in columns]
    assert all(isinstance(field, models.Field) for field in fields)
    return fields  # type: ignore[return-value]  # no relation from elsewhere, as was just asked


def _quote(name: str | None) -> str:
    assert name is not None
    return str(connection.ops.quote_name(name))


def _unnest(fields: Sequence[models.Field[object, object]]) -> str:
    """Say a table of columns that are given as arrays: one parameter each, however many rows."""
    return f"unnest({', '.join(f'%s::{_type_of(field)}[]' for field in fields)})"


def _type_of(field: models.Field[object, object]) -> str:
    kind = field.rel_db_type(connection) if field.primary_key else field.db_type(connection)
    return str(kind)


def _execute(cursor: CursorWrapper, statement: str, rows: Sequence[Values]) -> None:
    cursor.execute(statement, [list(column) for column in zip(*rows, strict=True)])


def _escaped(row: Values, named: Sequence[int]) -> list[Value]:
    values = list(row)
    for place in named:
        value = values[place]
        if isinstance(value, str):
            values[place] = escape(value)
    return values
