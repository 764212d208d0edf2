import argparse
import asyncio
import os
import signal
from pathlib import Path

import pytest
import trustme

from rebalance_engine import cli
from rebalance_engine.cli import BadArguments
from rebalance_engine.cli.clients import (
    ACCESS_KEY,
    SECRET_KEY,
    add_cluster_arguments,
    name_servers_of,
    network_of,
    run_until_told,
)
from rebalance_engine.cli.signals import listening


def asked(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_cluster_arguments(parser)
    return parser.parse_args([*(() if "--namesrv" in words else ("--namesrv", "a:1;b:2")), *words])


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (ACCESS_KEY, SECRET_KEY):
        monkeypatch.delenv(name, raising=False)


def test_a_cluster_is_plain_and_open_unless_told_otherwise() -> None:
    network = network_of(asked())

    assert (network.acl, network.tls, network.rewrite) == (None, None, {})
    assert name_servers_of(asked()) == ("a:1", "b:2")


def test_addresses_are_rewritten_and_tls_is_as_strict_as_asked(tmp_path: Path) -> None:
    trusted = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(trusted))
    network = network_of(asked("--rewrite", "10.0.0.1=localhost", "--rewrite", "c:1=d:2", "--tls-ca", str(trusted)))

    assert network.rewrite == {"10.0.0.1": "localhost", "c:1": "d:2"}
    assert network.tls is not None and network.tls.verify and network.tls.ca == trusted
    careless = network_of(asked("--tls-trust-anybody")).tls
    assert careless is not None and not careless.verify
    assert network_of(asked("--tls")).tls is not None


@pytest.mark.parametrize("command", ["consume", "produce", "map", "doctor"])
@pytest.mark.parametrize(
    ("name", "why"),
    [("nothere.pem", "[Errno 2] No such file or directory: '{}'"), ("notes.pem", "{}: ")],
)
def test_a_file_of_tls_that_is_none_is_named_with_its_option(
    command: str, name: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.pem").write_text("milk, bread")
    words = {"doctor": "", "map": "--group billing", "consume": "--group billing --topic orders"}
    rest = words.get(command, "--topic orders --count 1 --rate 1").split()

    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--namesrv", "127.0.0.1:1", "--tls-ca", str(tmp_path / name), *rest])

    assert ended.value.code == 2
    assert f"--tls-ca cannot be read: {why.format(tmp_path / name)}" in capsys.readouterr().err


def test_the_secret_comes_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_KEY, "secret")
    by_word = network_of(asked("--access-key", "me")).acl
    monkeypatch.setenv(ACCESS_KEY, "you")
    by_environment = network_of(asked()).acl

    assert by_word is not None and (by_word.access_key, by_word.secret_key) == ("me", "secret")
    assert by_environment is not None and by_environment.access_key == "you"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--namesrv", "nowhere"], "host:port"),
        (["--rewrite", "10.0.0.1"], "needed is FROM=TO"),
        (["--access-key", "me"], SECRET_KEY),
    ],
)
def test_what_makes_no_sense_is_said(words: list[str], said: str) -> None:
    with pytest.raises(BadArguments, match=said):
        network_of(asked(*words))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_heard_as_an_event(number: signal.Signals) -> None:
    async def main(stop: asyncio.Event) -> int:
        os.kill(os.getpid(), number)
        await stop.wait()
        return 7

    before = signal.getsignal(number)

    assert run_until_told(main) == 7
    assert signal.getsignal(number) is before


def test_a_signal_after_the_run_finds_the_same_ears_as_before_it() -> None:
    async def main(stop: asyncio.Event) -> int:
        return 0 if not stop.is_set() else 1

    with listening() as ear:
        assert run_until_told(main) == 0
        os.kill(os.getpid(), signal.SIGTERM)
        assert ear.heard == signal.SIGTERM
        assert run_until_told(main) == 1
