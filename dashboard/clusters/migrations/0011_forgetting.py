"""A producer is one row on a broker, wherever it connects from; topics know since when nothing refers to them."""

from collections.abc import Iterator
from typing import Protocol

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import Count, F, Value
from django.db.models.functions import Greatest

import dashboard.common.fields

KEY = ("cluster_id", "broker", "group_name", "client_id")


class Row(Protocol):
    """A connection of a producer, as it was stored."""

    pk: int
    at: int
    observed_at: int
    gone_at: int | None


def merge(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Make one row of a producer's connections to a broker, and end those to brokers that are gone."""
    producers = apps.get_model("clusters", "Producer").objects
    doubles = producers.values(*KEY).annotate(rows=Count("pk")).filter(rows__gt=1).order_by(*KEY)
    for key in list(doubles.values(*KEY)):
        newest, *before = sorted(producers.filter(**key), key=_newness, reverse=True)
        first = _first_of(newest, before)
        producers.filter(pk__in=[row.pk for row in before]).delete()
        for name in ("at", "at_low", "at_high", "origin", "observed_by", "detail"):
            setattr(newest, name, getattr(first, name))
        newest.save()
    for cluster, broker, gone_at in _gone(apps):
        there = producers.filter(cluster=cluster, broker=broker, gone_at=None)
        there.update(gone_at=Greatest(F("at"), Value(gone_at)))


def _newness(row: Row) -> tuple[bool, int, int, int]:
    """Order connections of one producer: those that are there last, of others those that went last."""
    return row.gone_at is None, row.gone_at or 0, row.observed_at, row.pk


def _first_of(newest: Row, before: list[Row]) -> Row:
    """Give the connection with which a producer came: each of the later ones began when one was there, or just gone."""
    first = newest
    for row in before:
        if row.at < first.at and (row.gone_at is None or row.gone_at >= first.at):
            first = row
    return first


def _gone(apps: StateApps) -> Iterator[tuple[int, str, int]]:
    masters = apps.get_model("clusters", "Broker").objects.filter(broker_id=0, gone_at__isnull=False)
    yield from masters.values_list("cluster", "name", "gone_at")


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0010_canary"),
    ]

    operations = [
        migrations.AddField(
            model_name="topic",
            name="unused_since",
            field=dashboard.common.fields.AtField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="topic",
            constraint=models.CheckConstraint(
                condition=models.Q(("unused_since__range", (0, 253402300799999))),
                name="topic_unused_since_is_an_instant",
            ),
        ),
        migrations.RemoveConstraint(
            model_name="producer",
            name="producer_connection_is_unique",
        ),
        migrations.RunPython(merge, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="producer",
            constraint=models.UniqueConstraint(
                fields=("cluster", "broker", "group_name", "client_id"), name="producer_connection_is_unique"
            ),
        ),
    ]
