"""Every shape a browser can get. The files hold the JavaScript side to the same cases."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from dashboard.push.group_diffs import apply
from dashboard.push.messages import (
    KINDS,
    VERSION,
    GroupDiff,
    GroupSnapshot,
    OverviewDiff,
    OverviewSnapshot,
    Pulse,
    Row,
    Seen,
    decode,
    encode,
)
from dashboard.push.shapes import BadMessage, from_json, to_json

CASES = sorted(Path(__file__).parents[2].joinpath("diffs").glob("*.json"))
ROW = Row(1, "g", "CLUSTERING", 2, 4, 0, None, 0, True, "AVG", 1, 5, None, "member joined", 3, 9)


def read(path: Path) -> dict:
    return json.loads(path.read_text())


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_browser_that_applies_the_messages_of_a_case_has_its_state(path: Path) -> None:
    case = read(path)
    state = None
    for value in case["messages"]:
        message = from_json(KINDS[value["kind"]], value)
        assert isinstance(message, GroupSnapshot | GroupDiff)
        state = apply(state, message)

    assert to_json(state) == case["state"]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_message_of_a_case_with_a_field_too_many_is_refused(path: Path) -> None:
    for value in read(path)["messages"]:
        with pytest.raises(BadMessage, match="differs in extra"):
            from_json(KINDS[value["kind"]], {**value, "extra": 1})


def test_there_are_cases_of_every_kind_of_change() -> None:
    kinds = {"join", "leave", "moves", "unknown", "new_queues", "faults", "first_place", "shifts"}
    assert {path.stem for path in CASES} == kinds


@pytest.mark.parametrize(
    "message",
    [
        OverviewSnapshot(VERSION, "overview.snapshot", "overview-1", 3, 5, (ROW,) * 40),
        OverviewDiff(VERSION, "overview.diff", "overview-1", 4, 5, (ROW,), (2,)),
        Pulse(VERSION, "pulse", "group-1", 4, 5, 5, (Seen("A", 3), Seen("B", None))),
    ],
    ids=lambda message: message.kind,
)
def test_a_message_comes_back(message: OverviewSnapshot | OverviewDiff | Pulse) -> None:
    assert decode(encode(message)) == message


def test_only_long_messages_are_deflated() -> None:
    short = Pulse(VERSION, "pulse", "group-1", 4, 5, None, ())
    long = OverviewSnapshot(VERSION, "overview.snapshot", "overview-1", 3, 5, (ROW,) * 40)

    assert encode(short).startswith(b"{")
    assert zlib.decompress(encode(long)).startswith(b"{")


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"kind":"party"}', b'{"kind":"pulse","v":2}', b"\x78\x9c\x00", zlib.compress(b"{}")[:-3]],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(BadMessage):
        decode(data)
