from pathlib import Path

import pytest

from dashboard.config.supervising.door import Door
from dashboard.config.supervising.start import CannotStart, main, run


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--port", "70000"], "--port 70000; it needs a number from 0 to 65535"),
        (["--namesrv", "nowhere"], "--namesrv 'nowhere'"),
        (["--namesrv", "http://a:1/"], "it needs host:port, not the address of a page"),
        (["--namesrv", "a:1", "--cluster", "x\ny"], r"--cluster: the name has U\+000A"),
    ],
)
def test_what_makes_no_sense_ends_it_with_a_word_before_a_home_is_made(
    arguments: list[str], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENKEEL_HOME", str(tmp_path / "home"))

    with pytest.raises(SystemExit, match=word):
        main(arguments)

    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ROCKETMQ_ACCESS_KEY", "shop"),
        ("EVENKEEL_REWRITE", "foo"),
        ("EVENKEEL_HOSTS", "https://shop.example"),
        ("EVENKEEL_RETENTION_DAYS", "forever"),
        ("DATABASE_URL", "mysql://db/shop"),
        ("REDIS_URL", "http://r"),
    ],
)
def test_a_setting_that_makes_no_sense_ends_it_before_anything_is_started(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENKEEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(name, value)

    with pytest.raises(SystemExit, match=f"^{name} .*need"):
        main(["--port", "0"])

    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("url", "word"),
    [
        (
            "postgresql://me:s3cret@127.0.0.1:1/shop",
            r"^DATABASE_URL is postgresql://me:\*\*\*@127.0.0.1:1/shop; it needs",
        ),
        ("postgresql://me:s3cret@127.0.0.1:1/", "it needs the name of a database behind the last /"),
        ("sqlite:///{tmp}", "the database is {tmp}; it needs a file that can be opened and written"),
    ],
)
def test_a_database_that_does_not_let_us_in_ends_it_before_anything_is_started(
    url: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENKEEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", url.format(tmp=tmp_path))

    with pytest.raises(SystemExit, match=word.format(tmp=tmp_path)) as refused:
        main(["--port", "0"])

    assert "s3cret" not in str(refused.value)
    assert not (tmp_path / "home").exists()


def test_an_address_of_another_machine_is_refused_with_a_clear_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENKEEL_HOME", str(tmp_path))

    with pytest.raises(SystemExit, match=r"^--host '203\.0\.113\.9'; it needs an address of this machine"):
        main(["--port", "0", "--host", "203.0.113.9"])


def test_a_home_that_is_in_use_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENKEEL_HOME", str(tmp_path))
    door = Door(tmp_path, "127.0.0.1", 0)
    try:
        with pytest.raises(CannotStart, match=f"the home {tmp_path} is in use by process"):
            run(port=0, host="127.0.0.1", namesrv=None, cluster=None, writable=False)
    finally:
        door.leave()
