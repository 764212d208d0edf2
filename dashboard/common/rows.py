"""Rows of one table while a batch of facts is applied to them: read once, changed in memory, written once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache
from typing import Generic, TypeVar

from django.db import models

K = TypeVar("K", bound=Hashable)
M = TypeVar("M", bound=models.Model)

ROWS_A_STATEMENT = 2_000


class Rows(Generic[K, M]):
    """Rows by their natural key, so that a row that has no number yet can be found too.

    A row that refers to another new one is written after it: then it finds the number there.
    """

    def __init__(
        self, model: type[M], key: Callable[[M], K], loaded: Iterable[M] = (), *, columns: Sequence[str] | None = None
    ) -> None:
        self.model = model
        self.key = key
        self.columns = columns  # those that are ours to write, where others write the row too
        self._rows = {key(row): row for row in loaded}
        self._new: dict[K, M] = {}
        self._changed: dict[K, M] = {}
        self._removed: list[M] = []

    def __iter__(self) -> Iterator[M]:
        """Give all rows that are known."""
        return iter(list(self._rows.values()))

    def get(self, key: K) -> M | None:
        """Give a row, or None."""
        return self._rows.get(key)

    def add(self, row: M) -> M:
        """Take in a row that is to be inserted."""
        key = self.key(row)
        self._rows[key] = self._new[key] = row
        return row

    def update(self, row: M, **columns: object) -> bool:
        """Set columns; tell whether any of them was different."""
        different = {name: value for name, value in columns.items() if getattr(row, name) != value}
        assert not different.keys() & keys_of(self.model), f"{different.keys()} tell this row from others"
        for name, value in different.items():
            setattr(row, name, value)
        key = self.key(row)
        if different and key not in self._new:
            self._changed[key] = row
        return bool(different)

    def remove(self, row: M) -> None:
        """Take a row out."""
        key = self.key(row)
        del self._rows[key]
        self._changed.pop(key, None)
        if self._new.pop(key, None) is None:
            self._removed.append(row)

    def write(self) -> None:
        """Write what is new, changed or gone: a statement each for up to 2,000 rows."""
        manager = self.model._default_manager
        if self._removed:
            manager.filter(pk__in=[row.pk for row in self._removed]).delete()
        if self._new:
            manager.bulk_create(list(self._new.values()), batch_size=ROWS_A_STATEMENT)
        if self._changed:
            replace_rows(self.model, list(self._changed.values()), self.columns)
        self._removed, self._new, self._changed = [], {}, {}


def replace_rows(model: type[M], rows: list[M], columns: Sequence[str] | None = None) -> None:
    """Write columns (all, by default) of rows that exist, but for those that tell a row from all others.

    By an upsert: an update of many rows by CASE, as ``bulk_update`` has it, takes seconds for thousands. Where one
    names a column of a unique key, PostgreSQL locks the rows as if they were deleted, whatever stands there
    (``ExecUpdateLockMode`` in ``execMain.c``): whoever stores a row that refers to one of them waits, and holds what
    this transaction may want next.
    """
    if columns is None:
        columns = [field.name for field in model._meta.concrete_fields if not field.primary_key]
    named = [name for name in columns if name not in keys_of(model)]
    model._default_manager.bulk_create(
        rows, update_conflicts=True, unique_fields=["pk"], update_fields=named, batch_size=ROWS_A_STATEMENT
    )


@cache
def keys_of(model: type[models.Model]) -> frozenset[str]:
    """Name the columns that a foreign key could refer to: of whatever is unique without a condition."""
    unique = {field.name for field in model._meta.concrete_fields if field.unique and not field.primary_key}
    for each in model._meta.total_unique_constraints:
        unique.update(each.fields)
    return frozenset(unique)
