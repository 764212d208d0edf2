import os
import signal
import subprocess
import sys
from pathlib import Path

from dashboard.config.supervising import reaper
from dashboard.config.supervising.reaper import end, groups_left, is_there
from tests.dashboard.config.supervising.processes import ends

FAMILY = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid, flush=True); sys.stdin.read()"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"


def start(program: str, mark: str = "") -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", program],
        env={**os.environ, reaper.MARK: mark},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def close(process: subprocess.Popen[str]) -> None:
    process.wait(timeout=30)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()


def test_groups_that_were_not_ended_are_left() -> None:
    assert groups_left(["+71\n", "+72\n", "nonsense\n", "-71\n", "-9\n", "+7"]) == {72}


def test_a_group_is_ended_with_all_that_it_started() -> None:
    process, child = start(FAMILY)

    end([process.pid], patience_s=0)
    close(process)

    assert process.returncode in {-signal.SIGTERM, -signal.SIGKILL}
    assert ends(child)


def test_a_group_that_does_not_listen_is_killed() -> None:
    process, _ = start(DEAF)

    end([process.pid], patience_s=0.2)
    close(process)

    assert process.returncode == -signal.SIGKILL
    assert not is_there(process.pid)


def test_the_reaper_ends_what_is_left_when_its_pipe_breaks() -> None:
    process, _ = start(FAMILY)
    script = [sys.executable, "-I", "-S", str(Path(reaper.__file__)), "somebody"]
    with subprocess.Popen(script, stdin=subprocess.PIPE, text=True) as guard:
        guard.communicate(f"+{process.pid}\n", timeout=30)

    close(process)

    assert guard.returncode == 0
    assert process.returncode == -signal.SIGTERM


def test_the_reaper_ends_what_began_before_anybody_told_of_it_and_nobody_elses() -> None:
    mine, child = start(FAMILY, "me")
    others, _ = start(FAMILY, "somebody else")
    script = [sys.executable, "-I", "-S", str(Path(reaper.__file__)), "me"]
    with subprocess.Popen(script, stdin=subprocess.PIPE, text=True) as guard:
        guard.communicate("", timeout=30)

    close(mine)

    assert mine.returncode == -signal.SIGTERM
    assert ends(child)
    assert others.poll() is None
    end([others.pid], patience_s=0)
    close(others)


def test_nobody_is_there_under_a_number_that_no_group_has() -> None:
    assert is_there(os.getpgrp())
    assert not is_there(2**22 + 1)
