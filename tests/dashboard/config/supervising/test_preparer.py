import os
import subprocess
import sys

PROGRAM = """
import asyncio, os, sys, time
from dashboard.config.supervising.preparer import Preparer, Teller, Unprepared

def work(told: Teller) -> str | None:
    told.say("half done")
    told.show("tables", "doing", 1, 2)
    {work}

async def main() -> None:
    preparer = Preparer(work)
    if "sleep" in {work!r}:
        preparer.stop()
    try:
        print("result", await preparer.wait(lambda text: print("said", text), lambda *step: print("step", *step)))
    except Unprepared as error:
        print("unprepared:", error)
    print("group ends", preparer.group != os.getpgrp())

asyncio.run(main())
"""


def run(work: str) -> list[str]:
    """Run in a process of its own: a test's process has threads, and must not fork."""
    program = PROGRAM.format(work=work)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.dashboard.settings"},
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_what_is_said_and_what_came_of_it_are_heard() -> None:
    assert run("return f'other process: {os.getpid() != os.getppid()}'") == [
        "said half done",
        "step tables doing 1 2",
        "result other process: True",
        "group ends True",
    ]


def test_a_failure_is_told_in_words() -> None:
    assert run("raise ValueError('no room')")[:3:2] == ["said half done", "unprepared: ValueError: no room"]


def test_what_says_itself_what_is_needed_is_told_as_it_is() -> None:
    assert run("raise Unprepared('there is no room; it needs some')")[2] == (
        "unprepared: there is no room; it needs some"
    )


def test_work_that_is_broken_off_has_no_result() -> None:
    assert run("time.sleep(600)")[-2] == "unprepared: it was broken off"
