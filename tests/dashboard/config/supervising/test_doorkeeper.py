import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from dashboard.api.errors import ADDRESS
from dashboard.config.home import ROOT
from dashboard.config.supervising.doorkeeper import (
    LANGUAGE_COOKIE,
    SHEET,
    Doorkeeper,
    News,
    Progress,
    answer,
    hear,
    read,
)
from tests.dashboard.config.supervising.processes import LONG_S

HALF: News = {"tables": Progress("doing", 12, 40), "static": Progress("done")}


def asked(path: str, *lines: str, method: str = "GET", news: News = HALF) -> tuple[str, dict[str, str], str]:
    """Ask, and give status line, headers and body."""
    head = "\r\n".join([f"{method} {path} HTTP/1.1", "Host: a", *lines])
    top, _, body = answer(read(head.encode()), news, ROOT).partition(b"\r\n\r\n")
    status, *headers = top.decode().split("\r\n")
    return status, dict(header.split(": ", 1) for header in headers), body.decode()


@pytest.mark.parametrize("path", ["/", "/groups/7/?queue=1", "/nowhere", "/admin/"])
def test_every_page_says_that_it_is_starting_and_what_it_does_now(path: str) -> None:
    status, headers, body = asked(path, "Accept: text/html,*/*")

    assert status == "HTTP/1.1 503 Service Unavailable"
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Retry-After"] == headers["Refresh"] == "2"
    assert headers["Cache-Control"] == "no-store"
    assert int(headers["Content-Length"]) == len(body.encode())
    assert "<h1>Evenkeel is starting</h1>" in body
    assert "Prepare the database <span>12 of 40</span>" in body
    assert "Collect static files <span>done</span>" in body
    assert "Load the pages <span>waits</span>" in body
    assert "script" not in body and "style=" not in body


def test_a_program_gets_json_and_who_asks_for_health_a_word() -> None:
    for path, line in (("/", "Accept: application/json"), (f"{ADDRESS}groups", "Accept: */*")):
        status, headers, body = asked(path, line)

        assert (status[9:12], headers["Content-Type"], headers["Retry-After"]) == ("503", "application/json", "2")
        assert "Refresh" not in headers
        told = json.loads(body)
        assert told["state"] == "starting"
        assert told["steps"][0] == {"step": "tables", "state": "doing", "at": 12, "of": 40}
    status, headers, body = asked("/healthz", "Accept: */*")
    assert (status[9:12], headers["Content-Type"], body) == ("503", "text/plain; charset=utf-8", "starting\n")
    assert json.loads(asked("/healthz", "Accept: application/json")[2])["state"] == "starting"


def test_what_was_sent_is_not_sent_again_by_itself() -> None:
    _, headers, body = asked("/groups/7/orders", "Accept: text/html", method="POST")

    assert "Refresh" not in headers
    assert "Nothing of what you sent was carried out" in body


def test_a_head_has_no_body_and_what_is_not_http_is_refused() -> None:
    assert asked("/", "Accept: text/html", method="HEAD")[2] == ""
    assert answer(read(b"\x16\x03\x01"), {}, ROOT).startswith(b"HTTP/1.1 400 ")


def test_its_style_is_that_of_all_pages() -> None:
    status, headers, body = asked(SHEET)

    assert (status, headers["Content-Type"]) == ("HTTP/1.1 200 OK", "text/css; charset=utf-8")
    assert "--paper" in body and "main {" in body


def test_it_speaks_the_language_that_was_chosen_or_that_the_browser_asks_for() -> None:
    assert LANGUAGE_COOKIE == settings.LANGUAGE_COOKIE_NAME
    english = asked("/", "Accept: text/html", "Accept-Language: zh-CN", f"Cookie: a=b; {LANGUAGE_COOKIE}=en")[2]
    chinese = asked("/", "Accept: text/html", "Accept-Language: zh-CN")[2]

    assert '<html lang="en">' in english and "Evenkeel is starting" in english
    assert '<html lang="zh-hans">' in chinese and "正在启动" in chinese


@pytest.mark.parametrize(
    "line", [b"", b"{}", b'["tables"]', b'["secret", "doing", 0, null]', b'["tables", "x", 0, null]']
)
def test_news_that_make_no_sense_say_nothing(line: bytes) -> None:
    assert hear(line, HALF) == HALF


def test_news_replace_those_of_the_same_step() -> None:
    assert hear(b'["tables", "done", 0, null]', HALF) == {**HALF, "tables": Progress("done")}


# ---- at the socket ----


class Standing:
    """A doorkeeper in a thread, and what it is told."""

    def __init__(self, listener: socket.socket, web: socket.socket, tell: int, thread: threading.Thread) -> None:
        self.port = listener.getsockname()[1]
        self.listener = listener
        self.web = web
        self.tell = tell
        self.thread = thread

    def call(self, request: bytes) -> socket.socket:
        caller = socket.create_connection(("127.0.0.1", self.port), timeout=LONG_S)
        caller.sendall(request)
        return caller


@contextmanager
def standing() -> Iterator[Standing]:
    listener = socket.create_server(("127.0.0.1", 0))
    theirs, ours = socket.socketpair()
    ours.settimeout(LONG_S)
    told, tell = os.pipe()
    keeper = Doorkeeper(listener.dup(), theirs, told, Path(ROOT))
    thread = threading.Thread(target=keeper.serve)
    thread.start()
    try:
        yield Standing(listener, ours, tell, thread)
    finally:
        os.close(tell)
        thread.join(LONG_S)
        os.close(told)
        ours.close()
        listener.close()


def all_of(caller: socket.socket) -> bytes:
    with caller:
        return b"".join(iter(lambda: caller.recv(65_536), b""))


def test_it_answers_whoever_comes_also_who_sends_more_than_a_head() -> None:
    with standing() as door:
        body = b"x" * 200_000
        request = b"POST /api/v1/reports HTTP/1.1\r\nContent-Length: 200000\r\n\r\n" + body

        assert all_of(door.call(request)).startswith(b"HTTP/1.1 503 ")
        assert all_of(door.call(b"GET /healthz HTTP/1.1\r\n\r\n")).endswith(b"starting\n")


def test_once_somebody_knocks_it_accepts_nobody_more_and_who_comes_then_waits_for_the_web_process() -> None:
    with standing() as door:
        begun = door.call(b"GET /healthz HT")
        all_of(door.call(b"GET / HTTP/1.1\r\n\r\n"))  # so the one before was accepted

        door.web.send(b"!")
        assert door.web.recv(1) == b""  # it has left

        begun.sendall(b"TP/1.1\r\n\r\n")
        assert all_of(begun).endswith(b"starting\n")  # what it had accepted it answers still
        later = door.call(b"GET /healthz HTTP/1.1\r\n\r\n")
        door.listener.settimeout(LONG_S)
        web, _ = door.listener.accept()
        with web:
            assert web.recv(65_536).startswith(b"GET /healthz")
            web.sendall(b"from the web process")
        assert all_of(later) == b"from the web process"


def test_it_ends_with_the_supervisor() -> None:
    with standing() as door:
        pass

    assert not door.thread.is_alive()
