import json

from tests.rebalance_engine.cli.commands import run_to_end
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.loop import on_a_loop


@on_a_loop
async def test_brokers_are_listed_with_their_figures() -> None:
    async with cluster(2) as east:
        drawn = await run_to_end("brokers", "--namesrv", east.namesrv)
        await east.broker("broker-b").kill(keeps_route=True)
        told = await run_to_end("brokers", "--namesrv", east.namesrv, "--json")

    assert drawn[0] == 0
    assert [line.split()[:2] for line in drawn[1].splitlines()[1:]] == [["broker-a", "master"], ["broker-b", "master"]]
    assert told[0] == 1
    first, second = [json.loads(line) for line in told[1].splitlines()]
    assert (first["answers"], first["version"], second["answers"], second["version"]) == (True, "V5_5_0", False, None)
    assert second["in_per_s"] is None
