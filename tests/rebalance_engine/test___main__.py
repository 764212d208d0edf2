import subprocess
import sys

from rebalance_engine.cli import COMMANDS


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rebalance_engine", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_the_package_is_the_command() -> None:
    done = run("simulate", "--seeds", "1")

    assert done.returncode == 0
    assert done.stdout.startswith("1 seed, ")


def test_the_package_without_a_command_says_what_there_is() -> None:
    done = run()

    assert done.returncode == 2
    assert f"there are {', '.join(COMMANDS)}" in done.stderr
