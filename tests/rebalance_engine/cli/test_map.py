import asyncio
import json
import signal
import sys

from rebalance_engine.network import Consumer
from tests.rebalance_engine.cli.commands import run_to_end
from tests.rebalance_engine.network.clusters import QUICK, cluster, until
from tests.rebalance_engine.network.loop import on_a_loop


@on_a_loop
async def test_the_map_is_drawn_and_told_in_json() -> None:
    async with cluster() as east, Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK) as first:
        await until(lambda: len(first.held) == 4)
        words = ["map", "--namesrv", east.namesrv, "--group"]
        drawn = await run_to_end(*words, "G")
        told = await run_to_end(*words, "G", "--json")
        nobody = await run_to_end(*words, "nope", "--no-lag")

    assert drawn[0] == told[0] == 0
    assert "  broker-a          0  A A A A" in drawn[1]
    line = json.loads(told[1])
    assert line["converged"] is True
    assert line["members"][0]["client_id"] == "127.0.0.1@A"
    assert line["queues"][1]["held_by"] == line["queues"][1]["target"] == ["127.0.0.1@A"]
    assert line["missing"] == line["findings"] == []
    assert nobody == (1, nobody[1])
    assert "No broker knows this group." in nobody[1]


@on_a_loop
async def test_watching_goes_on_until_it_is_told_to_stop() -> None:
    async with cluster() as east:
        words = ["map", "--namesrv", east.namesrv, "--group", "G", "--watch", "--every", "0.1", "--json"]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "rebalance_engine", *words, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        lines = [json.loads(await process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        await process.communicate()

    assert process.returncode == 0
    assert lines[0]["ended_at"] < lines[1]["ended_at"]
