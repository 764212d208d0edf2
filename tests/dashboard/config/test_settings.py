"""The settings as production has them, in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.db import connection
from redis import Redis

from dashboard.config import settings as production
from tests.house.project import ROOT
from tests.rebalance_engine.network.loop import on_a_loop


def manage(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("EVENKEEL", "DJANGO"))}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**clean, "EVENKEEL_HOME": str(home), **environment},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_production_settings_pass_the_deployment_check(tmp_path: Path) -> None:
    checked = manage(
        "check", "--deploy", "--fail-level", "WARNING", home=tmp_path, EVENKEEL_HTTPS="1", EVENKEEL_HOSTS="shop.example"
    )

    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_setting_that_makes_no_sense_stops_the_start_by_name(tmp_path: Path) -> None:
    started = manage("check", home=tmp_path, EVENKEEL_RETENTION_DAYS="forever")

    assert started.returncode != 0
    assert "EVENKEEL_RETENTION_DAYS is 'forever'; it needs a number from 1 to 3650" in started.stderr


@pytest.mark.django_db
def test_sqlite_runs_as_it_was_measured() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the database is PostgreSQL in this run")

    with connection.cursor() as cursor:
        modes = [cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]

    assert modes == ["wal", 1]
    assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@on_a_loop
async def test_live_pages_ask_redis_for_nothing_that_it_does_not_know(redis: Redis, redis_server: str) -> None:
    """A refused ``CLIENT SETINFO`` was read later as an answer, and told as an error of the receiver."""
    config = cast("dict[str, list[dict[str, object]]]", production.CHANNEL_LAYERS["default"]["CONFIG"])
    hosts = [{**host, "address": redis_server} for host in config["hosts"]]
    layer = RedisPubSubChannelLayer(hosts=hosts)
    redis.config_resetstat()

    channel = await layer.new_channel()
    await layer.group_add("shop", channel)
    await layer.group_send("shop", {"type": "step"})
    assert await layer.receive(channel) == {"type": "step"}
    await layer.flush()

    assert redis.info("errorstats") == {}


@on_a_loop
async def test_two_installations_on_one_redis_hear_nothing_of_each_other(redis: Redis, redis_server: str) -> None:
    """Redis tells what is published to all of its databases, and both call a group's stream by the group's number."""
    assert redis.ping()
    config = cast("dict[str, str]", production.CHANNEL_LAYERS["default"]["CONFIG"])
    other = config["prefix"].replace(production.INSTALLATION, "another")
    mine, theirs = (
        RedisPubSubChannelLayer(hosts=[f"{redis_server[:-1]}{number}"], prefix=prefix)
        for number, prefix in enumerate([config["prefix"], other])
    )
    channel = await mine.new_channel()
    await mine.group_add("group-1", channel)

    await theirs.group_send("group-1", {"type": "push.step", "of": "theirs"})
    await mine.group_send("group-1", {"type": "push.step", "of": "mine"})

    assert (await mine.receive(channel))["of"] == "mine"
    await mine.flush()
    await theirs.flush()


def test_nothing_in_redis_or_among_cookies_has_a_name_that_another_installation_uses() -> None:
    name = production.INSTALLATION

    assert production.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"] == production.REDIS_PREFIX
    assert name in production.REDIS_PREFIX
    assert f"evenkeel-{name}" == production.SESSION_COOKIE_NAME
    assert f"evenkeel-{name}-csrf" == production.CSRF_COOKIE_NAME
