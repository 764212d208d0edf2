"""Names from outside on a page: what cannot be seen, or would turn the line round, is written out.

``static/js/lib/shown.js`` writes the same; ``tests/words/names.json`` holds both to it. A name that looks like another
one is another one: a reader must be able to tell them apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from dashboard.common.fields import as_it_was

MOST_MARKS_ON_A_LETTER = 3  # combining ones: more of them would be drawn over the lines above and below
ISOLATE, END = "\u2068", "\u2069"

_UNSEEN = (
    "\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u27e8\u2800\u3000\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_PLAIN = re.compile(r"(?! )[!-~]*(?: [!-~]+)*")  # nearly every name: nothing to write out
_MARKED = re.compile(f"[{_UNSEEN}]|^ | $| (?= )")
_UNSEEN_IN_PAGES = re.compile(f"(?![\\t\\n\\r\\xa0])[{_UNSEEN}]")
_TURNING = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_TURNED = re.compile(f"[{_TURNING}]+(?: [{_TURNING}]+)*")


def shown(name: str, most: int | None = None) -> str:
    """Write a name, or a sentence with names in it, so that it cannot pose as another one.

    Whatever has no look of its own (controls, directions, spaces that are none, private characters) becomes
    ``⟨U+202E⟩``, also where it was written out before because no database takes it. Letters that go from right to left
    are isolated, so that they turn nothing but themselves.

    Args:
        most: letters; a longer name is cut in the middle, for beginnings are often alike.
    """
    name = as_it_was(name)
    if (most is None or len(name) <= most) and _PLAIN.fullmatch(name):
        return name
    parts = list(_parts(name))
    if most is not None:
        parts = _cut(parts, most)
    return _TURNED.sub(lambda found: f"{ISOLATE}{found[0]}{END}", "".join(parts))


def is_cut(name: str, most: int) -> bool:
    """Ask whether a name is longer than what is shown of it."""
    name = as_it_was(name)
    return len(name) > most or sum(map(len, _parts(name))) > most


def marked(page: str) -> str:
    """Write out what cannot be seen in a whole page of somebody else's making; its line ends and spaces stay."""
    return _UNSEEN_IN_PAGES.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", page)


def _parts(name: str) -> Iterator[str]:
    """Give what is shown of each character."""
    marks = 0
    spaces = {found.start() for found in _MARKED.finditer(name)}
    for place, letter in enumerate(name):
        is_mark = unicodedata.category(letter)[0] == "M"
        marks = marks + 1 if is_mark else 0
        is_loose = is_mark and (marks > MOST_MARKS_ON_A_LETTER or marks == place + 1)
        yield f"⟨U+{ord(letter):04X}⟩" if place in spaces or is_loose else letter


def _cut(parts: list[str], most: int) -> list[str]:
    """Keep beginning and end, and put three dots between; what was written out is never cut in two."""
    if sum(map(len, parts)) <= most:
        return parts
    head = _fitting(parts, (most - 1) - (most - 1) // 2)
    tail = _fitting(parts[::-1], (most - 1) // 2)
    return [*parts[:head], "…", *parts[len(parts) - tail :]]


def _fitting(parts: list[str], room: int) -> int:
    for count, part in enumerate(parts):
        room -= len(part)
        if room < 0:
            return count
    return len(parts)
