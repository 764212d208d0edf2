import json
import os
import signal
from pathlib import Path

import pytest
import trustme

from rebalance_engine import cli
from rebalance_engine.cli.produce import reason_of, told_by
from rebalance_engine.network import Message, Producer, SendFailed
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.tls import ServerTls
from tests.rebalance_engine.cli.commands import command
from tests.rebalance_engine.cli.rooms import Room
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.loop import on_a_loop


@on_a_loop
async def test_every_message_is_said_to_be_stored_and_where() -> None:
    async with cluster() as east:
        words = ["--namesrv", east.namesrv, "--topic", "orders", "--count", "8"]
        async with (
            command("produce", *words, "--rate", "500") as steady,
            command("produce", *words, "--rate", "0") as hasty,
        ):
            assert await steady.ends() == await hasty.ends() == 0

    lines = steady.lines + hasty.lines
    assert {line["saw"] for line in lines} == {"sent"}
    assert len({(line["queue"], line["offset"]) for line in lines}) == 16
    assert {line["queue"] for line in lines} == {f"orders/broker-a/{number}" for number in range(4)}
    assert all(line["latency_ms"] >= 0 for line in lines)


@on_a_loop
async def test_bytes_that_are_no_text_are_sent_as_they_were_given() -> None:
    async with cluster() as east:
        words = ["--namesrv", east.namesrv, "--topic", "orders", "--count", "1", "--rate", "0"]
        async with (
            command(
                "consume", "--namesrv", east.namesrv, "--group", "G", "--topic", "orders", "--from", "first"
            ) as got,
            command("produce", *words, "--body", os.fsdecode(b"\xff{number}")) as sent,
        ):
            assert await sent.ends() == 0
            await got.sees("got")
            assert await got.ends(signal.SIGTERM) == 0

    (line,) = [line for line in got.lines if line["saw"] == "got"]
    assert line["body"] == "\ufffd0"


@on_a_loop
async def test_a_producer_reports_how_long_its_sends_take_under_its_group(room: Room) -> None:
    async with cluster() as east:
        words = ["--namesrv", east.namesrv, "--topic", "orders", "--count", "3", "--rate", "0", "--group", "shop-front"]
        async with command("produce", *words, "--avoid-slow", "--report", room.url) as produce:
            assert await produce.ends() == 0

    assert {json.loads(body)["group"] for _path, _headers, body in room.got} == {"shop-front"}
    latencies = [fact for fact in room.facts if fact["event"] == "BrokerLatency"]
    assert {(fact["broker"], fact["outcome"]) for fact in latencies} == {("broker-a", "ok")}
    assert max(fact["latency_ms"] for fact in latencies) >= 0


@on_a_loop
async def test_a_failure_is_a_line_with_its_reason_and_ends_with_1() -> None:
    async with cluster() as east:
        east.broker("broker-a").be_busy()
        words = ["--namesrv", east.namesrv, "--topic", "orders", "--count", "1", "--rate", "1"]
        async with command("produce", *words, "--avoid-slow", "--key", "k", "--tags", "t") as produce:
            assert await produce.ends() == 1

    (line,) = produce.lines
    assert line["saw"] == "failed" and "Tried: 1. broker-a/" in line["reason"]


def test_what_a_failure_says_is_not_said_again_as_what_is_wrong_now() -> None:
    failure = "the message to 'orders' was not sent: code 16: No accessKey is configured. Tried: 1. east/1 for 2 ms"
    refusal = "127.0.0.1:7 refuses SendMessage: No accessKey is configured"
    told = [("127.0.0.1:7", "No accessKey is configured")]

    assert reason_of(failure, [refusal], told) == failure
    assert reason_of(failure, [refusal, "east:9 does not answer"], told) == f"{failure}. Now: east:9 does not answer"


def test_what_is_wrong_with_another_broker_is_said_in_the_same_words_too() -> None:
    failure = "the message to 'orders' was not sent. Tried: 1. east/1 for 3 ms: no answer in time"
    silent = [f"127.0.0.1:{port} does not answer: no answer in time" for port in (7, 77)]

    reason = reason_of(failure, silent, [("127.0.0.1:7", "no answer in time")])
    assert reason == f"{failure}. Now: 127.0.0.1:77 does not answer: no answer in time"


@on_a_loop
async def test_what_the_broker_of_an_attempt_said_is_said_once() -> None:
    async with cluster() as east, Producer(east.namesrv, send_timeout_ms=200) as producer:
        await producer.send(Message(topic="orders", body=b"x"))
        broker = east.broker("broker-a")
        broker.be_slow(60_000)
        with pytest.raises(SendFailed) as failed:
            await producer.send(Message(topic="orders", body=b"x"))
        (trouble,) = producer.troubles
        reason = reason_of(str(failed.value), producer.troubles, told_by(producer, failed.value))
        broker.be_well()

    assert trouble.startswith(f"{broker.address} does not answer: ")
    assert trouble.partition(": ")[2] in reason and "Now:" not in reason


@on_a_loop
async def test_a_certificate_that_is_not_trusted_is_said_in_the_reason(tmp_path: Path) -> None:
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    async with Listener(tls=ServerTls(certificate=tmp_path / "server.pem")) as listener:
        words = ["--namesrv", await listener.start(), "--topic", "orders", "--count", "1", "--rate", "1", "--tls"]
        async with command("produce", *words, hears_complaints=True) as produce:
            assert await produce.ends() == 1
            assert "its certificate is not trusted" in await produce.words()

    (line,) = produce.lines
    assert "its certificate is not trusted" in line["reason"]


@on_a_loop
async def test_sigterm_ends_it_in_order() -> None:
    async with cluster() as east:
        words = ["--namesrv", east.namesrv, "--topic", "orders", "--count", "1000000", "--rate", "20"]
        async with command("produce", *words) as produce:
            await produce.sees("sent")
            assert await produce.ends(signal.SIGTERM) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--count", "-1"], "'-1' is given"),
        (["--count", "1.5"], "'1.5' is given"),
        (["--rate", "fast"], "'fast' is given"),
        (["--rate", "nan"], "'nan' is given"),
        (["--topic", "a b"], "the topic is 'a b'"),
        (["--version", "1"], "needed"),
        (["--version", "9.9"], "known are those from 4.2.0 to 5.5.0"),
    ],
)
def test_what_makes_no_sense_ends_with_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--namesrv", "127.0.0.1:1", "--topic", "orders", "--count", "1", "--rate", "1"]
    with pytest.raises(SystemExit) as ended:
        cli.main(["produce", *given, *words])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err
