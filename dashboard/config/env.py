"""Settings out of the environment. A value that makes no sense stops the start, with what was seen and needed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

Environment = Mapping[str, str]

ESCAPES = "a / in a password is written %2F, a : %3A, an @ %40"
HOST = re.compile(r"\*|\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]", re.IGNORECASE)  # as Host headers name it
OFFSET = re.compile(r"[+-]\d\d:[0-5]\d")

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


def read_hosts(env: Environment, name: str) -> list[str]:
    """Read names of hosts, separated by commas.

    Raises:
        ImproperlyConfigured: one is the address of a page, has a port, or is no name at all.
    """
    hosts = read_list(env, name)
    if wrong := [host for host in hosts if HOST.fullmatch(host) is None]:
        raise ImproperlyConfigured(
            f"{name} has {wrong[0]!r}; it needs names of hosts as shop.example, without https://, port or path"
        )
    return hosts


def read_folder(env: Environment, name: str) -> Path | None:
    """Read the path of a folder, which only the machine that reads it needs to have; None where none is named.

    Raises:
        ImproperlyConfigured: it depends on where a process was started.
    """
    value = env.get(name, "").strip()
    if value and not value.startswith("/"):
        raise ImproperlyConfigured(f"{name} is {value!r}; it needs a whole path, which begins with /")
    return Path(value) if value else None


def read_zones(env: Environment, name: str) -> dict[str, str]:
    """Read time zones of hosts: HOST=ZONE, separated by commas; a name as Asia/Shanghai, or an offset as +08:00.

    Raises:
        ImproperlyConfigured: one is neither.
    """
    zones = dict(part.partition("=")[::2] for part in read_list(env, name))
    for host, zone in zones.items():
        if not host or not (OFFSET.fullmatch(zone) or _is_zone(zone)):
            raise ImproperlyConfigured(
                f"{name} has {f'{host}={zone}'!r}; it needs HOST=ZONE, as web1=Asia/Shanghai or web1=+08:00"
            )
    return zones


def _is_zone(name: str) -> bool:
    try:
        return bool(ZoneInfo(name).key)
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return False


def read_redis_url(env: Environment) -> str:
    """Give the Redis that Celery, Channels and the locks share.

    Raises:
        ImproperlyConfigured: it is no address of a Redis.
    """
    url = env.get("REDIS_URL", "").strip() or "redis://127.0.0.1:6379/0"
    seen = f"REDIS_URL is {without_password(url)!r}"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ImproperlyConfigured(f"{seen}; it needs the form redis://host:port/number: {ESCAPES}") from None
    if parts.scheme not in {"redis", "rediss", "unix"}:
        raise ImproperlyConfigured(f"{seen}; it needs to begin with redis://, rediss:// or unix://")
    number = parts.path.strip("/")
    if parts.scheme != "unix" and number and not (number.isascii() and number.isdigit()):
        raise ImproperlyConfigured(f"{seen}; behind the last / it needs the number of a database: {ESCAPES}")
    return url


def without_password(url: str) -> str:
    """Give an address as people may see it.

    >>> without_password("postgresql://me:s:e/c@ret@db/shop?password=secret&sslmode=require")
    'postgresql://me:***@db/shop?password=***&sslmode=require'
    """
    shown = re.sub(r"(?<=://)([^:@/?#]*):.*@", r"\1:***@", url)
    return re.sub(r"(?i)((?:^|[?&\s])\w*password\s*=\s*)[^&\s]*", r"\1***", shown)


def read_database(env: Environment, default_path: str) -> dict[str, object]:
    """Give Django's settings of the database: PostgreSQL where ``DATABASE_URL`` says so, else a file.

    Raises:
        ImproperlyConfigured: ``DATABASE_URL`` is something else.
    """
    url = env.get("DATABASE_URL", "").strip()
    scheme = url.partition("://")[0].lower()
    if not url:
        return sqlite(default_path)
    if scheme == "sqlite":
        file = url.partition("://")[2]
        if not file.startswith("/"):
            raise ImproperlyConfigured(f"DATABASE_URL is {url!r}; it needs the form sqlite:///path, with three slashes")
        path = unquote(file).lstrip("/")
        return sqlite(f"/{path}" if path else default_path)
    if scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(
            f"DATABASE_URL is {without_password(url)!r}; it needs to begin with postgresql:// or sqlite:///"
        )
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
        secret = re.search(r"://[^:@/?#]*:(.*)@", url)
        why = str(error).replace(secret.group(1) if secret else "\0", "***").strip()
        raise ImproperlyConfigured(
            f"DATABASE_URL is {without_password(url)!r}; it needs the address of a PostgreSQL: {why}"
        ) from None
    if not all(_is_port(port) for port in str(parts.get("port") or "").split(",")):
        raise ImproperlyConfigured(
            f"DATABASE_URL is {without_password(url)!r}; it needs the form postgresql://user:password@host:port/name: "
            f"{ESCAPES}"
        )
    if not parts.get("dbname") and not parts.get("service"):
        raise ImproperlyConfigured(
            f"DATABASE_URL is {without_password(url)!r}; it needs the name of a database behind the last /"
        )
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


def _is_port(text: str) -> bool:
    return not text or (text.isascii() and text.isdigit() and 0 < int(text) <= 65_535)
