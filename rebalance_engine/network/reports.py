"""A report on the wire: its body, its one request, what the control room's answer means. See ``docs/reports.md``.

The token is taken from the environment and never appears in a message: neither in a log nor in an error.
"""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from http.client import HTTPException

from rebalance_engine import eventlog
from rebalance_engine.events import Fact

TOKEN = "EVENKEEL_REPORT_TOKEN"  # noqa: S105  # the name of a variable
TIMEOUT_S = 10.0
LONGEST_ANSWER = 500
VERSION = 1


class Verdict(Enum):
    """What to do after an answer."""

    TAKEN = "taken"
    TOO_LARGE = "too large"  # the same facts in two reports may pass
    REFUSED = "refused"  # these facts never will be taken
    LATER = "later"  # another time the same report may be taken


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one request; ``status`` is None where nobody answered."""

    status: int | None
    said: str

    @property
    def verdict(self) -> Verdict:
        """What to do now. A token that is wrong may be made right: what it was refused for is kept."""
        if self.status is not None and 200 <= self.status < 300:
            return Verdict.TAKEN
        if self.status == 413:
            return Verdict.TOO_LARGE
        return Verdict.REFUSED if self.status in {400, 409, 415, 422} else Verdict.LATER


Post = Callable[[bytes], Answer]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token elsewhere, and turn the request into another one."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Follow none."""


def check_url(url: str) -> None:
    """Insist on an address that can be posted to.

    Raises:
        ValueError: it is none.
    """
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError as error:
        raise ValueError(f"{url!r}, which is no address: {error}") from error
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"an address with a user in it; needed is one without, and the token in ${TOKEN}")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{url!r}; needed is http://HOST/PATH or https://HOST/PATH")
    if parts.path in {"", "/"}:
        room = f"{parts.scheme}://{parts.netloc}"
        raise ValueError(f"{url!r}, without a path; a control room takes reports at {room}/api/v1/reports")


def token_of(environment: Mapping[str, str]) -> str:
    """Read the token; empty is none.

    Raises:
        ValueError: it has characters that no header takes. It is not repeated.
    """
    token = environment.get(TOKEN, "").strip()
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(f"${TOKEN} has characters that no token has; needed is one as it was shown when it was made")
    return token


def body_of(*, group: str, report: str, facts: Iterable[Fact]) -> bytes:
    """Write a report: ``{"v": 1, "report": id, "group": ..., "facts": [...]}``, each fact as in the event log.

    The same id is the same report, so that it can be sent again.
    """
    return body_of_lines(group=group, report=report, lines=map(eventlog.write, facts))


def body_of_lines(*, group: str, report: str, lines: Iterable[str]) -> bytes:
    """Write a report of lines of the event log."""
    facts = ",".join(lines)
    return f'{{"v":{VERSION},"report":{json.dumps(report)},"group":{json.dumps(group)},"facts":[{facts}]}}'.encode()


def post(url: str, body: bytes, *, token: str, timeout_s: float = TIMEOUT_S) -> Answer:
    """Post a report and read the answer; blocks until then, each step of it for ``timeout_s`` at most."""
    headers = {"Content-Type": "application/json", "User-Agent": "evenkeel"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")  # noqa: S310  # see check_url
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=timeout_s) as answer:
            return Answer(answer.status, "")
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read(LONGEST_ANSWER).decode("utf-8", "replace").strip())
    except (OSError, ValueError, HTTPException) as error:  # URLError is an OSError
        return Answer(None, type(error).__name__ if token and token in str(error) else str(error))


async def in_thread(work: Callable[[], Answer], timeout_s: float = TIMEOUT_S) -> Answer:
    """Run a request in a thread that nobody has to wait for: one that hangs does not keep the program from its end."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Answer] = loop.create_future()

    def settle(answer: Answer) -> None:
        if not done.done():
            done.set_result(answer)

    def run() -> None:
        try:
            answer = work()
        except Exception as error:  # noqa: BLE001  # the outermost of its thread: http.client raises what it likes
            answer = Answer(None, type(error).__name__)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, answer)

    threading.Thread(target=run, name="report", daemon=True).start()
    try:
        async with asyncio.timeout(timeout_s):
            return await done
    except TimeoutError:
        return Answer(None, f"no answer within {timeout_s:g} s")
