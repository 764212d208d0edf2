"""Lists: one page of one, or all of it in one file, as JSON or as CSV, with the same filter; none is cut short."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpResponse
from ninja import Schema

from dashboard.api.errors import Problem
from dashboard.api.shapes import LARGEST_TABLE, Page, Paging
from dashboard.common.tables import attached, attached_as, write_csv

M = TypeVar("M")
R = TypeVar("R", bound=Model)
T = TypeVar("T", bound=Schema)
Answer: TypeAlias = Page[T] | HttpResponse
PIECE = 1_000  # rows that are read of the database at once


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """How all rows of a list are written: the file's ``name``, and where it is not a row's own fields its CSV."""

    kind: type[T]
    name: str
    columns: Sequence[str] = ()
    fields: Callable[[T], Sequence[object]] | None = None

    def table(self, rows: Iterable[T]) -> str:
        """Write CSV; why something is unknown is left out of it."""
        names = [name for name in self.kind.model_fields if name != "unknown"]
        if self.fields is not None:
            return write_csv(self.columns, map(self.fields, rows))
        return write_csv(names, ([value for name, value in _values(row) if name != "unknown"] for row in rows))


def page_of(rows: Sequence[M], shape: Callable[[M], T], paging: Paging, now: int, form: Form[T]) -> Answer[T]:
    """Give what is asked for of rows that are there, and are shaped one by one.

    Raises:
        Problem: all are asked for, and they are too many.
    """
    return shown(map(shape, rows[paging.span]), len(rows), paging, now, form)


def page_read(rows: QuerySet[R], shape: Callable[[R], T], paging: Paging, now: int, form: Form[T]) -> Answer[T]:
    """Give what is asked for of rows of the database; all of them are read piece by piece.

    Raises:
        Problem: all are asked for, and they are too many.
    """
    read = rows[paging.span] if paging.format == "json" else rows.iterator(chunk_size=PIECE)
    return shown(map(shape, read), rows.count(), paging, now, form)


def shown(rows: Iterable[T], count: int, paging: Paging, now: int, form: Form[T]) -> Answer[T]:
    """Give rows that were cut out already, of ``count``; they are put together only where they can be given.

    Raises:
        Problem: all are asked for, and they are too many.
    """
    if paging.format == "json":
        return Page(at=now, count=count, page=paging.page, pages=max(1, -(-count // paging.size)), rows=list(rows))
    if count > LARGEST_TABLE:
        seen = f"the list has {count:,} rows; at most {LARGEST_TABLE:,} come as one file"
        raise Problem(422, f"{seen}: needed is a narrower filter, or page= and size=")
    if paging.format == "csv":
        return attached(form.table(rows), form.name)
    return attached_as(b"".join(_document(rows, now)), f"{form.name}.json", "application/json")


def _document(rows: Iterable[T], now: int) -> Iterator[bytes]:
    """Write all rows as one page of their own shape, row by row."""
    yield f'{{"at": {now}, "page": 1, "pages": 1, "rows": ['.encode()
    count = 0
    for row in rows:
        yield (",\n" if count else "\n").encode() + json.dumps(row.model_dump()).encode()
        count += 1
    yield f'\n], "count": {count}}}\n'.encode()


def _values(row: Schema) -> Iterable[tuple[str, object]]:
    return row.model_dump().items()
