import json

from tests.rebalance_engine.cli.commands import run_to_end
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.ghosts import ghost
from tests.rebalance_engine.network.loop import on_a_loop


@on_a_loop
async def test_groups_are_listed_with_their_members() -> None:
    async with cluster(2) as east, ghost(east.broker("broker-a").address, client="evil\x1b[2J"):
        drawn = await run_to_end("groups", "--namesrv", east.namesrv)
        told = await run_to_end("groups", "--namesrv", east.namesrv, "--json", "--online")
        await east.broker("broker-b").kill(keeps_route=True)
        partly = await run_to_end("groups", "--namesrv", east.namesrv, "--json", "--timeout", "2")

    assert drawn[0] == 0
    assert [line.split() for line in drawn[1].splitlines() if line.startswith("G ")] == [
        ["G", "1", "clustering", "%RETRY%G,", "orders", "agree"]
    ]
    [line] = [json.loads(line) for line in told[1].splitlines()]
    assert (line["group"], line["members"], line["by_broker"]) == ("G", 1, {"broker-a": 1})
    [unsure] = [json.loads(line) for line in partly[1].splitlines()]
    assert (unsure["members"], unsure["members_at_least"], unsure["by_broker"]["broker-b"]) == (None, 1, None)


@on_a_loop
async def test_nobody_there_is_a_failure() -> None:
    status, said = await run_to_end("groups", "--namesrv", "127.0.0.1:1", "--timeout", "2")

    assert status == 1
    assert said.startswith("It is unknown which groups there are")
    assert "0 groups" not in said and "127.0.0.1:1" in said


@on_a_loop
async def test_what_a_broker_that_does_not_answer_has_is_not_counted_as_nothing() -> None:
    async with cluster(2) as east, ghost(east.broker("broker-a").address):
        await east.broker("broker-b").kill(keeps_route=True)
        _, said = await run_to_end("groups", "--namesrv", east.namesrv, "--timeout", "2")

    assert said.startswith("1 group, and perhaps more on ")
