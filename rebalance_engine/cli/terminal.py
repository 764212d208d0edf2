"""What is written for people on a terminal: colour where there is one, columns that fit, and names that do no harm."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from rebalance_engine.harmless import harmless

CLEAR = "\x1b[H\x1b[2J\x1b[3J"
NARROWEST, WIDEST = 60, 200
ENDLESS = 1_000_000
COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35", "cyan": "36", "dim": "2"}


def safe(text: str, most: int | None = None) -> str:
    r"""Write a name from outside so that it can neither steer the terminal nor turn its line round.

    >>> safe("a\x1b[2J")
    'a\\x1b[2J'

    Args:
        most: columns; a longer name is cut, and ends with three dots.
    """
    shown = harmless(text if most is None else text[: most + 1])
    return shown if most is None else cut(shown, most)


def width_of(text: str) -> int:
    """Count the columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def cut(text: str, most: int) -> str:
    """Shorten a text to so many columns."""
    if width_of(text) <= most:
        return text
    while text and width_of(text) > max(0, most - 3):
        text = text[:-1]
    return text + "..."[:most]


@dataclass(frozen=True, slots=True)
class Paper:
    """What is written on: how wide it is, and whether it has colours. No colour says anything that no word says."""

    width: int = 80
    has_colour: bool = False

    def ink(self, text: str, *colours: str) -> str:
        """Colour a text; ``bold`` is a colour too."""
        if not self.has_colour or not colours:
            return text
        codes = ";".join("1" if colour == "bold" else COLOURS[colour] for colour in colours)
        return f"\x1b[{codes}m{text}\x1b[0m"


def paper_of(stream: TextIO, environment: Mapping[str, str] | None = None) -> Paper:
    """Find out what a stream is: colour only on a terminal that has it (``NO_COLOR``, ``TERM=dumb`` say it has not)."""
    environment = os.environ if environment is None else environment
    is_terminal = stream.isatty()
    has_colour = is_terminal and not environment.get("NO_COLOR") and environment.get("TERM", "dumb") != "dumb"
    given = environment.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and len(given) < 6 and int(given):
        columns = int(given)
    elif is_terminal:
        columns = shutil.get_terminal_size((80, 24)).columns
    else:
        return Paper(ENDLESS, has_colour)  # a file or a program has no edge: nothing is cut
    return Paper(min(max(columns, NARROWEST), WIDEST), has_colour)


def show(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Write lines at once; what the stream cannot write is escaped."""
    stream = sys.stdout if stream is None else stream
    text = "\n".join(lines) + "\n"
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its head, and where numbers stand to the right. One of ``shrinks`` gives way in a narrow place."""

    head: str
    is_number: bool = False
    shrinks: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], paper: Paper) -> list[str]:
    """Lay rows out in columns; the cells are plain text."""
    widths = [
        max(width_of(column.head), *(width_of(row[number]) for row in rows), 1) if rows else width_of(column.head)
        for number, column in enumerate(columns)
    ]
    over = sum(widths) + 2 * (len(columns) - 1) - paper.width
    for number in sorted((n for n, column in enumerate(columns) if column.shrinks), key=lambda n: -widths[n]):
        if over > 0:
            less = min(over, widths[number] - 12)
            widths[number] -= max(0, less)
            over -= max(0, less)
    heads = _line([column.head for column in columns], columns, widths)
    return [paper.ink(heads, "dim"), *(_line(row, columns, widths) for row in rows)]


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    parts = []
    for cell, column, width in zip(cells, columns, widths, strict=True):
        text = cut(cell, width)
        gap = " " * (width - width_of(text))
        parts.append(gap + text if column.is_number else text + gap)
    return "  ".join(parts).rstrip()


def wrapped(text: str, width: int) -> list[str]:
    """Break a text at words into lines of so many columns; a longer word is never broken."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and width_of(lines[-1]) + 1 + width_of(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines if text else []


def seconds(ms: int) -> str:
    """Write a short time.

    >>> seconds(740), seconds(61_000)
    ('0.7 s', '61 s')
    """
    return f"{ms / 1000:.1f} s" if abs(ms) < 10_000 else f"{ms // 1000} s"


def count(number: int, one: str, many: str | None = None) -> str:
    """Write how many there are.

    >>> count(1, "queue"), count(1200, "queue")
    ('1 queue', '1,200 queues')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
