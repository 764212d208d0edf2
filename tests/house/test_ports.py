"""Ports are given to one only, and those of a server together."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cluster import ports
from tests.cluster.ports import BROKER, LOOPBACK, free_port


@pytest.fixture(autouse=True)
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave twelve ports to choose from, and nobody else who chooses."""
    monkeypatch.setattr(ports, "GIVEN", tmp_path / "given")
    monkeypatch.setattr(ports, "FROM", 9_100)
    monkeypatch.setattr(ports, "BELOW", 9_112)


def test_a_port_that_was_given_is_not_given_again_before_its_server_listens() -> None:
    given = [port + distance for port in [free_port(beside=BROKER), free_port()] for distance in BROKER]
    one, other = given[:3], given[4]
    assert other not in one


def test_where_all_ports_are_given_the_error_says_so() -> None:
    with pytest.raises(RuntimeError, match="between 9100 and 9112 were tried, and none was free"):
        assert len({free_port() for _ in range(13)}) > 12


def test_a_port_given_long_ago_is_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "GIVEN_FOR_S", 0)
    assert len({free_port() for _ in range(50)}) <= 12


def test_a_broker_is_not_given_a_port_beside_one_that_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "BELOW", 9_101)
    assert free_port(beside=(0,)) == 9_100
    monkeypatch.setattr(ports, "GIVEN_FOR_S", 0)
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 9_101))
        taken.listen()
        with pytest.raises(RuntimeError, match="none was free"):
            free_port(beside=BROKER)
