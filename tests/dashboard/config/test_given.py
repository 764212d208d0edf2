from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.config.given import all_given, check_all

WRONG = {
    "DATABASE_URL": "mysql://db/shop",
    "REDIS_URL": "http://r",
    "EVENKEEL_HOSTS": "https://shop.example",
    "EVENKEEL_HTTPS": "perhaps",
    "EVENKEEL_DEBUG": "perhaps",
    "EVENKEEL_RETENTION_DAYS": "forever",
    "EVENKEEL_HISTORY_DAYS": "-1",
    "EVENKEEL_JOBS_MEMORY_MB": "1g",
    "EVENKEEL_LOGS": "logs",
    "EVENKEEL_LOGS_ZONES": "web1=Mars/Olympus",
}
WRONG_FOR_A_WATCHER = {
    "ROCKETMQ_ACCESS_KEY": "shop",
    "EVENKEEL_REWRITE": "foo",
    "EVENKEEL_TLS": "perhaps",
    "EVENKEEL_TLS_TRUST_ANYBODY": "perhaps",
    "EVENKEEL_TLS_CA": "/nowhere/ca.pem",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_setting_that_makes_no_sense_is_named_before_a_home_is_made(name: str, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^{name} "):
        all_given({"EVENKEEL_HOME": str(tmp_path / "home"), name: WRONG[name]})

    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("name", WRONG_FOR_A_WATCHER)
def test_before_a_start_how_clusters_are_reached_is_read_too(name: str, tmp_path: Path) -> None:
    env = {"EVENKEEL_HOME": str(tmp_path / "home"), name: WRONG_FOR_A_WATCHER[name]}

    with pytest.raises(ImproperlyConfigured, match=f"^{name} "):
        check_all(env)

    assert not (tmp_path / "home").exists()
    assert all_given(env).home == tmp_path / "home"  # pages do not need it


def test_nothing_has_to_be_set_and_secrets_are_not_shown(tmp_path: Path) -> None:
    env = {"EVENKEEL_HOME": str(tmp_path), "EVENKEEL_SECRET_KEY": "s3cr3t", "REDIS_URL": "redis://:s3cr3t@r/0"}

    given = check_all(env)

    assert (given.hosts, given.is_https, given.retention_days, given.jobs_memory_mb) == ([], False, 30, 1024)
    assert given.history_days == 90
    assert (given.logs, given.logs_zones) == (None, {})
    assert given.database["NAME"] == str(tmp_path / "evenkeel.sqlite3")
    assert given.secret_key in given.redis_url
    assert "s3cr3t" not in repr(given)
