import importlib

import pytest

from rebalance_engine import cli


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_its_module_and_helps(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(f"rebalance_engine.cli.{name}")

    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])

    assert callable(module.run) and ended.value.code == 0
    assert f"evenkeel {name}" in capsys.readouterr().out


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
