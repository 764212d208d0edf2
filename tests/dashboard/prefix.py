"""What processes of an installation call their keys in Redis: tests send tasks to them."""

from __future__ import annotations

from celery import Celery

from dashboard.config.home import name_of

SECRET = "of-processes-that-tests-start"  # noqa: S105 - their EVENKEEL_SECRET_KEY


def prefix_of(database: object) -> str:
    """Give what the settings make of that secret and the name of a database."""
    return f"evenkeel:{name_of(SECRET, str(database))}:"


def sender(url: str, database: object) -> Celery:
    """Make somebody who sends tasks to the workers of an installation, by its Redis and the name of its database."""
    return Celery(broker=url, set_as_current=False, broker_transport_options={"global_keyprefix": prefix_of(database)})
