import asyncio
import fcntl
import json
import os
import signal
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from rebalance_engine import cli
from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.cli import consume
from rebalance_engine.cli.consume import Changes
from rebalance_engine.cli.lines import Lines
from rebalance_engine.embedded.cluster import Cluster
from rebalance_engine.events import EXACT, DropReason, Fact, Origin, QueueDropped, QueueTaken, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.network import Producer
from rebalance_engine.network.reports import TOKEN
from tests.rebalance_engine.cli.commands import command
from tests.rebalance_engine.cli.rooms import Room
from tests.rebalance_engine.network.clusters import QUICK, cluster, put, until
from tests.rebalance_engine.network.loop import on_a_loop

Line = dict[str, Any]
QUEUES = [f"orders/broker-a/{number}" for number in range(4)]


def committed(east: Cluster) -> int:
    table = east.broker("broker-a").machine.membership.offsets.all().offset_table
    return sum(offset for topic, queues in table.items() if topic == "orders@G" for offset in queues.values())


@on_a_loop
async def test_a_member_says_what_it_holds_and_gets_and_stops_in_order() -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        await put(producer, ["héllo"])
        words = [
            "--namesrv",
            east.namesrv,
            "--group",
            "G",
            "--topic",
            "orders",
            "--from",
            "first",
            "--version",
            QUICK,
        ]
        async with command("consume", *words, "--name", "A") as first:
            assert (await first.sees("started"))["client_id"] == "127.0.0.1@A"
            await first.sees("held", queues=QUEUES)
            got = await first.sees("got")
            assert (got["body"], got["offset"], got["queue"] in QUEUES) == ("héllo", 0, True)
            async with command("consume", *words, "--name", "B", "--strategy", "AVG") as second:
                await second.sees("held", queues=QUEUES[2:])
                await first.sees("held", queues=QUEUES[:2])
                assert await second.ends(signal.SIGTERM) == 0
            await first.sees("held", queues=QUEUES)
            assert await first.ends(signal.SIGINT) == 0

    assert [line["saw"] for line in second.lines[-2:]] == ["held", "stopped"]
    assert second.lines[-2]["queues"] == []
    assert all(isinstance(line["ms"], int) for line in first.lines)


@on_a_loop
async def test_a_member_reports_what_it_takes_and_drops_and_its_token_is_in_no_words(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, "ekr_notforlogs")
    async with cluster() as east:
        words = ["--namesrv", east.namesrv, "--group", "G", "--topic", "orders", "--version", QUICK, "--name", "A"]
        async with command("consume", *words, "--report", room.url, hears_complaints=True) as member:
            await member.sees("held", queues=QUEUES)
            assert await member.ends(signal.SIGTERM) == 0
            said = await member.words()

    *facts, last = room.facts
    events = [fact["event"] for fact in facts if fact["queue"][0] == "orders"]
    assert (events.count("QueueTaken"), events.count("QueueDropped")) == (4, 4)
    assert (last["event"], last["departure"]) == ("MemberLeft", "unregistered")
    assert {headers["Authorization"] for _path, headers, _body in room.got} == {"Bearer ekr_notforlogs"}
    assert "ekr_notforlogs" not in said + json.dumps(member.lines)


@pytest.mark.parametrize("name", ["consume", "produce"])
def test_what_is_no_address_for_reports_is_refused_before_anything_starts(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--namesrv", "127.0.0.1:1", "--topic", "orders", "--report", "ftp://x/y"]
    words += ["--group", "G"] if name == "consume" else ["--count", "1", "--rate", "1"]

    with pytest.raises(SystemExit, match="2"):
        cli.main([name, *words])

    assert "--report is 'ftp://x/y'; needed is http://HOST/PATH" in capsys.readouterr().err


@on_a_loop
async def test_strategies_have_their_parameters() -> None:
    async with cluster() as east:
        words = ["--namesrv", east.namesrv, "--group", "G", "--topic", "orders", "--version", QUICK, "--name", "A"]
        config = '{"127.0.0.1@A":["orders/broker-a/3","orders/broker-a/1"]}'
        async with command("consume", *words, "--strategy", "CONFIG", "--strategy-param", f"config={config}") as member:
            await member.sees("held", queues=[QUEUES[1], QUEUES[3]])
            assert await member.ends(signal.SIGTERM) == 0


@on_a_loop
async def test_a_reader_that_stalls_stops_messages_but_neither_membership_nor_the_end() -> None:
    """The pipe holds 64 KiB, and as much waits for it; what is sent is four times as much."""
    async with cluster() as east, Producer(east.namesrv) as producer:
        await put(producer, ["x" * 2_000] * 300)
        reading, writing = os.pipe()
        words = ["--namesrv", east.namesrv, "--group", "G", "--topic", "orders", "--from", "first", "--version", QUICK]
        async with command("consume", *words, stdout=writing, hears_complaints=True) as member:
            os.close(writing)
            await until(lambda: waiting_in(reading) > 60_000)
            member.process.send_signal(signal.SIGTERM)
            said, status = await member.words(), await member.process.wait()
        registry = east.broker("broker-a").machine.membership.registry

        assert (status, "standard output is not read" in said) == (1, True)
        assert 0 < committed(east) < 300
        assert registry.clients("G") == ()
    os.close(reading)


def waiting_in(pipe: int) -> int:
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@on_a_loop
async def test_a_reader_who_goes_ends_it_in_order_with_1_at_the_next_line() -> None:
    """That line is the last for long: whoever says nothing more hears of it too."""
    async with cluster() as east, Producer(east.namesrv) as producer:
        reading, writing = os.pipe()
        words = ["--namesrv", east.namesrv, "--group", "G", "--topic", "orders", "--from", "first", "--version", QUICK]
        async with command("consume", *words, stdout=writing, hears_complaints=True) as member:
            os.close(writing)
            await until(lambda: waiting_in(reading) > 0 and b'"held"' in os.read(reading, 65_536))
            os.close(reading)
            await put(producer, ["a"])
            said, status = await member.words(), await member.process.wait()

    assert (status, "standard output cannot be written" in said, "Traceback" in said) == (1, True, False)


@on_a_loop
async def test_the_last_held_line_comes_before_stopped_though_no_broker_answers() -> None:
    async with command("embedded", "--port", "0", "--topic", "orders:2") as east:
        namesrv = (await east.sees("ready"))["namesrv"]
        words = ["--namesrv", namesrv, "--group", "G", "--topic", "orders", "--version", QUICK, "--name", "A"]
        async with command("consume", *words, "--orderly") as member:
            await member.sees("held", queues=QUEUES[:2])
            east.process.send_signal(signal.SIGSTOP)
            assert await member.ends(signal.SIGTERM) == 0

    assert [line["saw"] for line in member.lines[-2:]] == ["held", "stopped"]
    assert member.lines[-2]["queues"] == []


@on_a_loop
async def test_who_gets_nothing_is_told_why_beside_the_lines() -> None:
    async with cluster() as east:
        words = ["--group", "G", "--topic", "orders,later", "--version", QUICK]
        async with (
            command("consume", "--namesrv", east.namesrv, *words, hears_complaints=True) as early,
            command("consume", "--namesrv", "127.0.0.1:1", *words, hears_complaints=True) as lost,
        ):
            await early.complains("there is no topic 'later'")
            await lost.complains("127.0.0.1:1 does not answer: ")
            assert (await early.ends(signal.SIGTERM), await lost.ends(signal.SIGTERM)) == (0, 0)

    assert {line["saw"] for line in early.lines + lost.lines} <= {"started", "held", "stopped"}


def taken(at: int) -> QueueTaken:
    return QueueTaken(
        at=at,
        source=Source(origin=Origin.AGENT_REPORT),
        exactness=EXACT,
        group="G",
        client="A",
        queue=MessageQueue("orders", "east", at),
        start_offset=0,
    )


def dropped(at: int) -> QueueDropped:
    return QueueDropped(
        at=at,
        source=Source(origin=Origin.AGENT_REPORT),
        exactness=EXACT,
        group="G",
        client="A",
        queue=MessageQueue("orders", "east", 0),
        reason=DropReason.NOT_IN_TARGET,
        committed_offset=None,
    )


class Member:
    """A consumer in a rebalance, which takes and drops what it is told."""

    def __init__(self, changes: Changes) -> None:
        self.held: tuple[MessageQueue, ...] = ()
        self.is_over = asyncio.Event()
        self._changes = changes

    async def rebalanced(self) -> None:
        await self.is_over.wait()

    def hold(self, number: int, fact: Fact) -> None:
        self.held = tuple(MessageQueue("orders", "east", one) for one in range(number))
        self._changes.note(fact)


@asynccontextmanager
async def followed(patience_s: float = 3600.0) -> AsyncIterator[tuple[Member, list[Line]]]:
    said: list[Line] = []
    lines = Lines(lambda data: said.extend(map(json.loads, data.splitlines())))
    changes = Changes(patience_s)
    member = Member(changes)
    following = asyncio.create_task(changes.follow(lines, member))
    yield member, said
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    await lines.close()


@on_a_loop
async def test_a_rebalance_that_takes_many_queues_is_one_line_with_the_time_of_the_last() -> None:
    async with followed() as (member, said):
        for number in range(1, 9):
            member.hold(number, taken(number))
            await asyncio.sleep(0.001)  # a broker is asked before each
        member.is_over.set()
        await until(lambda: bool(said))
        member.hold(9, taken(9))  # a lock came later
        await until(lambda: len(said) == 2)

    assert [(line["ms"], len(line["queues"])) for line in said] == [(8, 8), (9, 9)]


class Leaver(Member):
    """A consumer that drops what it holds when nobody follows its changes any more."""

    client_id = "A"

    async def start(self) -> None:
        self.hold(1, taken(1))

    async def __aiter__(self) -> AsyncIterator[object]:
        for message in list[object]():
            yield message

    async def close(self) -> None:
        if all(task.get_name() not in ("stop", "changes") for task in asyncio.all_tasks()):
            self.hold(0, dropped(2))


@on_a_loop
async def test_what_is_dropped_after_the_last_look_of_who_follows_is_said_before_stopped() -> None:
    said: list[Line] = []
    lines = Lines(lambda data: said.extend(map(json.loads, data.splitlines())))
    changes, stop = Changes(), asyncio.Event()
    leaver: Any = Leaver(changes)
    changes.say(lines, (MessageQueue("orders", "east", 0),))
    asyncio.get_running_loop().call_soon(stop.set)

    assert await consume._consume(leaver, changes, lines, stop) == 0
    await lines.close()

    assert [(line["saw"], line.get("queues")) for line in said][-2:] == [("held", []), ("stopped", None)]


@on_a_loop
async def test_what_is_dropped_is_said_at_once_though_the_rebalance_goes_on() -> None:
    async with followed() as (member, said):
        member.hold(3, taken(1))
        await asyncio.sleep(0.001)
        member.hold(2, dropped(2))
        await until(lambda: bool(said))
        member.is_over.set()

    assert [(line["ms"], len(line["queues"])) for line in said] == [(2, 2)]


@on_a_loop
async def test_a_rebalance_that_takes_long_says_now_and_then_how_far_it_is() -> None:
    async with followed(0.001) as (member, said):
        member.hold(1, taken(1))
        await until(lambda: bool(said))
        member.hold(2, taken(2))
        await until(lambda: len(said) == 2)

    assert not member.is_over.is_set()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--strategy", "NONE"], "there is no strategy 'NONE'"),
        (["--topic", ","], "the topics are ','"),
        (["--topic", "a b"], "the topic is 'a b'"),
        (["--group", "a b"], "the group is 'a b'"),
        (["--strategy", "MACHINE_ROOM"], "needs the parameter 'consumer_idcs'"),
        (["--strategy-param", "consumer_idcs"], "needed is NAME=JSON"),
        (["--strategy-param", "config={"], "needed is NAME=JSON"),
        (["--strategy", "CONFIG", "--strategy-param", 'config={"a@1":["orders"]}'], "needed is topic/broker/id"),
        (["--name", ""], "the name is ''"),
        (["--version", "1"], "needed is a version"),
        (["--version", "9.9"], "known are those from 4.9.0 to 5.5.0"),
        (["--version", "4.8.0"], "known are those from 4.9.0 to 5.5.0"),
        (["--strategy", "CONFIG"], "CONFIG needs the parameter 'config'"),
        (["--strategy", "avg"], "there is no strategy 'avg'; there are AVG, AVG_BY_CIRCLE,"),
        (["--namesrv", "x"], "host:port"),
    ],
)
def test_what_makes_no_sense_ends_with_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    where = [] if "--namesrv" in words else ["--namesrv", "127.0.0.1:1"]
    with pytest.raises(SystemExit) as ended:
        cli.main(["consume", *where, "--group", "G", "--topic", "orders", *words])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


ROOM = '{"rule":"prefix","separator":"-"}'
PARAMETERS = {
    "consumer_idcs": 'consumer_idcs=["broker"]',
    "config": f'config={{"127.0.0.1@A":{json.dumps(QUEUES)}}}',
    "virtual_nodes": "virtual_nodes=3",
    "inner": 'inner="AVG"',
    "broker_room": f"broker_room={ROOM}",
    "client_room": f"client_room={ROOM}",
}
TAKES_A_CONFIG = {"CONFIG", "GO_CONFIG"}


@pytest.mark.parametrize("name", STRATEGIES)
def test_each_strategy_of_the_table_is_taken_by_name_or_refused_in_words(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a member needs is given here; plans for whole groups say which strategies members can use."""
    taken: list[str] = []

    def take(_: Callable[[asyncio.Event], Awaitable[int]]) -> int:
        taken.append(name)
        return 0

    monkeypatch.setattr(consume, "run_until_told", take)
    needs = STRATEGIES[name].needs | ({"config"} if name in TAKES_A_CONFIG else set())
    words = [word for one in sorted(needs) for word in ("--strategy-param", PARAMETERS[one])]
    words = ["consume", "--namesrv", "127.0.0.1:1", "--group", "G", "--topic", "orders", "--strategy", name, *words]

    if "previous" in STRATEGIES[name].takes:
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == 2
        assert f"{name} is a plan for a whole group" in (said := capsys.readouterr().err)
        assert "There are AVG, AVG_BY_CIRCLE, CONFIG" in said
    else:
        assert (cli.main(words), taken) == (0, [name])
