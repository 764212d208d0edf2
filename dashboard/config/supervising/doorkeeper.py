"""Answers every request while nothing else can: Evenkeel is starting, and what it does now.

A script of its own that needs nothing but Python: so it answers from the first second on, long before Django is loaded.
It is told on its standard input, line by line, how far each step of the start is. It leaves when the web process knocks
(``take_over`` in ``door.py``), and at the end of its input; what it has accepted by then it still answers.
"""

from __future__ import annotations

import contextlib
import gettext
import json
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

AGAIN_AFTER_S = 2
MOST_HEAD_BYTES = 16_384
MOST_BODY_BYTES = 1_048_576  # read and thrown away: who is cut off while it sends sees no answer
MOST_CALLERS = 100  # at a time; more wait in the queue of the socket
CALLER_S = 5.0  # for a whole request
LAST_ANSWERS_S = 2.0
LANGUAGE_COOKIE = "evenkeel-language"
SHEET = "/starting.css"
SHEETS = ("static/css/tokens.css", "static/css/starting.css")
PLAIN = {"/healthz", "/metrics"}  # programs ask there, and read a word
POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def _(words: str) -> str:
    """Mark words for translation."""
    return words


STEPS = {
    "tables": _("Prepare the database"),
    "static": _("Collect static files"),
    "entries": _("Enter the first administrator and the cluster"),
    "pages": _("Load the pages"),
}
STATES = {"waiting": _("waits"), "doing": _("doing now"), "done": _("done")}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step is; ``of`` is None where it is not counted."""

    state: str = "waiting"
    at: int = 0
    of: int | None = None


News = Mapping[str, Progress]


def hear(line: bytes, news: News) -> News:
    """Take in a line: the name of a step, and how far it is. One that makes no sense says nothing."""
    try:
        step, state, at, of = json.loads(line)
    except ValueError:
        return news
    return {**news, step: Progress(state, at, of)} if step in STEPS and state in STATES else news


# ---- one answer ----


@dataclass(frozen=True, slots=True)
class Request:
    """The head of a request."""

    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def is_read(self) -> bool:
        """Say whether it asks for something and changes nothing."""
        return self.method in {"GET", "HEAD"}


def read(head: bytes) -> Request | None:
    """Read a head; None is one that is not HTTP."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return None
    pairs = (line.partition(":") for line in lines)
    return Request(
        words[0], words[1].partition("?")[0], {name.strip().lower(): text.strip() for name, _, text in pairs}
    )


def answer(request: Request | None, news: News, root: Path) -> bytes:
    """Say that it is starting, in the form that was asked for."""
    if request is None:
        return _whole("400 Bad Request", "text/plain", "this is no request that can be read\n", {}, is_head=False)
    is_head = request.method == "HEAD"
    if request.path == SHEET and request.is_read:
        return _whole("200 OK", "text/css", "".join((root / name).read_text() for name in SHEETS), {}, is_head=is_head)
    kind, body = _form(request, news, root)
    later = {"Retry-After": str(AGAIN_AFTER_S)}
    if kind == "text/html" and request.is_read:  # what was sent and not done is not to be asked for by itself
        later["Refresh"] = str(AGAIN_AFTER_S)
    return _whole("503 Service Unavailable", kind, body, later, is_head=is_head)


def _form(request: Request, news: News, root: Path) -> tuple[str, str]:
    accepts = request.headers.get("accept", "")
    if "text/html" not in accepts and ("json" in accepts or request.path.startswith("/api/")):
        return "application/json", as_json(news)
    if request.path in PLAIN:
        return "text/plain", "starting\n"
    return "text/html", as_page(news, root, _language(request), is_read=request.is_read)


def as_json(news: News) -> str:
    """Say it to a program."""
    steps = [{"step": step, "state": (p := news.get(step, Progress())).state, "at": p.at, "of": p.of} for step in STEPS]
    return json.dumps({"problem": "Evenkeel is starting", "state": "starting", "steps": steps}) + "\n"


def as_page(news: News, root: Path, language: str, *, is_read: bool) -> str:
    """Say it to a person."""
    say = gettext.translation(
        "django", root / "dashboard/locale", [language.replace("-h", "_H")], fallback=True
    ).gettext
    steps = "\n".join(_item(say(words), news.get(step, Progress()), say) for step, words in STEPS.items())
    again = (
        say(_("This page asks again every %(seconds)s seconds.")) % {"seconds": AGAIN_AFTER_S}
        if is_read
        else say(_("Nothing of what you sent was carried out: go back, and send it again once Evenkeel runs."))
    )
    title = escape(say(_("Evenkeel is starting")))
    return f"""<!DOCTYPE html>
<html lang="{language}">
    <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{title}</title>
        <link rel="stylesheet" href="{SHEET}">
    </head>
    <body>
        <main>
            <h1>{title}</h1>
            <ol>
{steps}
            </ol>
            <p>{escape(again)}</p>
        </main>
    </body>
</html>
"""


def _item(words: str, progress: Progress, say: Callable[[str], str]) -> str:
    where = say(STATES[progress.state])
    if progress.state == "doing" and progress.of:
        where = say(_("%(at)s of %(of)s")) % {"at": progress.at, "of": progress.of}
    return f'                <li class="{progress.state}">{escape(words)} <span>{escape(where)}</span></li>'


def _language(request: Request) -> str:
    """Give what was chosen, or what the browser asks for first."""
    cookies = (part.strip().partition("=") for part in request.headers.get("cookie", "").split(";"))
    chosen = {name: value for name, _, value in cookies}.get(LANGUAGE_COOKIE)
    wanted = chosen or request.headers.get("accept-language", "")
    return "zh-hans" if wanted.lower().startswith("zh") else "en"


def _whole(status: str, kind: str, body: str, more: Mapping[str, str], *, is_head: bool) -> bytes:
    content = body.encode()
    headers = {
        "Content-Type": kind if kind == "application/json" else f"{kind}; charset=utf-8",
        "Content-Length": str(len(content)),
        "Connection": "close",
        "Cache-Control": "no-store",
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        **more,
    }
    head = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + (b"" if is_head else content)


# ---- the door ----


class Doorkeeper:
    """Accepts until the web process knocks.

    Args:
        listener: the socket that listens for browsers.
        knocking: the web process writes here once it can serve; closed it says that nobody is accepted any more.
        told: the descriptor of what the supervisor tells.
        root: of the project.
    """

    def __init__(self, listener: socket.socket, knocking: socket.socket, told: int, root: Path) -> None:
        self._listener = listener
        self._knocking = knocking
        self._told = told
        self._root = root
        self._news: News = {}
        self._rest = b""
        self._places = threading.BoundedSemaphore(MOST_CALLERS)
        self._callers: set[threading.Thread] = set()

    def serve(self) -> None:
        """Answer whoever comes."""
        self._listener.setblocking(False)
        is_asked_to_leave = False
        awaited: list[socket.socket | int] = [self._listener, self._knocking, self._told]
        while not is_asked_to_leave:
            ready = select.select(awaited, [], [])[0]
            is_asked_to_leave = self._knocking in ready or (self._told in ready and not self._listen_to_news())
            if self._listener in ready and not is_asked_to_leave:
                self._accept()
        self._listener.close()
        self._knocking.setblocking(False)
        with contextlib.suppress(OSError):
            self._knocking.recv(1)  # what is not read when it is closed would be an error there
        self._knocking.close()
        until = time.monotonic() + LAST_ANSWERS_S
        for caller in list(self._callers):
            caller.join(max(0.0, until - time.monotonic()))

    def _listen_to_news(self) -> bool:
        data = os.read(self._told, 65_536)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._news = hear(line, self._news)
        return bool(data)

    def _accept(self) -> None:
        if not self._places.acquire(timeout=0.05):
            return
        try:
            caller, _address = self._listener.accept()
        except OSError:
            self._places.release()  # it went again
            return
        thread = threading.Thread(target=self._attend, args=(caller,), daemon=True)
        self._callers.add(thread)
        thread.start()

    def _attend(self, caller: socket.socket) -> None:
        try:
            with caller:
                self._converse(caller)
        except OSError:
            pass  # it went, or was too slow
        finally:
            self._callers.discard(threading.current_thread())
            self._places.release()

    def _converse(self, caller: socket.socket) -> None:
        until = time.monotonic() + CALLER_S
        head = b""
        while b"\r\n\r\n" not in head and len(head) < MOST_HEAD_BYTES:
            caller.settimeout(max(0.01, until - time.monotonic()))
            data = caller.recv(65_536)
            if not data:
                return
            head += data
        caller.sendall(answer(read(head.partition(b"\r\n\r\n")[0]), self._news, self._root))
        caller.shutdown(socket.SHUT_WR)
        left = MOST_BODY_BYTES
        while left > 0:
            caller.settimeout(max(0.01, until - time.monotonic()))
            data = caller.recv(65_536)
            if not data:
                return
            left -= len(data)


def main() -> None:
    """Stand at the door whose descriptors are given: the listener, and the one at which the web process knocks."""
    listener, knocking = (socket.socket(fileno=int(given)) for given in sys.argv[1:3])
    Doorkeeper(listener, knocking, sys.stdin.fileno(), Path(__file__).resolve().parents[3]).serve()


if __name__ == "__main__":
    main()
