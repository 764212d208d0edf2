from __future__ import annotations

import logging
import logging.config
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from dashboard.config.logs import HasTraceback, OneLine, logging_of, reason_of


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


def test_while_debugging_everything_is_said(tmp_path: Path) -> None:
    told = logging_of(tmp_path, is_debug=True)

    assert told["loggers"] == {}


@pytest.mark.parametrize("error", [ValueError(), ValueError(""), KeyError("x")])
def test_an_error_without_words_is_named(error: Exception) -> None:
    assert reason_of(error).startswith(type(error).__name__)
