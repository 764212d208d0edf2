import asyncio
import json
import signal
from collections.abc import Awaitable, Callable

import pytest

from rebalance_engine import cli
from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.cli import consume
from rebalance_engine.network import Producer
from tests.rebalance_engine.cli.commands import command
from tests.rebalance_engine.network.clusters import QUICK, cluster, put
from tests.rebalance_engine.network.loop import on_a_loop

QUEUES = [f"orders/broker-a/{number}" for number in range(4)]


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
async def test_strategies_have_their_parameters() -> None:
    async with cluster() as east:
        words = ["--namesrv", east.namesrv, "--group", "G", "--topic", "orders", "--version", QUICK, "--name", "A"]
        config = '{"127.0.0.1@A":["orders/broker-a/3","orders/broker-a/1"]}'
        async with command("consume", *words, "--strategy", "CONFIG", "--strategy-param", f"config={config}") as member:
            await member.sees("held", queues=[QUEUES[1], QUEUES[3]])
            assert await member.ends(signal.SIGTERM) == 0


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
    with pytest.raises(SystemExit) as ended:
        cli.main(["consume", "--namesrv", "127.0.0.1:1", "--group", "G", "--topic", "orders", *words])

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
