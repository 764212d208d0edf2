import signal

import pytest

from rebalance_engine import cli
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
        (["--namesrv", "x"], "host:port"),
    ],
)
def test_what_makes_no_sense_ends_with_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["consume", "--namesrv", "127.0.0.1:1", "--group", "G", "--topic", "orders", *words])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err
