"""Which entries were there, kept outside of the database: one line for each, in a file of the home.

``<number> <digest>`` a line. A log from whose end entries were cut, or whose chain was computed anew as a whole, is
right in itself; these lines tell. Each process appends, in one write, so that several do not disturb each other.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

logger = logging.getLogger(__name__)

_LINE = re.compile(r"([1-9][0-9]{0,17}) ([0-9a-f]{64})")


def note(path: Path, number: int, digest: str) -> None:
    """Note that an entry is there. What cannot be written is logged: what the entry is about was done already."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{number} {digest}\n".encode())
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        logger.error("entry %d of the audit log cannot be noted in %s: %s", number, path, error)  # noqa: TRY400


def read(path: Path) -> tuple[dict[int, set[str]], list[int]] | None:
    """Read which digests each entry was noted with, and which lines are none; None: there is no file.

    Raises:
        OSError: it cannot be read.
    """
    noted: dict[int, set[str]] = {}
    wrong = []
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            for place, line in enumerate(file, 1):
                found = _LINE.fullmatch(line.rstrip("\n"))
                if found is None:
                    wrong.append(place)
                else:
                    noted.setdefault(int(found[1]), set()).add(found[2])
    except FileNotFoundError:
        return None
    return noted, wrong
