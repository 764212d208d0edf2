import argparse
import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from rebalance_engine import cli
from rebalance_engine.cli.asking import add_asking_arguments, as_json, ask, until
from rebalance_engine.cli.signals import Interrupted
from rebalance_engine.network.admin import Admin
from tests.rebalance_engine.network.loop import on_a_loop


@on_a_loop
async def test_work_is_broken_off_when_told_to_stop() -> None:
    stop, begun = asyncio.Event(), asyncio.Event()

    async def work() -> int:
        begun.set()
        await asyncio.Event().wait()
        return 1

    running = asyncio.create_task(until(stop, work()))
    await begun.wait()
    stop.set()

    assert await running is None


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_asking_arguments(parser, timeout_s=5)
    return parser.parse_args(["--namesrv", "127.0.0.1:1"])


async def interrupted(_admin: Admin, _stop: asyncio.Event) -> int:
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.Event().wait()
    return 1


def test_an_interrupted_question_is_no_success() -> None:
    with pytest.raises(Interrupted) as ended:
        ask(asked(), interrupted)

    assert ended.value.status == 130


def test_what_only_ends_when_it_is_told_to_ends_well() -> None:
    assert ask(asked(), interrupted, is_endless=True) == 0


@on_a_loop
async def test_work_that_ends_gives_its_status() -> None:
    async def work() -> int:
        return 1

    assert await until(asyncio.Event(), work()) == 1


def test_json_is_one_ascii_line() -> None:
    assert as_json({"group": "é\n"}) == '{"group":"\\u00e9\\n"}'


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--timeout", "0"], "--timeout is 0"),
        (["--timeout", "nan"], "--timeout is nan"),
        (["--namesrv", "x"], "host:port"),
        (
            ["--tls-ca", str(Path("/nowhere/ca.pem"))],
            "--tls-ca cannot be read: [Errno 2] No such file or directory: '/nowhere/ca.pem'",
        ),
    ],
)
def test_what_makes_no_sense_ends_with_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["brokers", "--namesrv", "127.0.0.1:1", *words])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_several_clusters_are_asked_one_after_the_other_and_each_says_which_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clusters = ["--namesrv", "127.0.0.1:1", "--namesrv", "127.0.0.1:2"]
    assert cli.main(["groups", *clusters, "--timeout", "1"]) == 1
    text = capsys.readouterr().out
    assert cli.main(["doctor", *clusters, "--timeout", "1", "--json"]) == 1
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    heads = [line for line in text.splitlines() if line.startswith("==")]
    assert heads == ["== 127.0.0.1:1 ==", "== 127.0.0.1:2 =="]
    assert [(line["namesrv"], line["subject"]) for line in told] == [
        ("127.0.0.1:1", "name server 127.0.0.1:1"),
        ("127.0.0.1:2", "name server 127.0.0.1:2"),
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["map", "--group", "G", "--watch"], "2 clusters are given; only one can be watched"),
        (["recompute", "--group", "G", "--yes"], "needed is one cluster"),
        (["consume", "--group", "G", "--topic", "orders"], "needed is one cluster"),
    ],
)
def test_where_one_cluster_is_needed_a_second_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--namesrv", "127.0.0.1:1", "--namesrv", "127.0.0.1:2"])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err
