from __future__ import annotations

import json

import pytest

from rebalance_engine import eventlog
from rebalance_engine.cli import BadArguments
from rebalance_engine.cli.reporting import TOKEN, body_of, check_url, send_report
from rebalance_engine.events import EXACT, CommandReceipt, Fact, Origin, ReceiptAnswer, Source
from tests.rebalance_engine.cli.rooms import Room

FACT = CommandReceipt(
    at=1_700_000_000_000,
    source=Source(origin=Origin.OPERATOR),
    exactness=EXACT,
    command="c1",
    group="g\ud800",
    client="A",
    answer=ReceiptAnswer.CHANGED,
)


def send(room: Room, facts: tuple[Fact, ...] = (FACT,)) -> str:
    return send_report(room.url, group="g\ud800", report="r1", facts=facts)


def test_a_report_is_its_facts_as_the_event_log_has_them() -> None:
    report = json.loads(body_of(group="g\ud800", report="r1", facts=[FACT, FACT]))

    assert (report["v"], report["report"], report["group"]) == (1, "r1", "g\ud800")
    assert [eventlog.read(json.dumps(line)) for line in report["facts"]] == [FACT, FACT]


def test_a_report_is_posted_with_its_token(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "secret")

    assert send(room) == ""

    [(path, headers, body)] = room.got
    assert path == "/api/v1/reports"
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Content-Type"] == "application/json"
    assert json.loads(body)["report"] == "r1"


def test_a_refusal_is_told_with_the_beginning_of_what_was_said(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    room.status, room.said = 403, b"no token\n" + b"x" * 10_000

    trouble = send(room)

    assert "answers 403" in trouble and "no token" in trouble
    assert len(trouble) < 1_000
    assert "Authorization" not in room.got[0][1]


@pytest.mark.parametrize("status", [301, 307])
def test_no_redirect_is_followed(room: Room, status: int) -> None:
    room.status, room.headers = status, {"Location": room.url + "/elsewhere"}

    assert f"answers {status}" in send(room)
    assert len(room.got) == 1


def test_who_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")

    assert "127.0.0.1:1" in send_report("http://127.0.0.1:1/x", group="g", report="r", facts=[FACT], timeout_s=5)


@pytest.mark.parametrize("url", ["", "evenkeel.example", "file:///etc/passwd", "ftp://x/y", "http:///x", "http://[x/"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BadArguments, match="--report is"):
        check_url(url)


def test_addresses_of_http_and_https_are_taken() -> None:
    check_url("http://127.0.0.1:8000/api/v1/reports")
    check_url("https://[::1]/api/v1/reports")
