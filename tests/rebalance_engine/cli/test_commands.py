import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_engine import cli


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_its_module_and_helps(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(f"rebalance_engine.cli.{name}")

    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])

    assert callable(module.run) and ended.value.code == 0
    assert f"evenkeel {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["consume", "produce", "recompute"])
def test_the_help_says_where_a_control_room_takes_reports(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([name, "--help"])

    assert "http://HOST:PORT/api/v1/reports" in "".join(capsys.readouterr().out.split("\n"))


def test_the_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])

    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert all(name in said for name in cli.COMMANDS)


@pytest.mark.parametrize("words", [[], ["rebalance"]])
def test_no_command_and_an_unknown_one_are_refused_with_a_word(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)

    assert ended.value.code == 2
    assert "simulate" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["groups", "--namesrv", "127.0.0.1:1"], ["embedded", "--port", "0"]])
def test_a_full_disk_is_named_and_is_nobodys_wrong_argument(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rebalance_engine", *words],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "evenkeel: nothing more can be written: No space left on device"
    assert "Traceback" not in done.stderr
