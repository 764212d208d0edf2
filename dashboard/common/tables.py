"""Tables for spreadsheets: CSV, in which no text from outside is computed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

from dashboard.common.names import escape


class Escaped(str):
    """A text in which nothing is left to be escaped, as in JSON of ASCII alone: it is written as it is."""

    __slots__ = ()


UNSAFE = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet takes what begins so for a formula


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table; None is an empty field, a list is written with spaces, a text that would be computed as a text."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([_field(value) for value in row] for row in rows)
    return out.getvalue()


def attached(text: str, name: str) -> HttpResponse:
    """Give a table as a file."""
    return attached_as(text, f"{name[:120]}.csv", "text/csv; charset=utf-8")


def attached_as(content: str | bytes, name: str, kind: str) -> HttpResponse:
    """Give a file of that kind; what a file name may not have is left out of it."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name)[-140:]
    headers = {"Content-Disposition": f'attachment; filename="{safe}"'}
    return HttpResponse(content, content_type=kind, headers=headers)


def _field(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, int | float):
        return value
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    text = text if isinstance(value, Escaped) else escape(text)
    return f"'{text}" if text.startswith(UNSAFE) else text
