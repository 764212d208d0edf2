import os

from dashboard.config.supervising.output import MOST_LINE_BYTES, MOST_WAITING, Lines, Terminal


def test_a_stream_is_cut_into_lines_wherever_its_pieces_end() -> None:
    said = "erste Zeile\nzwei: 二\n\nrest".encode()
    lines = Lines()

    heard = [line for byte in said for line in lines.take(bytes([byte]))]

    assert heard + lines.rest() == ["erste Zeile", "zwei: 二", "", "rest"]


def test_a_line_without_an_end_takes_no_memory_and_is_cut() -> None:
    lines = Lines()
    for _ in range(100):
        assert lines.take(b"x" * 65_536) == []

    (line,) = lines.take(b"\n")

    assert line == "x" * MOST_LINE_BYTES + " …"


def test_each_line_says_who_said_it() -> None:
    reading, writing = os.pipe()
    terminal = Terminal(writing)

    terminal.tell("web", "hello")
    terminal.close()
    os.close(writing)

    assert os.read(reading, 100) == b"web          | hello\n"
    os.close(reading)


def test_a_terminal_that_nobody_reads_holds_nobody_up_and_says_later_what_was_left_out() -> None:
    reading, writing = os.pipe()
    terminal = Terminal(writing)

    for number in range(MOST_WAITING * 40):
        terminal.tell("web", f"{number}: {'x' * 200}")
    heard = os.read(reading, 1_000_000)
    while b"left out" not in heard[-1_000_000:]:
        terminal.tell("web", "again")
        heard += os.read(reading, 1_000_000)
    terminal.close()
    os.close(writing)
    os.close(reading)

    assert heard.startswith(b"web          | 0: xxx")


def test_a_terminal_that_is_gone_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    terminal = Terminal(writing)

    terminal.tell("web", "hello")
    terminal.tell("web", "hello")
    terminal.close()
    os.close(writing)


def test_a_name_of_a_cluster_poses_as_no_other_line() -> None:
    reading, writing = os.pipe()
    terminal = Terminal(writing)

    terminal.tell("watch x\nevenkeel     | log in as", "hello")
    terminal.tell(f"watch {'y' * 300}", "hello")
    terminal.close()
    os.close(writing)

    with os.fdopen(reading) as lines:
        first, second = lines.read().splitlines()
    assert first == r"watch x\nevenkeel     | log in as | hello"
    assert second == f"watch {'y' * 33}… | hello"
