"""Whether the database can be opened, found out before anything is started: without Django, which loads for long."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing

from django.core.exceptions import ImproperlyConfigured

from dashboard.config.env import without_password

OF_LIBPQ = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}


def try_database(settings: Mapping[str, object], url: str) -> None:
    """Open the database, and begin to write; nothing of it stays open.

    Args:
        settings: as Django's ``DATABASES`` has them.
        url: as it was given; empty for the file in the home.

    Raises:
        ImproperlyConfigured: that cannot be done; it says what was seen and what is needed, without a password.
    """
    if "sqlite3" in str(settings["ENGINE"]):
        try:
            with closing(sqlite3.connect(str(settings["NAME"]), timeout=20)) as file:
                file.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise ImproperlyConfigured(unopened(settings, url, error)) from None
    else:
        _try_postgresql(settings, url)


def _try_postgresql(settings: Mapping[str, object], url: str) -> None:
    import psycopg  # noqa: PLC0415 # most homes have none
    from psycopg.conninfo import make_conninfo  # noqa: PLC0415 # likewise

    options = settings["OPTIONS"]
    assert isinstance(options, dict)
    told = {name: str(settings[key]) for key, name in OF_LIBPQ.items() if settings.get(key)}
    try:
        psycopg.connect(make_conninfo(**told, **options)).close()
    except psycopg.Error as error:
        raise ImproperlyConfigured(unopened(settings, url, error)) from None


def unopened(settings: Mapping[str, object], url: str, error: Exception) -> str:
    """Say in words why a database could not be opened."""
    why = " ".join(str(error).split())
    if secret := str(settings.get("PASSWORD") or ""):
        why = why.replace(secret, "***")
    if "sqlite3" in str(settings["ENGINE"]):
        return f"the database is {settings['NAME']}; it needs a file that can be opened and written: {why}"
    return f"DATABASE_URL is {without_password(url)}; it needs a PostgreSQL that answers there and lets us in: {why}"
