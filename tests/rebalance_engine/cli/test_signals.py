import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rebalance_engine import cli
from rebalance_engine.cli import signals
from rebalance_engine.cli.signals import Ear, Interrupted, listening
from rebalance_engine.simulation.scenario import write
from tests.rebalance_engine.simulation.small import cluster

EVERY = pytest.mark.parametrize("number", signals.NUMBERS)


def raise_signal(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@EVERY
def test_a_signal_is_remembered_and_the_handlers_before_come_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with listening() as ear:
        raise_signal(number)
        with listening() as inner:
            assert inner is ear
        with pytest.raises(Interrupted, match=number.name) as interrupted:
            ear.check()

    assert interrupted.value.status == 128 + number
    assert signal.getsignal(number) is before


@EVERY
def test_what_just_computes_is_broken_off_now_or_as_soon_as_it_may_be(number: signal.Signals) -> None:
    with listening() as ear:
        ear.break_off()
        with pytest.raises(Interrupted):
            raise_signal(number)
    with listening() as ear:
        raise_signal(number)
        with pytest.raises(Interrupted):
            ear.break_off()


def test_another_thread_hears_nothing_and_does_not_fail() -> None:
    seen: list[Ear] = []

    def listen() -> None:
        with listening() as ear:
            seen.append(ear)

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert seen[0].heard is None


def test_a_forked_worker_ends_without_a_word() -> None:
    with listening() as ear:
        child = os.fork()
        if child == 0:
            ear.break_off()
            raise_signal(signal.SIGTERM)
            os._exit(0)
        _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 143


PROGRAM = """
import os, signal, sys
import rebalance_engine.cli as cli

class Loading:
    \"\"\"Sends a signal while the module of a command loads.\"\"\"

    def find_spec(self, name, path=None, target=None):
        if name == "rebalance_engine.{module}":
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Loading())
sys.exit(cli.main())
"""
CLUSTER = ("--namesrv", "127.0.0.1:1")
COMMANDS = {
    "consume": (*CLUSTER, "--group", "G", "--topic", "orders"),
    "produce": (*CLUSTER, "--topic", "orders", "--count", "5", "--rate", "1"),
    "embedded": ("--port", "0"),
    "map": (*CLUSTER, "--group", "G"),
    "groups": CLUSTER,
    "brokers": CLUSTER,
    "doctor": CLUSTER,
    "recompute": (*CLUSTER, "--group", "G", "--yes"),
    "report": ("nowhere",),
    "simulate": ("--seeds", "1"),
}
IN_ORDER = {"consume", "produce", "embedded"}


@pytest.mark.parametrize(
    ("name", "number"), [*((name, signal.SIGTERM) for name in COMMANDS), ("consume", signal.SIGINT)]
)
def test_a_signal_while_modules_load_ends_every_command_in_order(name: str, number: signal.Signals) -> None:
    program = PROGRAM.format(module=f"cli.{name}", number=int(number))
    ended = subprocess.run(
        [sys.executable, "-c", program, name, *COMMANDS[name]], capture_output=True, text=True, check=False, timeout=60
    )

    if name in IN_ORDER:
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ('"saw":"stopped"' in ended.stdout) is (name == "consume")
    else:
        assert (ended.returncode, ended.stderr) == (128 + number, f"evenkeel: interrupted by {number.name}\n")


WHILE_CLOSING = """
import os, signal, sys
import rebalance_engine.cli as cli
from rebalance_engine.cli import simulate
from rebalance_engine.simulation import transcript

def closing():
    try:
        yield
    finally:  # whatever is raised here is lost
        os.kill(os.getpid(), signal.SIGTERM)

def close_one(*_):
    generator = closing()
    next(generator)

def signal_all(*_):
    os.kill(os.getppid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)

def before(function, do):
    def both(*arguments):
        do()
        return function(*arguments)
    return both

{change}
sys.exit(cli.main())
"""
RUNS = {
    "seeds": ("simulate.draw = before(simulate.draw, close_one)", ("--seeds", "9")),
    "a log": ("simulate.draw = before(simulate.draw, close_one)", ("--log", "/dev/null")),
    "a scenario": ("transcript.check = before(transcript.check, close_one)", ("--play", "{scenario}")),
    "jobs": ("simulate.processes = before(simulate.processes, close_one)", ("--seeds", "9", "--jobs", "2")),
    "workers too": ("simulate.draw = before(simulate.draw, signal_all)", ("--seeds", "9", "--jobs", "2")),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_signal_while_a_generator_is_closed_ends_a_simulation_in_order(name: str, tmp_path: Path) -> None:
    path = tmp_path / "scenario.txt"
    path.write_text(write(cluster()))
    change, arguments = RUNS[name]
    ended = subprocess.run(
        [
            *(sys.executable, "-c", WHILE_CLOSING.format(change=change), "simulate"),
            *(word.format(scenario=path) for word in arguments),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (143, "", "evenkeel: interrupted by SIGTERM\n")


def test_every_command_is_interrupted_here() -> None:
    assert COMMANDS.keys() == cli.COMMANDS.keys()


def test_the_package_loads_nothing_heavy_before_signals_are_heard() -> None:
    program = "import sys, rebalance_engine.cli; print({'argparse', 'asyncio', 'numpy'} & sys.modules.keys())"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ended.stdout == "set()\n"
