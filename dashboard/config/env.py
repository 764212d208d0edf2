"""Settings out of the environment. A value that makes no sense stops the start, with what was seen and needed."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

Environment = Mapping[str, str]

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})


def read_bool(env: Environment, name: str, *, default: bool) -> bool:
    """Read a switch; an empty value is the default.

    Raises:
        ImproperlyConfigured: the value is neither yes nor no.
    """
    value = env.get(name, "").strip().lower()
    if not value:
        return default
    if value not in YES | NO:
        raise ImproperlyConfigured(f"{name} is {value!r}; it needs one of {', '.join(sorted(YES | NO))}")
    return value in YES


def read_int(env: Environment, name: str, *, default: int, low: int, high: int = 2**31 - 1) -> int:
    """Read a number from ``low`` to ``high``.

    Raises:
        ImproperlyConfigured: the value is no number, or outside.
    """
    value = env.get(name, "").strip()
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
        raise ImproperlyConfigured(f"{name} is {value!r}; it needs a number from {low} to {high}")
    return int(value)


def read_list(env: Environment, name: str, *, default: tuple[str, ...] = ()) -> list[str]:
    """Read a comma-separated list."""
    given = [part.strip() for part in env.get(name, "").split(",") if part.strip()]
    return given or list(default)


def read_redis_url(env: Environment) -> str:
    """Give the Redis that Celery, Channels and the locks share.

    Raises:
        ImproperlyConfigured: it is no address of a Redis.
    """
    url = env.get("REDIS_URL", "").strip() or "redis://127.0.0.1:6379/0"
    if urlsplit(url).scheme not in {"redis", "rediss", "unix"}:
        raise ImproperlyConfigured("REDIS_URL must begin with redis://, rediss:// or unix://")
    return url


def read_database(env: Environment, default_path: str) -> dict[str, object]:
    """Give Django's settings of the database: PostgreSQL where ``DATABASE_URL`` says so, else a file.

    Raises:
        ImproperlyConfigured: ``DATABASE_URL`` is something else.
    """
    url = env.get("DATABASE_URL", "").strip()
    scheme = urlsplit(url).scheme
    if not url or scheme == "sqlite":
        return sqlite(unquote(urlsplit(url).path) or default_path)
    if scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"DATABASE_URL begins with {scheme!r}; it needs postgresql:// or sqlite:///")
    return postgresql(url)


def sqlite(path: str) -> dict[str, object]:
    """Give the settings under which four writers met no lock error.

    WAL alone failed one transaction in eight: a snapshot that has become old cannot become a write. IMMEDIATE
    takes the write lock when a transaction begins, and the timeout waits for it.
    """
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000",
        },
    }


def postgresql(url: str) -> dict[str, object]:
    """Give the settings of a PostgreSQL by its address, as libpq reads it."""
    # seven processes read the settings when all starts, and most homes have no PostgreSQL: loading it costs 0.1 s each
    from psycopg import ProgrammingError  # noqa: PLC0415 - as said
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - likewise

    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError as error:
        raise ImproperlyConfigured(f"DATABASE_URL is no address of a PostgreSQL: {error}") from None
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    told = {names[key]: str(value) for key, value in parts.items() if key in names}
    options = {key: value for key, value in parts.items() if key not in names}
    return {
        "ENGINE": "django.db.backends.postgresql",
        **told,
        "OPTIONS": {"connect_timeout": 10, **options},
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }
