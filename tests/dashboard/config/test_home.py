import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.config.home import ROOT, find_home, keep_secret, name_of


def test_the_home_is_made_and_closed_to_others(tmp_path: Path) -> None:
    home = find_home({"EVENKEEL_HOME": str(tmp_path / "a" / "b")})

    assert home == (tmp_path / "a" / "b").resolve()
    assert home.stat().st_mode & 0o077 == 0


def test_the_home_is_var_of_the_project_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "mkdir", lambda *_args, **_options: None)
    monkeypatch.setattr(os, "access", lambda *_asked: True)

    assert find_home({}) == ROOT / "var"


def test_a_home_that_is_a_file_stops_the_start(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(ImproperlyConfigured, match="needs a folder that can be written"):
        find_home({"EVENKEEL_HOME": str(file)})


def test_a_home_that_cannot_be_written_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_asked: False)  # who runs the tests may be root, who may write anywhere

    with pytest.raises(ImproperlyConfigured, match=f"EVENKEEL_HOME is {tmp_path}; .*: Permission denied$"):
        find_home({"EVENKEEL_HOME": str(tmp_path)})


def test_a_home_in_which_no_secret_can_be_kept_is_named(tmp_path: Path) -> None:
    (tmp_path / "secrets").touch()

    with pytest.raises(ImproperlyConfigured, match=f"EVENKEEL_HOME is {tmp_path}; .*/secrets"):
        keep_secret(tmp_path, "django")


def test_a_secret_is_made_once_even_by_many_that_start_at_the_same_time(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(lambda _: keep_secret(tmp_path, "django"), range(32)))

    assert len(secrets) == 1
    assert len(secrets.pop()) >= 50
    assert [path.name for path in (tmp_path / "secrets").iterdir()] == ["django"]
    assert (tmp_path / "secrets" / "django").stat().st_mode & 0o077 == 0


def test_an_installation_has_a_name_that_neither_a_copy_nor_another_one_has() -> None:
    mine = name_of("secret", "/home/evenkeel.sqlite3")

    assert mine == name_of("secret", "/home/evenkeel.sqlite3")
    assert len({mine, name_of("secret", "/copy/evenkeel.sqlite3"), name_of("another", "/home/evenkeel.sqlite3")}) == 3
    assert "secret" not in mine
