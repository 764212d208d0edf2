"""Have every member of a group notified to compute anew, now: the manual rebalance.

    evenkeel recompute --namesrv 127.0.0.1:9876 --group billing
    evenkeel recompute --namesrv 127.0.0.1:9876 --group billing --yes --json
    evenkeel recompute --namesrv 127.0.0.1:9876 --group billing --yes --report https://evenkeel.example/api/v1/reports

It repairs what members disagree about (an old list of members, a missed notification). It does not redistribute: where
members agree nothing moves, and nobody's membership changes. Brokers are asked to notify the group, as they do when
somebody leaves; nobody does. Whether a member went by the notice nobody tells: it is asked what it holds afterwards.
Refused for groups that broadcast, where notification is switched off, and within 5 s of the last time.

The exit status is 0 if a broker took it, 1 if not, 2 without --yes where nobody can be asked. With --report the receipt
is posted as facts (docs/reports.md) with the token in $EVENKEEL_REPORT_TOKEN; a report that fails does not change the
status.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from rebalance_engine.cli import BadArguments
from rebalance_engine.cli.asking import add_asking_arguments, as_json, ask
from rebalance_engine.cli.reporting import TOKEN, WHERE, check_url, send_report
from rebalance_engine.cli.stamps import Stamp, stamp_of
from rebalance_engine.cli.terminal import Column, count, paper_of, safe, show, table
from rebalance_engine.effects import Address
from rebalance_engine.events import (
    EXACT,
    CommandFinished,
    CommandOrdered,
    CommandOutcome,
    CommandReceipt,
    Fact,
    Origin,
    ReceiptAnswer,
    Source,
)
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.asked import Heard
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.looking import LOOK_S, GroupLook, look_at_group, masters_of
from rebalance_engine.network.probe import AT_MOST_EVERY_S, SETTLES_S, NobodyNotified, Probe, Prober, receipt, told_of
from rebalance_engine.remoting.errors import RemotingError

VERB = "group.recompute"
REPAIRS = "It repairs what members disagree about; where they agree nothing moves. Nobody's membership changes."
LONGEST_REASON = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What came of it: before is the last look without it, after the first one when members had time.

    Attributes:
        probe: which brokers notified whom, or the obstacle; None where a broker could not be asked.
        trouble: why it could not.
        is_uncertain: whether members were notified is not known.
    """

    command: str
    before: GroupLook
    after: GroupLook | None
    probe: Probe | None
    trouble: str = ""
    is_uncertain: bool = False

    @property
    def was_taken(self) -> bool:
        """Whether some broker notified the group."""
        return self.probe is not None and bool(self.probe.notified)

    @property
    def why_not(self) -> str:
        """Say why nothing was done, or not all; empty where all was."""
        if self.probe is None or self.probe.trouble:
            return self.trouble if self.probe is None else self.probe.trouble
        return "" if self.probe.obstacle is None else self.probe.obstacle.value

    def answers(self) -> dict[str, ReceiptAnswer]:
        """Give what it did to each member, of those before and after."""
        probe = self.probe or Probe({})
        reached = probe.reached
        if self.is_uncertain:
            return dict.fromkeys(sorted(held_of(self.before)), ReceiptAnswer.UNKNOWN)
        was, now = held_of(self.before), {} if self.after is None else held_of(self.after)
        return {
            client: receipt(client in reached, was.get(client), now.get(client), is_told=probe.is_told_of(client))
            for client in sorted(reached | was.keys())
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_asking_arguments(parser, timeout_s=LOOK_S, several=False)
    parser.add_argument("--group", required=True, metavar="G", help="the consumer group")
    parser.add_argument("--yes", action="store_true", help="ask for nothing")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; it goes into the report")
    parser.add_argument(
        "--report", metavar="URL", help=f"post the receipt there as JSON: {WHERE}; the token is ${TOKEN}"
    )


def run(asked: argparse.Namespace) -> int:
    """Ask whether that is meant, then do it."""
    if asked.report is not None:
        check_url(asked.report)
    if not 0 <= len(asked.reason) <= LONGEST_REASON:
        raise BadArguments(f"--reason has {len(asked.reason)} characters; needed are at most {LONGEST_REASON}")
    if not asked.yes and not _is_meant(asked.group):
        sys.stderr.write("Nothing was sent.\n")
        return 1
    return ask(asked, lambda admin, _: _recompute(admin, asked))


def _is_meant(group: str) -> bool:
    """Ask the person at the terminal.

    Raises:
        BadArguments: there is nobody to be asked.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadArguments("nobody can be asked whether that is meant: this is no terminal; needed is --yes")
    sys.stdout.write(f"All members of {safe(group)} will be notified to compute their share anew, now.\n{REPAIRS}\n")
    try:
        return input("Go on? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


async def _recompute(admin: Admin, asked: argparse.Namespace) -> int:
    before = await look_at_group(admin, asked.group, deadline_s=asked.timeout, lag=False)
    stamp = stamp_of(before.cluster or asked.namesrv, asked.group)
    done = await recompute(admin, before, stamp=stamp, timeout_s=asked.timeout)
    show([as_json(describe(done))] if asked.json else list(_lines(done)))
    if asked.report is not None:
        report = list(facts(done, reason=asked.reason))
        trouble = await asyncio.to_thread(
            send_report, asked.report, group=asked.group, report=done.command, facts=report
        )
        sys.stderr.write(f"The report was not taken: {trouble}\n" if trouble else "")
    return 0 if done.was_taken else 1


async def recompute(admin: Admin, before: GroupLook, *, stamp: Stamp, timeout_s: float) -> Receipt:
    """Notify all members that are seen, wait until they had time, and look again.

    Args:
        stamp: says when this machine last did it to the group: two commands are two processes.
    """
    command, brokers = str(uuid.uuid4()), _brokers(before)
    if not brokers:
        return Receipt(command=command, before=before, after=None, probe=None, trouble=_nobody(before))
    try:
        probe = await Prober(admin).probe(before.group, brokers, claim=lambda: stamp.claim(AT_MOST_EVERY_S))
    except NobodyNotified as error:
        return Receipt(command=command, before=before, after=None, probe=None, trouble=str(error))
    except (NoAnswer, RemotingError) as error:
        words = f"{error}; whether members were notified is not known"
        return Receipt(command=command, before=before, after=None, probe=None, trouble=words, is_uncertain=True)
    if not probe.notified:
        return Receipt(command=command, before=before, after=None, probe=probe)
    await asyncio.sleep(SETTLES_S)
    after = await look_at_group(admin, before.group, deadline_s=timeout_s, lag=False)
    return Receipt(command=command, before=before, after=after, probe=probe)


def _brokers(look: GroupLook) -> list[Address]:
    """Give the masters that answered a moment ago; one that did not would only break the probe off."""
    masters = masters_of(heard.value for heard in look.name_servers.values())
    return [masters[name] for name, heard in look.lists.items() if heard.trouble is None and name in masters]


def _nobody(look: GroupLook) -> str:
    """Say why there is no broker that could be asked."""
    servers = look.name_servers.values()
    if all(heard.trouble is not None for heard in servers):
        return f"none of {count(len(servers), 'NameServer')} answered, so that no broker is known; nothing was sent"
    if not look.lists:
        return "the NameServers that answered know no broker; nothing was sent"
    return f"none of {count(len(look.lists), 'broker')} answered; nothing was sent"


def held_of(look: GroupLook) -> dict[str, frozenset[object] | None]:
    """Give what each member holds; None is unknown."""
    return {one.client_id: None if one.held is None else frozenset(one.held) for one in look.members}


def describe(done: Receipt) -> dict[str, object]:
    """Say what came of it in plain values: ``ordered_at`` in ms since 1970; None is unknown."""
    was, now = held_of(done.before), {} if done.after is None else held_of(done.after)
    return {
        "command": done.command,
        "group": done.before.group,
        "cluster": done.before.cluster,
        "ordered_at": done.before.ended_at,
        "is_taken": done.was_taken,
        "why_not": done.why_not or None,
        "notified": {} if done.probe is None else {by: sorted(ids) for by, ids in done.probe.notified.items()},
        "members_before": sorted(was),
        "members_after": None if done.after is None else sorted(now),
        "receipts": [
            {
                "client_id": client,
                "answer": answer.value,
                "held_before": _size(was.get(client)),
                "held_after": _size(now.get(client)),
            }
            for client, answer in done.answers().items()
        ],
        "missing": [_with_address(one) for one in done.before.troubles()],
    }


def facts(done: Receipt, *, reason: str) -> Iterator[Fact]:
    """State the order, what it did to each member, and how it ended."""
    source = Source(origin=Origin.OPERATOR, cluster=done.before.cluster, detail="evenkeel recompute")
    began, ended = done.before.ended_at, done.before.ended_at if done.after is None else done.after.ended_at
    yield CommandOrdered(
        at=began,
        source=source,
        exactness=EXACT,
        command=done.command,
        verb=VERB,
        author=_author(),
        deadline=max(began, ended),
        group=done.before.group,
        reason=reason or None,
    )
    for client, answer in done.answers().items():
        yield CommandReceipt(
            at=ended,
            source=source,
            exactness=EXACT,
            command=done.command,
            group=done.before.group,
            client=client,
            answer=answer,
        )
    detail = done.why_not if done.probe is None else told_of(done.probe) or done.why_not
    yield CommandFinished(
        at=ended, source=source, exactness=EXACT, command=done.command, outcome=_outcome(done), detail=detail or None
    )


def _outcome(done: Receipt) -> CommandOutcome:
    if done.was_taken:
        return CommandOutcome.DONE
    return CommandOutcome.FAILED if done.probe is None else CommandOutcome.REFUSED


def _author() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as containers have
        return "somebody"


def _lines(done: Receipt) -> Iterator[str]:
    where = f" on {safe(done.before.cluster)}" if done.before.cluster else ""
    yield f"recompute of {safe(done.before.group)}{where}"
    yield REPAIRS
    if not done.was_taken:
        yield f"Not done: {safe(done.why_not)}"
    elif done.probe is not None:
        for broker, ids in done.probe.notified.items():
            yield f"{broker} notified {count(len(ids), 'member')}."
        if done.why_not:
            yield f"Not all could be notified: {safe(done.why_not)}"
        yield from (f"Broker {safe(words)}" for words in done.probe.left_out)
        yield _membership(done)
    answers = done.answers()
    if done.was_taken and answers:
        was, now = held_of(done.before), {} if done.after is None else held_of(done.after)
        yield ""
        columns = [
            Column("MEMBER", shrinks=True),
            Column("QUEUES"),
            Column("HELD BEFORE", is_number=True),
            Column("AFTER", is_number=True),
        ]
        rows = [
            [safe(client, 100), answer.value, _figure(_size(was.get(client))), _figure(_size(now.get(client)))]
            for client, answer in answers.items()
        ]
        yield from table(columns, rows, paper_of(sys.stdout))
    for trouble in list(done.before.troubles())[:10]:
        yield f"No answer: {safe(_with_address(trouble))}"


def _with_address(trouble: Heard[object]) -> str:
    """Say who did not answer and why; most reasons name the address already."""
    return trouble.why if trouble.by.address in trouble.why else f"{trouble.by.address}: {trouble.why}"


def _membership(done: Receipt) -> str:
    if done.after is None or any(one.trouble is not None for one in done.after.lists.values()):
        return "Who is a member now is not known for certain: a broker does not answer."
    was, now = set(held_of(done.before)), set(held_of(done.after))
    if was == now:
        return f"The members are the same as before: {len(now)}."
    came, went = sorted(now - was), sorted(was - now)
    told = [f"{safe(one)} came" for one in came[:5]] + [f"{safe(one)} went" for one in went[:5]]
    return f"Meanwhile, and not by this: {', '.join(told)}."


def _size(held: frozenset[object] | None) -> int | None:
    return None if held is None else len(held)


def _figure(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"
