from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rebalance_engine.cli import recompute as command
from rebalance_engine.cli.recompute import Receipt, describe, facts
from rebalance_engine.cli.stamps import HOME, Stamp, stamp_of
from rebalance_engine.effects import Failure
from rebalance_engine.embedded.cluster import Cluster
from rebalance_engine.events import CommandFinished, CommandOrdered, CommandOutcome, CommandReceipt, ReceiptAnswer
from rebalance_engine.network import Consumer
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.looking import look_at_group
from rebalance_engine.network.probe import AT_MOST_EVERY_S, Obstacle, Probe
from rebalance_engine.network.transport import Transport
from tests.rebalance_engine.cli.looks import look, member, queues
from tests.rebalance_engine.network.clusters import QUICK, cluster, divided
from tests.rebalance_engine.network.loop import on_a_loop

BEFORE = look(queues(4), [member("A", queues(2)), member("B", queues(4)[2:]), member("C", None), member("D", [])])
AFTER = look(queues(4), [member("A", queues(3)), member("B", queues(4)[2:]), member("C", []), member("E", [])])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME, str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")


@asynccontextmanager
async def asking(namesrv: str) -> AsyncIterator[Admin]:
    """Ask a cluster, as the command does."""
    async with Transport() as transport:
        admin = Admin(transport, namesrv)
        try:
            yield admin
        finally:
            await admin.close()


def receipt(probe: Probe | None, *, trouble: str = "") -> Receipt:
    after = AFTER if probe and probe.notified else None
    return Receipt(command="c", before=BEFORE, after=after, probe=probe, trouble=trouble)


def test_each_member_has_a_receipt() -> None:
    done = receipt(Probe({"east:1": frozenset("ABC")}))

    assert done.answers() == {
        "A": ReceiptAnswer.CHANGED,
        "B": ReceiptAnswer.UNCHANGED,
        "C": ReceiptAnswer.UNKNOWN,
        "D": ReceiptAnswer.NOT_ASKED,
    }
    told = describe(done)
    assert (told["members_before"], told["members_after"]) == (list("ABCD"), list("ABCE"))
    assert told["receipts"][2] == {"client_id": "C", "answer": "unknown", "held_before": None, "held_after": 0}  # type: ignore[index] # a list


@pytest.mark.parametrize(
    ("done", "outcome", "detail"),
    [
        (receipt(Probe({"east:1": frozenset("ABCD")})), CommandOutcome.DONE, "east:1 notified 4 members"),
        (
            receipt(Probe({"east:1": frozenset("A")}, trouble="west:1 refuses")),
            CommandOutcome.DONE,
            "east:1 notified 1 member; west:1 refuses",
        ),
        (receipt(Probe({}, Obstacle.SWITCHED_OFF)), CommandOutcome.REFUSED, Obstacle.SWITCHED_OFF.value),
        (receipt(None, trouble="east:1 does not answer"), CommandOutcome.FAILED, "east:1 does not answer"),
    ],
)
def test_an_order_is_told_as_facts_whatever_came_of_it(
    done: Receipt, outcome: CommandOutcome, detail: str | None
) -> None:
    first, *receipts, last = facts(done, reason="a stale list")

    assert isinstance(first, CommandOrdered)
    assert (first.verb, first.group, first.reason) == ("group.recompute", "billing", "a stale list")
    assert [each.client for each in receipts if isinstance(each, CommandReceipt)] == list("ABCD")
    assert isinstance(last, CommandFinished)
    assert (last.outcome, last.detail) == (outcome, detail)


async def run(*words: str, answer: str | None = None) -> tuple[int, str, str]:
    """Run the command with nobody at its terminal, or with somebody who types ``answer``."""
    line = [sys.executable, "-m", "rebalance_engine", "recompute", *words]
    if answer is None:
        process = await asyncio.create_subprocess_exec(
            *line,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()
    ours, theirs = os.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            *line, stdin=theirs, stdout=theirs, stderr=asyncio.subprocess.PIPE
        )
        os.write(ours, answer.encode() + b"\n")
        _, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, os.read(ours, 65_536).decode(), err.decode()
    finally:
        os.close(ours)
        os.close(theirs)


async def recompute(east: Cluster, *words: str, answer: str | None = None) -> tuple[int, str, str]:
    return await run("--namesrv", east.namesrv, "--group", "G", *words, answer=answer)


@on_a_loop
async def test_members_are_notified_and_stay_members() -> None:
    async with (
        cluster() as east,
        Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK) as first,
        Consumer(east.namesrv, "G", ["orders"], instance="B", version=QUICK) as second,
    ):
        await divided(4, first, second)
        done = await recompute(east, "--yes", "--json")

    told = json.loads(done[1])
    assert done[0] == 0, done
    assert told["is_taken"] is True
    assert told["members_before"] == told["members_after"] == ["127.0.0.1@A", "127.0.0.1@B"]
    assert [each["answer"] for each in told["receipts"]] == ["unchanged", "unchanged"]


@on_a_loop
async def test_two_commands_within_five_seconds_are_one_too_many() -> None:
    async with cluster() as east, Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK) as first:
        await divided(4, first)
        async with asking(east.namesrv) as admin:
            before = await look_at_group(admin, "G", lag=False)
            stamp = stamp_of(before.cluster or east.namesrv, "G")
            stamp.claim(AT_MOST_EVERY_S)

            done = await command.recompute(admin, before, stamp=stamp, timeout_s=1)

    assert done.why_not == Obstacle.TOO_SOON.value
    assert not done.was_taken


@on_a_loop
async def test_whom_a_broker_may_have_notified_that_did_not_answer_is_not_said_to_be_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def silent(_admin: Admin, broker: str, _group: str, _client: str) -> None:
        raise NoAnswer(Failure.TIMEOUT, broker)

    monkeypatch.setattr(Admin, "unregister", silent)
    async with cluster() as east, Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK) as first:
        await divided(4, first)
        async with asking(east.namesrv) as admin:
            before = await look_at_group(admin, "G", lag=False)

            done = await command.recompute(admin, before, stamp=stamp_of("east", "G"), timeout_s=1)

    assert done.why_not.endswith("whether members were notified is not known")
    assert done.answers() == {"127.0.0.1@A": ReceiptAnswer.UNKNOWN}


@on_a_loop
async def test_what_stands_in_the_way_is_said_before_that_it_is_too_soon(tmp_path: Path) -> None:
    stamp = Stamp(tmp_path / "stamp")
    stamp.claim(3_600)
    async with cluster() as east, asking(east.namesrv) as admin:
        before = await look_at_group(admin, "nobody", lag=False)

        done = await command.recompute(admin, before, stamp=stamp, timeout_s=1)

    assert done.why_not == Obstacle.UNKNOWN_GROUP.value


@on_a_loop
async def test_a_person_at_the_terminal_is_asked() -> None:
    async with cluster() as east, Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK) as first:
        await divided(4, first)
        no = await recompute(east, answer="n")
        yes = await recompute(east, answer="y")

    assert no[0] == 1 and no[2].endswith("Nothing was sent.\n")
    assert yes[0] == 0
    assert "where they agree nothing moves" in yes[1]
    assert "The members are the same as before: 1." in yes[1]


@on_a_loop
async def test_nobody_is_notified_of_a_group_that_is_not_there_and_the_report_says_so() -> None:
    async with cluster() as east:
        status, said, complaint = await recompute(east, "--yes", "--report", "http://127.0.0.1:1/api/v1/reports")

    assert status == 1
    assert "Not done: no broker that was asked has this group configured" in said
    assert "The report was not taken: http://127.0.0.1:1/api/v1/reports" in complaint


@on_a_loop
async def test_where_no_name_server_answers_it_says_that_and_nothing_of_the_group() -> None:
    status, said, complaint = await run("--namesrv", "127.0.0.1:1", "--group", "G", "--yes")

    assert (status, complaint) == (1, "")
    assert "Not done: none of 1 NameServer answered, so that no broker is known; nothing was sent" in said
    assert "has this group configured" not in said
    assert "No answer: 127.0.0.1:1" in said and said.count("127.0.0.1:1") == 1


@on_a_loop
async def test_where_nobody_can_be_asked_it_refuses() -> None:
    status, _, complaint = await run("--namesrv", "127.0.0.1:1", "--group", "G")

    assert status == 2
    assert "needed is --yes" in complaint


@on_a_loop
async def test_a_report_that_can_go_nowhere_is_refused_before_anything_is_sent() -> None:
    status, _, complaint = await run("--namesrv", "127.0.0.1:1", "--group", "G", "--yes", "--report", "nowhere")

    assert status == 2
    assert "--report is 'nowhere'" in complaint
