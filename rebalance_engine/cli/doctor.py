"""The check for a first connection: what of a cluster can be reached and asked, and what to do where it cannot.

    evenkeel doctor --namesrv 127.0.0.1:9876

It changes nothing. The exit status is 1 if something failed; warnings are none.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterator

from rebalance_engine.cli.asking import add_asking_arguments, as_json, ask
from rebalance_engine.cli.clients import network_of
from rebalance_engine.cli.terminal import Paper, paper_of, safe, show, wrapped
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.checking_members import check_members
from rebalance_engine.network.checkup import CHECKUP_S, Check, Verdict, check_cluster

LABELS = {Verdict.OK: "ok", Verdict.WARNING: "WARNING", Verdict.FAILED: "FAILED"}
COLOURS = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.FAILED: "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_asking_arguments(parser, timeout_s=CHECKUP_S)


def run(asked: argparse.Namespace) -> int:
    """Check everything."""
    settings = network_of(asked)

    async def main(admin: Admin, _: object) -> int:
        clock = asyncio.get_running_loop().time
        began = clock()
        checks = await check_cluster(admin, settings, deadline_s=asked.timeout)
        if any(check.verdict is not Verdict.FAILED for check in checks):
            checks += await check_members(admin, deadline_s=asked.timeout - (clock() - began))
        show(
            [as_json(describe(check)) for check in checks] if asked.json else list(lines(checks, paper_of(sys.stdout)))
        )
        return int(any(check.verdict is Verdict.FAILED for check in checks))

    return ask(asked, main)


def describe(check: Check) -> dict[str, object]:
    """Say a check in plain values."""
    return {
        "verdict": check.verdict.value,
        "subject": check.subject,
        "seen": check.seen,
        "advice": check.advice or None,
    }


def lines(checks: list[Check], paper: Paper) -> Iterator[str]:
    """Write checks for people."""
    for check in checks:
        label = paper.ink(f"{LABELS[check.verdict]:<8}", COLOURS[check.verdict], "bold")
        first, *rest = wrapped(f"{safe(check.subject)}: {safe(check.seen)}", paper.width - 9) or [""]
        yield f"{label} {first}"
        yield from (f"{'':<9}{line}" for line in rest)
        yield from (f"{'':<9}{line}" for line in wrapped(check.advice and f"-> {safe(check.advice)}", paper.width - 9))
    counts = Counter(check.verdict for check in checks)
    yield ""
    yield ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)
