"""Which consumer holds which queue of a group, held against the target, with what is wrong below.

    evenkeel map --namesrv 127.0.0.1:9876 --group billing
    evenkeel map --namesrv 127.0.0.1:9876 --group billing --watch
    evenkeel map --namesrv 127.0.0.1:9876 --group billing --json | jq .findings

It asks every name server, every master and every member, within what a broker bears, and changes nothing. What did not
answer in time is shown as unknown, and named. The exit status is 1 if nobody could say whether there is such a group,
or there is none.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import suppress

from rebalance_engine.cli.asking import add_asking_arguments, as_json, ask, check_seconds
from rebalance_engine.cli.drawing import Drawing
from rebalance_engine.cli.judging import Judgement, Suspicions, judge_look
from rebalance_engine.cli.lines import queue_name
from rebalance_engine.cli.terminal import CLEAR, paper_of, show
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.answers import version_of
from rebalance_engine.network.looking import LOOK_S, GroupLook, MemberLook, look_at_group

EVERY_S = 2.0
LOAD_S = 0.4  # a look asks each member once; a broker bears five such questions a second, and others ask too


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_asking_arguments(parser, timeout_s=LOOK_S)
    parser.add_argument("--group", required=True, metavar="G", help="the consumer group")
    parser.add_argument("--watch", action="store_true", help="look again and again, until SIGINT or SIGTERM")
    parser.add_argument(
        "--every", type=float, default=EVERY_S, metavar="S", help="with --watch; slower for many members"
    )
    parser.add_argument("--no-lag", action="store_true", help="do not ask how many messages wait (208)")


def run(asked: argparse.Namespace) -> int:
    """Draw the map once, or until told to stop."""
    check_seconds("--every", asked.every)
    return ask(
        asked,
        lambda admin, stop: _watch(admin, asked, stop) if asked.watch else _once(admin, asked),
        is_endless=asked.watch,
    )


async def _once(admin: Admin, asked: argparse.Namespace) -> int:
    look = await _look(admin, asked)
    _put(look, Suspicions(), as_json_line=asked.json)
    return 0 if look.is_known else 1


async def _watch(admin: Admin, asked: argparse.Namespace, stop: asyncio.Event) -> int:
    suspicions = Suspicions()
    while not stop.is_set():
        look = await _look(admin, asked)
        _put(look, suspicions, as_json_line=asked.json, again=True)
        brokers = max(1, len(look.lists))
        pause_s = max(asked.every, LOAD_S * len(look.members) / brokers)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause_s)
    return 0


async def _look(admin: Admin, asked: argparse.Namespace) -> GroupLook:
    return await look_at_group(admin, asked.group, deadline_s=asked.timeout, lag=not asked.no_lag)


def _put(look: GroupLook, suspicions: Suspicions, *, as_json_line: bool, again: bool = False) -> None:
    judgement = judge_look(look)
    confirmed = suspicions.note(judgement.findings, look.ended_at)
    if as_json_line:
        show([as_json(describe(look, judgement, confirmed))])
        return
    lines = list(Drawing(look, judgement, paper_of(sys.stdout), confirmed).lines())
    if again:
        lines = [CLEAR + lines[0], *lines[1:]] if sys.stdout.isatty() else [*lines, ""]
    show(lines)


def describe(look: GroupLook, judgement: Judgement, confirmed: dict[tuple[str, str], bool]) -> dict[str, object]:
    """Say the same as the drawing in plain values; None is unknown."""
    target, pending = None if judgement.outcome is None else judgement.outcome.target, judgement.pending
    held, is_complete = look.view.held, look.view.everybody_answered
    queues = []
    for number, queue in enumerate(look.view.queues):
        owners = None if held is None else held.owners_of(number)
        queues.append(
            {
                "queue": queue_name(queue),
                "held_by": None if not owners and not is_complete else owners,
                "target": None if target is None else target.owners_of(number),
                "waiting": look.lag.get(queue),
            }
        )
    return {
        "group": look.group,
        "cluster": look.cluster,
        "began_at": look.began_at,
        "ended_at": look.ended_at,
        "is_known": look.is_known,
        "model": look.view.model.value if look.members else None,
        "strategy": judgement.by,
        "is_strategy_assumed": judgement.is_assumed,
        "converged": judgement.converged,
        "pending": None
        if pending is None
        else {
            "queues": [queue_name(queue) for queue in sorted(pending.queues)],
            "until": pending.until,
            "why": pending.why,
        },
        "doubt": judgement.doubt or (judgement.unknown.sentence if judgement.unknown else None),
        "members": [_member(member) for member in look.members],
        "queues": queues,
        "strays": [{"client_id": client, "queue": queue_name(queue)} for client, queue in look.view.strays],
        "findings": [
            {
                "finding": finding.kind.value,
                "subject": finding.subject,
                "sentence": finding.sentence,
                "proof": finding.proof,
                "is_confirmed": confirmed.get((finding.kind.value, finding.subject), False),
            }
            for finding in judgement.findings
        ],
        "disagreements": list(look.disagreements()),
        "missing": [
            {"address": one.by.address, "client_id": one.by.client, "request": int(one.by.code), "why": one.why}
            for one in look.troubles()
        ],
    }


def _member(member: MemberLook) -> dict[str, object]:
    first, held = member.first, member.held
    return {
        "client_id": member.client_id,
        "registrations": member.registrations,
        "is_proxied": member.is_proxied,
        "language": None if first is None else first.language.name,
        "version": None if first is None else version_of(first.client_id, first.version),
        "addresses": {name: [one.client_addr for one in there] for name, there in member.connections.items()},
        "strategy": member.strategy,
        "topics": None if member.topics is None else sorted(member.topics),
        "held": None if held is None else [queue_name(queue) for queue in held],
        "answered_at": None if held is None else member.running.by.at,
        "why": member.running.why or None,
    }
