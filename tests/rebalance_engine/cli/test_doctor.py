import json

from rebalance_engine.cli.doctor import lines
from rebalance_engine.cli.terminal import Paper
from rebalance_engine.network.checkup import Check, Verdict
from tests.rebalance_engine.cli.commands import run_to_end
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.loop import on_a_loop


def test_checks_are_written_with_their_advice() -> None:
    checks = [Check(Verdict.OK, "a", "fine"), Check(Verdict.FAILED, "b\x1b", "gone", "Start it.")]

    assert list(lines(checks, Paper(80))) == [
        "ok       a: fine",
        "FAILED   b\\x1b: gone",
        "         -> Start it.",
        "",
        "1 ok, 0 warning, 1 failed",
    ]


@on_a_loop
async def test_the_status_says_whether_something_failed() -> None:
    async with cluster() as east:
        sound = await run_to_end("doctor", "--namesrv", east.namesrv)
    broken = await run_to_end("doctor", "--namesrv", "127.0.0.1:1", "--json", "--timeout", "4")

    assert sound[0] == 0
    assert "0 failed" in sound[1]
    assert broken[0] == 1
    assert json.loads(broken[1])["verdict"] == "failed"
