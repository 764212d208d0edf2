"""All settings that come from the environment, read in one place: by Django's settings, and once before a start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dashboard.config.env import (
    Environment,
    read_bool,
    read_database,
    read_folder,
    read_hosts,
    read_int,
    read_redis_url,
    read_zones,
)
from dashboard.config.home import find_home
from dashboard.config.opening import try_database
from dashboard.config.reaching import network_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What was set; ``docs/settings.md`` says what each is for.

    Attributes:
        history_days: of history files; 0 keeps all of them.
        logs: RocketMQ's own; None where none are read; logs_zones: by host, as ``--zone`` of the pipeline takes them.
        secret_key: empty where the home keeps one.
        metrics_token: empty where callers on loopback may ask.
        database: as Django's ``DATABASES`` has it.
    """

    hosts: list[str]
    is_https: bool
    is_debug: bool
    retention_days: int
    history_days: int
    jobs_memory_mb: int
    logs: Path | None
    logs_zones: dict[str, str]
    home: Path
    secret_key: str = field(repr=False)
    metrics_token: str = field(repr=False)
    redis_url: str = field(repr=False)
    database: dict[str, object] = field(repr=False)


def all_given(env: Environment, *, before_home: Callable[[Mapping[str, object]], None] | None = None) -> Given:
    """Read every setting but how clusters are reached, which only watchers have to know.

    Args:
        before_home: is given the settings of the database, once all others make sense.

    Raises:
        ImproperlyConfigured: one makes no sense; the message names it, what was seen and what is needed.
    """
    database = read_database(env, default_path="")
    given = partial(
        Given,
        hosts=read_hosts(env, "EVENKEEL_HOSTS"),
        is_https=read_bool(env, "EVENKEEL_HTTPS", default=False),
        is_debug=read_bool(env, "EVENKEEL_DEBUG", default=False),
        retention_days=read_int(env, "EVENKEEL_RETENTION_DAYS", default=30, low=1, high=3650),
        history_days=read_int(env, "EVENKEEL_HISTORY_DAYS", default=90, low=0, high=36_500),
        jobs_memory_mb=read_int(env, "EVENKEEL_JOBS_MEMORY_MB", default=1024, low=512),
        logs=read_folder(env, "EVENKEEL_LOGS"),
        logs_zones=read_zones(env, "EVENKEEL_LOGS_ZONES"),
        secret_key=env.get("EVENKEEL_SECRET_KEY", ""),
        metrics_token=env.get("EVENKEEL_METRICS_TOKEN", "").strip(),
        redis_url=read_redis_url(env),
    )
    if before_home is not None:
        before_home(database)
    home = find_home(env)  # it is made last: nothing is left of a start that was refused
    return given(home=home, database=read_database(env, str(home / "evenkeel.sqlite3")))


def check_all(env: Environment) -> Given:
    """Read really every setting and open the database that was given, before anything is started that needs it.

    Raises:
        ImproperlyConfigured: as ``all_given``, or the database cannot be opened.
    """
    network_of(env)
    if url := env.get("DATABASE_URL", "").strip():
        return all_given(env, before_home=partial(try_database, url=url))
    return all_given(env)
