import io

import pytest

from rebalance_engine.cli.terminal import (
    Column,
    Paper,
    count,
    cut,
    paper_of,
    safe,
    seconds,
    show,
    table,
    width_of,
    wrapped,
)


class Terminal(io.StringIO):
    encoding = "ascii"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("10.0.0.1@7", "10.0.0.1@7"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\nb\r", "a\\nb\\r"),
        ("a\u202eb", "a\\u202eb"),
        ("\ud800", "\\ud800"),
        ("消费者", "消费者"),
    ],
)
def test_names_cannot_steer_the_terminal(name: str, shown: str) -> None:
    assert safe(name) == shown


def test_long_names_are_cut_to_columns() -> None:
    assert safe("x" * 1000, 10) == "xxxxxxx..."
    assert width_of(cut("消费者消费者", 9)) <= 9
    assert cut("abc", 3) == "abc"


def test_colour_is_for_terminals_that_have_it() -> None:
    assert paper_of(Terminal(), {"TERM": "xterm"}).has_colour
    assert not paper_of(Terminal(), {"TERM": "xterm", "NO_COLOR": "1"}).has_colour
    assert not paper_of(Terminal(), {"TERM": "dumb"}).has_colour
    assert not paper_of(io.StringIO(), {"TERM": "xterm"}).has_colour
    assert Paper(80, True).ink("x", "red", "bold") == "\x1b[31;1mx\x1b[0m"
    assert Paper(80, False).ink("x", "red") == "x"


def test_nothing_is_cut_where_there_is_no_edge() -> None:
    name = "x" * 5_000
    piped = paper_of(io.StringIO(), {})

    assert table([Column("NAME", shrinks=True)], [[name]], piped)[1] == name
    assert [paper_of(stream, {"COLUMNS": "100"}).width for stream in (io.StringIO(), Terminal())] == [100, 100]
    assert paper_of(io.StringIO(), {"COLUMNS": "wide"}).width == piped.width


def test_what_a_stream_cannot_write_is_escaped() -> None:
    stream = Terminal()

    show(["é"], stream)

    assert stream.getvalue() == "\\xe9\n"


def test_columns_fit_the_paper_and_numbers_stand_to_the_right() -> None:
    columns = [Column("NAME", shrinks=True), Column("N", is_number=True)]

    lines = table(columns, [["x" * 200, "1"], ["y", "1000"]], Paper(60))

    assert max(map(width_of, lines)) == 60
    assert lines[0] == f"{'NAME':<54}  {'N':>4}"
    assert lines[2] == f"{'y':<54}  1000"
    assert table(columns, [], Paper(60)) == ["NAME  N"]


def test_texts_are_broken_at_words() -> None:
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("", 7) == []


def test_figures_are_written_for_people() -> None:
    assert (seconds(9_999), seconds(10_000), count(1, "entry", "entries"), count(2, "entry", "entries")) == (
        "10.0 s",
        "10 s",
        "1 entry",
        "2 entries",
    )
