"""Posting facts to a control room from a command: one request, its answer read and bounded, no redirect followed."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable

from rebalance_engine.cli import BadArguments
from rebalance_engine.events import Fact
from rebalance_engine.network import reports
from rebalance_engine.network.reporter import told
from rebalance_engine.network.reports import TIMEOUT_S, TOKEN, Verdict, body_of, post, token_of

__all__ = ["TOKEN", "WHERE", "add_report_argument", "body_of", "check_url", "send_report"]

WHERE = "http://HOST:PORT/api/v1/reports"  # of a control room


def add_report_argument(parser: argparse.ArgumentParser, what: str) -> None:
    """State where a command reports."""
    parser.add_argument("--report", metavar="URL", help=f"{what} (POST as JSON): {WHERE}; the token is ${TOKEN}")


def check_url(url: str) -> None:
    """Insist on an address that can be posted to, and on a token that is one, if there is one.

    Raises:
        BadArguments: it is none.
    """
    try:
        reports.check_url(url)
    except ValueError as error:
        raise BadArguments(f"--report is {error}") from error
    try:
        token_of(os.environ)
    except ValueError as error:
        raise BadArguments(str(error)) from error


def send_report(url: str, *, group: str, report: str, facts: Iterable[Fact], timeout_s: float = TIMEOUT_S) -> str:
    """Post a report; give why it was not taken, empty where it was."""
    try:
        token = token_of(os.environ)
    except ValueError as error:
        return str(error)
    answer = post(url, body_of(group=group, report=report, facts=facts), token=token, timeout_s=timeout_s)
    return "" if answer.verdict is Verdict.TAKEN else told(url, answer)
