from __future__ import annotations

import json

import pytest

from dashboard.common.shown import is_cut, marked, shown
from tests.house.project import ROOT

CASES: list[tuple[str, int | None, str]] = json.loads((ROOT / "tests/words/names.json").read_text())
TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize(("name", "most", "words"), CASES, ids=[ascii(case[0]) for case in CASES])
def test_names_are_shown_as_javascript_shows_them(name: str, most: int | None, words: str) -> None:
    assert shown(name, most) == words


def test_nothing_that_turns_a_line_comes_through() -> None:
    name = "".join(f"a{turn}" for turn in TURNS)

    assert not set(shown(name)) & set(TURNS)


def test_two_names_that_differ_look_different() -> None:
    names = ["ab", "a\u200bb", "a\u200cb", "a b", "a  b", "a\u00a0b", "ab ", " ab", "a⟨U+200B⟩b"]

    assert len({shown(name) for name in names}) == len(names)


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    name = "10.0.0.1@" + "x" * 1_000 + "#7"

    words = shown(name, 48)

    assert len(words) == 48
    assert words.startswith("10.0.0.1@x")
    assert words.endswith("x#7")
    assert is_cut(name, 48)
    assert not is_cut("10.0.0.1@x", 48)


def test_a_page_keeps_its_lines_and_spaces() -> None:
    assert marked("<p>\n\ta\u202eb\xa0c</p>\r\n") == "<p>\n\ta⟨U+202E⟩b\xa0c</p>\r\n"
