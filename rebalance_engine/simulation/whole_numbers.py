"""Whole numbers that people write."""

from __future__ import annotations

MOST_DIGITS = 20  # Python reads no more than 4300, and that in the square of the time; the last seed has 19


def whole_number(word: str, least: int, most: int) -> int | None:
    """Read a number from ``least`` to ``most``; None if the word is none, or has more than 20 digits.

    >>> whole_number("007", 0, 9), whole_number("7" * 5_000, 0, 9), whole_number("²", 0, 9)
    (7, None, None)
    """
    if not (word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS):
        return None
    number = int(word)
    return number if least <= number <= most else None
