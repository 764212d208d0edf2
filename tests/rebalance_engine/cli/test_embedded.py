import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rebalance_engine.cli import main

WAIT_S = 60


@contextmanager
def embedded(*words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """Run the command; give the process and what its first line says."""
    command = [sys.executable, "-m", "rebalance_engine", "embedded", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def test_it_says_when_it_is_ready_and_ends_in_order(tmp_path: Path) -> None:
    words = ("--port", "0", "--brokers", "2", "--topic", "orders:4", "--topic", "pay:1", "--dir", str(tmp_path))
    with embedded(*words) as (process, ready):
        host, _, port = ready["namesrv"].partition(":")
        with socket.create_connection((host, int(port)), timeout=WAIT_S):
            process.send_signal(signal.SIGTERM)
            rest, log = process.communicate(timeout=WAIT_S)

    assert (ready["saw"], host, rest, process.returncode) == ("ready", "127.0.0.1", "", 0)
    assert "for development and demonstration" in log
    topics = json.loads((tmp_path / "broker-b" / "config" / "topics.json").read_text())["topicConfigTable"]
    assert (topics["orders"]["readQueueNums"], topics["pay"]["readQueueNums"]) == (4, 1)


def test_a_topic_that_has_more_queues_already_is_not_cut(tmp_path: Path) -> None:
    words = ("--port", "0", "--dir", str(tmp_path), "--topic")
    for topic in ("orders:2", "orders:4"):  # it may grow
        with embedded(*words, topic) as (process, _):
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=WAIT_S)
            assert process.returncode == 0
    command = [sys.executable, "-m", "rebalance_engine", "embedded", *words, "orders:2"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=WAIT_S)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "has topic 'orders' with 4 queues, and 2 are wanted" in ended.stderr
    topics = json.loads((tmp_path / "broker-a" / "config" / "topics.json").read_text())["topicConfigTable"]
    assert topics["orders"]["readQueueNums"] == 4


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--topic", "orders"], "NAME:QUEUES"),
        (["--topic", "orders:0"], "1 to 1024"),
        (["--topic", "orders:2", "--topic", "orders:3"], "'orders' has 2 queues and has 3"),
        (["--topic", "or ders:1"], "illegal characters"),
        (["--brokers", "0"], "1 to 26"),
        (["--version", "3.2.6"], "3.2.6"),
        (["--version", "9.9"], "there are brokers of 4.0.0 to 5.5.0"),
        (["--host", "0.0.0.0"], "no address that clients could call"),  # noqa: S104  # it is refused
        (["--delay-levels", "1s soon"], "like 10s"),
        (["--max-log", "0"], "1 to 1048576"),
        (["--port", "99999"], "0 to 65535"),
        (["--port", "0", "--dir", __file__], "error: the directory is '"),
    ],
)
def test_arguments_that_make_no_sense_end_with_2(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["embedded", *words])

    assert (end.value.code, why in " ".join(capsys.readouterr().err.split())) == (2, True)


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as end:
        main(["embedded", "--port", str(taken.getsockname()[1])])

    assert (end.value.code, "no port to listen on" in capsys.readouterr().err) == (2, True)
