"""Posting facts to a control room: one request, its answer read and bounded, no redirect followed."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable

from rebalance_engine import eventlog
from rebalance_engine.cli import BadArguments
from rebalance_engine.events import Fact

TOKEN = "EVENKEEL_REPORT_TOKEN"  # noqa: S105  # the name of a variable
TIMEOUT_S = 10.0
LONGEST_ANSWER = 500
VERSION = 1


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token elsewhere, and turn the request into another one."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Follow none."""


def check_url(url: str) -> None:
    """Insist on an address that can be posted to.

    Raises:
        BadArguments: it is none.
    """
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError as error:
        raise BadArguments(f"--report is {url!r}, which is no address: {error}") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadArguments(f"--report is {url!r}; needed is http://HOST/PATH or https://HOST/PATH")


def body_of(*, group: str, report: str, facts: Iterable[Fact]) -> bytes:
    """Write a report: ``{"v": 1, "report": id, "group": ..., "facts": [...]}``, each fact as in the event log.

    The same id is the same report, so that it can be sent again.
    """
    lines = ",".join(eventlog.write(fact) for fact in facts)
    return f'{{"v":{VERSION},"report":{json.dumps(report)},"group":{json.dumps(group)},"facts":[{lines}]}}'.encode()


def send_report(url: str, *, group: str, report: str, facts: Iterable[Fact], timeout_s: float = TIMEOUT_S) -> str:
    """Post a report; give why it was not taken, empty where it was."""
    headers = {"Content-Type": "application/json"}
    token = os.environ.get(TOKEN)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    body = body_of(group=group, report=report, facts=facts)
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")  # noqa: S310  # see check_url
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=timeout_s):
            return ""
    except urllib.error.HTTPError as error:
        said = error.read(LONGEST_ANSWER).decode("utf-8", "replace").strip()
        return f"{url} answers {error.code}{f': {said!r}' if said else ''}"
    except (OSError, ValueError) as error:  # URLError is an OSError; ValueError: a token that is no header
        return f"{url}: {error}"
