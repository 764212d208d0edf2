"""Every index of every table: what it may come to fits an entry of PostgreSQL's, whatever names clients have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import models

from dashboard.common.names import MOST_BYTES, NameField

MOST = 2_704  # bytes of an entry of a B-tree, which is a third of a page
HEAD = 8
LONGEST_CHOICE = 64  # texts that are not names are words of ours
OTHER = 16  # numbers and times, aligned


def test_no_index_has_more_names_than_fit_an_entry() -> None:
    entries = {name: _size(fields) for name, fields in _indexes()}

    assert len(entries) > 60
    assert {name: size for name, size in entries.items() if size > MOST} == {}


def _indexes() -> Iterator[tuple[str, list[models.Field[Any, Any]]]]:
    for model in apps.get_models():
        if not model.__module__.startswith("dashboard."):
            continue
        meta = model._meta
        for field in meta.local_fields:
            if field.unique or getattr(field, "db_index", False):
                yield f"{meta.label}.{field.name}", [field]
        for each in (*meta.indexes, *meta.constraints):
            names = [name.lstrip("-") for name in getattr(each, "fields", ())]
            if names:
                yield f"{meta.label}: {each.name}", [field for field in meta.local_fields if field.name in names]


def _size(fields: list[models.Field[Any, Any]]) -> int:
    return HEAD + sum(_bytes(field) for field in fields)


def _bytes(field: models.Field[Any, Any]) -> int:
    if isinstance(field, NameField):
        return MOST_BYTES + 4
    if isinstance(field, models.CharField):
        return 4 * (field.max_length or LONGEST_CHOICE)
    if isinstance(field, models.TextField):
        return LONGEST_CHOICE
    return OTHER
