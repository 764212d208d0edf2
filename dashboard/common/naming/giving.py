"""Give tables, columns and what can be chosen in these their names, as Django's admin shows them.

They are given to the models once these are there, not written in them: named there, each of them would be an alteration
of the database to Django, and a migration. It looks at what was said in the class alone (``tests`` hold it to that).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import models
from django.utils.translation import gettext_lazy

from dashboard.common.naming.columns import COLUMNS
from dashboard.common.naming.tables import TABLES
from dashboard.common.naming.values import EXPLANATIONS, NAMES, VALUES

ROOMS = "dashboard."


def give_names() -> None:
    """Name all tables of ours; what has no name here keeps the one that Django made of its identifier."""
    for model in our_tables():
        options = model._meta
        if options.label_lower in TABLES:
            options.verbose_name, options.verbose_name_plural = TABLES[options.label_lower]
        for column in columns_of(model):
            _name(column, key_of(column))


def our_tables() -> Iterator[type[models.Model]]:
    """Go over the models of the dashboard."""
    return (model for model in apps.get_models() if model.__module__.startswith(ROOMS))


def columns_of(model: type[models.Model]) -> Iterator[models.Field[Any, Any]]:
    """Go over its columns; numbers of rows are ``ID`` in every language."""
    return (column for column in model._meta.local_fields if not column.primary_key)


def key_of(column: models.Field[Any, Any]) -> str:
    """Give by what a column is known among names: in its table where it has another one there."""
    there = f"{column.model._meta.label_lower}.{column.name}"
    return there if there in COLUMNS else column.name


def _name(column: models.Field[Any, Any], key: str) -> None:
    if key in COLUMNS:
        column.verbose_name = COLUMNS[key]
    if column.help_text in EXPLANATIONS:
        column.help_text = gettext_lazy(str(column.help_text))
    if not NAMES.issuperset(str(value) for value, _label in column.flatchoices):
        column.choices = [(value, VALUES.get(str(label), label)) for value, label in column.flatchoices]
