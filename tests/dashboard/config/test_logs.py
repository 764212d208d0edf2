from __future__ import annotations

import logging
import logging.config
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from dashboard.config.logs import HasTraceback, OneLine, SharedFile, logging_of, reason_of
from tests.dashboard.config.supervising.processes import LONG_S


def record(words: str, error: BaseException | None = None) -> logging.LogRecord:
    return logging.LogRecord(
        "n", logging.ERROR, "f.py", 1, words, (), None if error is None else (type(error), error, None)
    )


def test_an_error_is_one_line_with_its_reason() -> None:
    caught = record("the lease cannot\nbe renewed.", ConnectionError("refused\nby the peer"))

    assert OneLine("%(levelname)s: %(message)s").format(caught) == (
        "ERROR: the lease cannot be renewed: ConnectionError: refused by the peer"
    )


def test_of_several_errors_each_says_why() -> None:
    assert reason_of(ExceptionGroup("two", [ValueError("a"), OSError()])) == "ValueError: a; OSError"


def test_a_reason_that_is_a_whole_page_is_cut() -> None:
    assert len(OneLine("%(message)s").format(record("x" * 9_000, ValueError("y" * 9_000)))) < 2_100


def test_a_traceback_that_a_message_brings_along_is_kept_and_not_said() -> None:
    """As ``celery.beat.Scheduler.apply_entry`` writes where Redis is away, and others who format it themselves."""
    lost = ConnectionError("Error 111 connecting to 127.0.0.1:6379. Connection refused.")
    stack = traceback.format_stack()
    for words in (f"Message Error: {lost}\n{stack}", f"Message Error: {lost}\n{''.join(stack)}"):
        for error, end in ((lost, " (ConnectionError)"), (None, ".")):
            seen = record(words, error)

            assert OneLine("%(message)s").format(seen) == f"Message Error: {lost}".rstrip(".") + end
            assert HasTraceback().filter(seen)
    assert not HasTraceback().filter(record("a File that was not found"))


def test_a_reason_that_the_message_gives_is_not_said_twice() -> None:
    said = record("cannot connect: refused by the peer.", ConnectionError("refused by the peer"))

    assert OneLine("%(message)s").format(said) == "cannot connect: refused by the peer (ConnectionError)"


SAYS = """
import logging, logging.config, pathlib, sys
from dashboard.config.logs import logging_of
logging.config.dictConfig(logging_of(pathlib.Path(sys.argv[1]), is_debug=False))
logging.getLogger("uvicorn.error").info("connection open")
logging.getLogger("dashboard").info("ready")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("django.security.DisallowedHost").error("a stranger's request", exc_info=True)
    logging.getLogger("celery.worker.consumer").warning("connection lost", exc_info=True)
"""


def test_a_process_says_one_line_each_and_keeps_the_traceback_in_its_home(tmp_path: Path) -> None:
    said = subprocess.run([sys.executable, "-c", SAYS, str(tmp_path)], capture_output=True, text=True, check=True)

    lines = [line.split(" ", 2)[2] for line in said.stderr.splitlines()]
    assert lines == [
        "INFO dashboard: ready",
        "WARNING celery.worker.consumer: connection lost: ZeroDivisionError: division by zero",
    ]
    kept = (tmp_path / "errors.log").read_text()
    assert "Traceback (most recent call last)" in kept
    assert "ready" not in kept and "stranger" not in kept


WRITES = """
import logging, logging.config, pathlib, sys
from dashboard.config.logs import logging_of
told = logging_of(pathlib.Path(sys.argv[1]), is_debug=False)
told["handlers"]["errors"]["most_bytes"] = 400_000
told["root"]["handlers"] = ["errors"]
logging.config.dictConfig(told)
print("ready", flush=True)
sys.stdin.readline()
for number in range(300):
    try:
        raise ValueError
    except ValueError:
        logging.exception("from %s: %d %s all", sys.argv[2], number, "x" * 1_000)
"""


def test_two_processes_share_a_file_that_rolls_and_no_line_is_lost_or_mixed(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITES, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in "AB"
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=LONG_S) for process in processes]

    files = sorted(path.name for path in tmp_path.iterdir())
    kept = "".join((tmp_path / name).read_text() for name in files)
    assert said == [("", "")] * 2
    assert files == ["errors.log", "errors.log.1"]
    whole = re.findall(r"^.* ERROR root .*: from ([AB]): (\d+) x{1000} all$", kept, re.MULTILINE)
    assert sorted(whole) == sorted((name, str(number)) for name in "AB" for number in range(300))
    assert kept.count("Traceback (most recent call last)") == 600


def test_a_file_that_another_process_moves_just_before_is_not_moved_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, moved = tmp_path / "errors.log", tmp_path / "errors.log.1"
    log.write_text("long enough to be moved\n")
    stat = Path.stat

    def then_another_moves_it(path: Path, **words: bool) -> os.stat_result:
        seen = stat(path, **words)
        if path == log and not moved.exists():
            log.rename(moved)
            log.write_text("new\n")
        return seen

    monkeypatch.setattr(Path, "stat", then_another_moves_it)
    handler = SharedFile(log, most_bytes=10)
    handler.emit(record("next"))
    handler.close()

    assert moved.read_text() == "long enough to be moved\n"
    assert log.read_text() == "new\nnext\n"


def test_a_file_that_somebody_moved_away_or_deleted_is_begun_again(tmp_path: Path) -> None:
    handler = SharedFile(tmp_path / "errors.log", most_bytes=1_000_000)
    for number in range(3):
        handler.emit(record(f"number {number}"))
        if number == 0:
            (tmp_path / "errors.log").rename(tmp_path / "old")
        elif number == 1:
            (tmp_path / "errors.log").unlink()
    handler.close()

    assert (tmp_path / "old").read_text() == "number 0\n"
    assert (tmp_path / "errors.log").read_text() == "number 2\n"


def test_while_debugging_everything_is_said(tmp_path: Path) -> None:
    told = logging_of(tmp_path, is_debug=True)

    assert told["loggers"] == {}


@pytest.mark.parametrize("error", [ValueError(), ValueError(""), KeyError("x")])
def test_an_error_without_words_is_named(error: Exception) -> None:
    assert reason_of(error).startswith(type(error).__name__)
