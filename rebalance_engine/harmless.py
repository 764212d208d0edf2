"""Texts from outside, written so that they can neither steer a terminal nor turn their line round."""

from __future__ import annotations

import unicodedata

_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # controls, directions, line ends, no characters


def harmless(text: str) -> str:
    r"""Escape what a terminal would obey, ends of lines among them.

    >>> harmless("a\x1b[2J")
    'a\\x1b[2J'
    """
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in _HARMFUL else character
        for character in text
    )
