"""What processes write: one line for each thing that a person should know, with its reason; where it came from apart.

A supervised process is read by a person at a terminal, twenty processes of library code behind it. A traceback there
hides the line that matters. So an error is one line that says what could not be done and why; its traceback is kept
in ``errors.log`` in the home, which all of them write.
"""

from __future__ import annotations

import fcntl
import logging
import logging.handlers
import os
import re
from pathlib import Path

MOST_BYTES = 5_000_000  # of each of two files
# From here on a message tells where it was raised: as Python writes it, or as a list of lines, as beat does.
TRACEBACK = re.compile(r"""\n\s*(?:\[?['"]\s*)?(?:Traceback \(most recent call last\)|File \\?"[^"\n]*", line \d)""")
LONGEST = 1_000  # characters of a reason; libraries put whole answers into theirs

# What libraries say of their own life: each connection that opens or closes, each missing page, each task.
QUIET = {
    "uvicorn": "WARNING",
    "django.request": "ERROR",
    "django.security.DisallowedHost": "CRITICAL",  # any stranger's request would write a traceback
    "django.security.RequestDataTooBig": "CRITICAL",  # likewise; who sent it is told
    "django.channels.server": "WARNING",
    "celery": "WARNING",
    "django_celery_beat": "WARNING",
    "kombu": "WARNING",
    "asyncio": "WARNING",
}


class OneLine(logging.Formatter):
    """Writes a record as one line: what an exception said stands behind it, where it was raised does not.

    So it is with what a message itself brings of it: Celery's beat puts its whole stack into one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Write the line."""
        plain = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None, "stack_info": None})
        text = " ".join(TRACEBACK.split(super().format(plain), 1)[0].split())[:LONGEST]
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return text
        text, said = text.rstrip(" ."), reason_of(error)
        words = said.partition(": ")[2].rstrip(" .")
        return f"{text} ({type(error).__name__})" if words and words in text else f"{text}: {said}"


def reason_of(error: BaseException) -> str:
    """Say why in one line; of a group of errors each.

    >>> reason_of(ConnectionError("refused by the peer"))
    'ConnectionError: refused by the peer'
    """
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(reason_of(each) for each in error.exceptions[:5])
    words = " ".join(str(error).split())[:LONGEST]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


class HasTraceback(logging.Filter):
    """Lets through what says where it was raised."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Ask whether it does."""
        has_error = record.exc_info and record.exc_info[1] is not None
        return bool(has_error) or TRACEBACK.search(record.getMessage()) is not None


class SharedFile(logging.handlers.WatchedFileHandler):
    """A file that several processes append to. Who finds it too long moves it away, and all go on in a new one.

    ``RotatingFileHandler`` is for one process: of two, each moves away what the other one has just begun, over what was
    moved before. Here one of them moves it, under a lock, if it is still the one that was too long; what another one
    writes just then stands in the file that was moved.

    Args:
        most_bytes: of it, and of the one that was moved away (``.1``).
    """

    def __init__(self, filename: str | Path, most_bytes: int) -> None:
        super().__init__(filename, encoding="utf-8", delay=True)
        self._most_bytes = most_bytes

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, into a new file where it is time."""
        try:
            self._move_away_if_long()
        except OSError:
            self.handleError(record)  # and it grows on
        super().emit(record)

    def _move_away_if_long(self) -> None:
        path = Path(self.baseFilename)
        try:
            if path.stat().st_size < self._most_bytes:
                return
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                opened = os.fstat(file.fileno())  # another process may have begun a new one since it was found too long
                if opened.st_size >= self._most_bytes and os.path.samestat(opened, path.stat()):
                    path.replace(f"{path}.1")
        except (FileNotFoundError, BlockingIOError):
            pass  # another process moves it at this moment


def logging_of(home: Path, *, is_debug: bool) -> dict[str, object]:
    """Give ``LOGGING``: one line for a person, tracebacks into a file; while debugging all of it to the terminal."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"()": f"{__name__}.OneLine", "format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
            "whole": {"format": "%(asctime)s %(levelname)s %(name)s (%(process)d): %(message)s"},
        },
        "filters": {"traceback": {"()": f"{__name__}.HasTraceback"}},
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "whole" if is_debug else "line"},
            "errors": {
                "()": f"{__name__}.SharedFile",
                "filename": str(home / "errors.log"),
                "most_bytes": MOST_BYTES,
                "formatter": "whole",
                "filters": ["traceback"],
            },
        },
        "loggers": {} if is_debug else {name: {"level": level} for name, level in QUIET.items()},
        "root": {"handlers": ["console", "errors"], "level": "INFO"},
    }
