"""Each program is ended by its workers: all that it started has ended when nobody can write to its output any more."""

import os
import signal
import subprocess
import sys
from contextlib import closing, suppress

import pytest

from rebalance_engine.cli.signals import Interrupted
from rebalance_engine.cli.workers import WorkerLost, in_order

REAL_TIME = signal.SIGRTMIN + 6
PROGRAM = """
import os, signal, sys, threading
import rebalance_engine.cli as cli
from rebalance_engine.cli import simulate

def strike(seed):
    {strike}
    threading.Event().wait()  # and never gets done

simulate.draw = strike
sys.exit(cli.main())
"""


def simulated(strike: str) -> tuple[int, str, str]:
    """Run two processes, of which each strikes at once; give the status and what was written, when all have ended."""
    program = [sys.executable, "-c", PROGRAM.format(strike=strike), "simulate", "--seeds", "500", "--jobs", "2"]
    with subprocess.Popen(
        program, text=True, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            out, err = process.communicate(timeout=60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("whom", ["os.kill(os.getppid(), {})", "os.killpg(0, {})", "os.kill(os.getpid(), {})"])
def test_a_signal_to_one_or_to_all_ends_all_at_once(number: signal.Signals, whom: str) -> None:
    ended = simulated(whom.format(int(number)))

    assert ended == (128 + number, "", f"evenkeel: interrupted by {number.name}\n")


def test_workers_end_with_who_was_killed() -> None:
    assert simulated("os.kill(os.getppid(), signal.SIGKILL)") == (-signal.SIGKILL, "", "")


def test_a_worker_that_was_killed_is_told_and_is_no_broken_promise() -> None:
    status, out, err = simulated("seed == 1 and os.kill(os.getpid(), signal.SIGKILL)")

    assert (status, out) == (3, "")
    assert err == (
        "evenkeel: a process of --jobs was killed by SIGKILL while it ran seed 1; if memory ran out, fewer --jobs need "
        "less. Nothing is told from seed 0 on: --first 0 goes on there. "
        "Until then: 0 seeds, 0 events, 0 moves, 0 overlaps, 0 duplicates\n"
    )


def square(number: int) -> int:
    return number * number


def never() -> None:
    """Ask for nothing."""


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_results_come_in_the_order_of_their_numbers(processes: int) -> None:
    assert list(in_order(square, range(3, 20), processes, never)) == [number**2 for number in range(3, 20)]


def test_who_leaves_early_leaves_nobody_behind() -> None:
    reading, writing = os.pipe()
    with closing(in_order(square, range(1_000), 2, never)) as results:
        assert next(results) == 0
    os.close(writing)

    with os.fdopen(reading) as held_by_workers:
        assert held_by_workers.read() == ""


def kill_itself(number: int) -> None:
    os.kill(os.getpid(), number)


def end_with(code: int) -> int:
    os._exit(code)


@pytest.mark.parametrize("code", [0, 7])
def test_a_worker_that_ends_by_itself_is_lost(code: int) -> None:
    with pytest.raises(WorkerLost, match=f"^ended with {code}$") as lost:
        list(in_order(end_with, [code], 1, never))

    assert (lost.value.number, lost.value.untold) == (code, code)


def test_a_signal_without_a_name_is_told_by_its_number() -> None:
    with pytest.raises(WorkerLost, match=f"^was killed by signal {REAL_TIME}$"):
        list(in_order(kill_itself, [REAL_TIME], 1, never))


def test_a_worker_that_heard_a_signal_before_it_was_ready_is_interrupted() -> None:
    with pytest.raises(Interrupted):
        list(in_order(end_with, [143], 1, never))


def test_what_a_check_raises_ends_the_run() -> None:
    class TooLate(Exception):
        """It is."""

    def check() -> None:
        raise TooLate

    with pytest.raises(TooLate):
        list(in_order(square, range(1_000), 2, check))
