import gzip
from io import BytesIO
from pathlib import Path

import pytest

from rebalance_engine.pipeline.ends import MOST, UNPACKED_AT_ONCE, Unpacked, cut_of, last_line, unpacked
from rebalance_engine.pipeline.layouts import BROKER, CPP, GO, HISTORY, JAVA4, JAVA5, Layout
from tests.rebalance_engine.pipeline.frames import (
    QUEUE,
    added,
    broker,
    java4,
    java5,
    joined,
    persisted,
    removed,
    result,
)

Q = QUEUE.format("east", 12)
CPP_LINE = f"[2026-11-21 00:00:04.123456](info):Add mq:{Q}, request initial offset:7[updateRequestTable:12]\n"
GO_LINE = (
    'time="2026-11-21T08:00:05+08:00" level=info msg="remove unnecessary mq when updateProcessQueueTable"'
    f' MessageQueue="{Q}" consumerGroup=g\n'
)


def cut(text: str, layout: Layout) -> str:
    return cut_of(last_line(BytesIO(text.encode())), layout)


@pytest.mark.parametrize(
    ("line", "layout"),
    [
        (java5(1, persisted("g", "10.0.0.1@77", Q, 4)), JAVA5),
        (java5(1, result("g", "10.0.0.1@77", [Q, Q])), JAVA5),
        (java4(1, "doRebalance, g, add a new mq failed, because lock failed"), JAVA4),
        (broker(1, joined("g", "10.0.0.1@77")), BROKER),
        (CPP_LINE, CPP),
        (GO_LINE, GO),
    ],
)
def test_a_line_is_cut_wherever_it_is_cut(line: str, layout: Layout) -> None:
    text, head = line.rstrip("\r\n"), len(layout.begins)

    for size in range(head + 1, len(text)):
        assert cut(line + text[:size], layout) == text[head:size]
    assert cut(line * 2, layout) == ""


@pytest.mark.parametrize(
    ("line", "layout"),
    [
        (java5(1, added("g", Q)), JAVA5),
        (java4(1, removed("g", Q)), JAVA4),
        (java5(1, result("g", "10.0.0.1@77", [Q, Q])), JAVA5),
        (java5(1, result("g", "10.0.0.1@77", [])), JAVA5),
        (java5(1, "the consumer [g] shutdown OK"), JAVA5),
        (broker(1, joined("g", "10.0.0.1@77")), BROKER),
        (CPP_LINE, CPP),
    ],
)
def test_a_line_that_lacks_only_its_end_is_whole(line: str, layout: Layout) -> None:
    assert cut(line * 2 + line.rstrip("\r\n"), layout) == ""


def test_of_a_long_line_the_end_is_kept_and_of_a_letter_its_bytes(tmp_path: Path) -> None:
    text = java5(1, "x").rstrip("x\n") + "é" * 100_000

    within = text.encode()[:-1]
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(b"a\n" + within))
    for last in (last_line(BytesIO(within)), unpacked(tmp_path / "a.log.gz").last):
        assert cut_of(last, JAVA5).encode("latin-1") == within[-MOST:]


def test_what_does_not_begin_as_a_line_goes_on_with_the_line_before() -> None:
    assert cut(java5(1, "x") + "\tat org.x", JAVA5) == ""
    assert cut('{"v":1,"event":"MemberSe', HISTORY) == ""
    assert cut("", JAVA5) == ""


def test_an_end_that_lies_on_the_edge_of_what_is_read_at_once_is_found(tmp_path: Path) -> None:
    line = java5(1, "x" * 65_000)
    for size in range(65_400, 65_700, 7):
        path = tmp_path / "a.log"
        path.write_text(line + line[:size])
        with path.open("rb") as file:
            kept = line[:size].removeprefix("20")[-MOST:]
            assert cut_of(last_line(file), JAVA5) == ("" if line[:size].endswith("\n") else kept)


@pytest.mark.parametrize(
    ("text", "has_padding", "last"),
    [
        (b"", False, b""),
        (b"a\nb\n", False, b""),
        (b"a\nb\n" + b"c" * (2 * UNPACKED_AT_ONCE), False, b"c" * (2 * UNPACKED_AT_ONCE)),
        (b"\0" + b"a\n" * UNPACKED_AT_ONCE + b"b", True, b"b"),
        (b"a\nb" + b"\0" * (2 * UNPACKED_AT_ONCE), True, b"b"),
    ],
)
def test_one_pass_over_a_packed_file_tells_all_that_is_asked_of_it(
    tmp_path: Path, text: bytes, has_padding: bool, last: bytes
) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(text))

    assert unpacked(path) == Unpacked(is_whole=True, has_padding=has_padding, last=last)


def test_a_packed_file_that_is_cut_or_none_at_all_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.log.gz"
    for content in (gzip.compress(b"a\nb" * 9_999)[:-9], b"nothing packed"):
        path.write_bytes(content)
        assert not unpacked(path).is_whole
    path.unlink()
    assert not unpacked(path).is_whole
