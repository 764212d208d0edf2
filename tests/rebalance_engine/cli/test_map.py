import asyncio
import json
import signal
import sys
import time

from rebalance_engine.model import MessageQueue
from rebalance_engine.network import Consumer, LitePullConsumer
from rebalance_engine.remoting.bodies.clients import SubscriptionData
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo, ProcessQueueInfo
from tests.rebalance_engine.cli.commands import run_to_end
from tests.rebalance_engine.network.clusters import QUICK, cluster, until
from tests.rebalance_engine.network.ghosts import ghost
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
    assert line["pending"] is None
    assert nobody == (1, nobody[1])
    assert "No broker knows this group." in nobody[1]


@on_a_loop
async def test_json_says_that_it_is_unknown_where_the_drawing_does() -> None:
    async with cluster(2) as east, Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK) as first:
        await until(lambda: len(first.held) == 8)
        words = ["map", "--namesrv", east.namesrv, "--no-lag", "--json", "--timeout", "3", "--group"]
        gone = await run_to_end("map", "--namesrv", "127.0.0.1:1", "--group", "G", "--json")
        nope = await run_to_end(*words, "nope")
        await east.broker("broker-b").kill(keeps_route=True)
        lacking = await run_to_end(*words, "G")

    lines = [json.loads(told) for _, told in (gone, nope, lacking)]
    assert [line["converged"] for line in lines] == [None] * 3
    silent, unheard, doubt = [line["doubt"] for line in lines]
    assert silent == "Unknown: not everybody who could know this group answered."
    assert unheard == "No broker knows this group."
    # its retry topic, too, may be without a holder for half a minute
    assert doubt.endswith("eld as the target says, if broker-b knows no further member.")


@on_a_loop
async def test_a_group_that_assigns_its_queues_itself_has_no_target_and_nothing_amiss() -> None:
    async with cluster() as east, LitePullConsumer(east.namesrv, "G", instance="A") as consumer:
        consumer.assign((await consumer.queues("orders"))[1:])
        words = ["map", "--namesrv", east.namesrv, "--group", "G"]
        drawn, told = await run_to_end(*words), await run_to_end(*words, "--json")

    assert "There is no target: its members assign their queues themselves." in drawn[1]
    assert "  broker-a          0  - A A A" in drawn[1]
    line = json.loads(told[1])
    assert (line["converged"], line["findings"], line["strays"]) == (None, [], [])
    assert [queue["held_by"] for queue in line["queues"]] == [[], *[["127.0.0.1@A"]] * 3]
    assert {queue["target"] for queue in line["queues"]} == {None}


@on_a_loop
async def test_a_retry_topic_that_members_cannot_know_yet_is_pending_in_words_and_in_json() -> None:
    def says() -> ConsumerRunningInfo:
        return ConsumerRunningInfo(
            properties={"PROP_CONSUMER_START_TIMESTAMP": str(round(time.time() * 1_000))},
            mq_table={MessageQueue("orders", "broker-a", number): ProcessQueueInfo() for number in range(4)},
            subscription_set=tuple(SubscriptionData(topic=topic) for topic in ("orders", "%RETRY%G")),
        )

    async with cluster() as east, ghost(east.broker("broker-a").address, says=says):
        words = ["map", "--namesrv", east.namesrv, "--group", "G"]
        drawn, told = await run_to_end(*words), await run_to_end(*words, "--json")
        unasked = await run_to_end(*words, "--no-lag", "--json")
        drawn_unasked = await run_to_end(*words, "--no-lag")

    line = json.loads(told[1])
    assert drawn[0] == told[0] == 0
    assert "new retry topic: pending until" in drawn[1]
    assert "Not held" not in drawn[1]
    assert line["converged"] is False
    assert line["findings"] == []
    assert line["pending"]["queues"] == ["%RETRY%G/broker-a/0"]
    assert line["ended_at"] <= line["pending"]["until"]
    assert line["doubt"] is None
    line = json.loads(unasked[1])
    assert line["pending"] is None
    assert [one["finding"] for one in line["findings"]] == ["retry topic unowned"]
    assert line["doubt"].startswith("Unknown whether %RETRY%G is new")
    assert "Not held" in drawn_unasked[1]
    assert "Unknown whether %RETRY%G is new" in drawn_unasked[1]


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
