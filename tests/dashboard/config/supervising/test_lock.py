import errno
import os
import random
import socket
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.config.supervising.lock import (
    LOOPBACK,
    PORTS,
    CannotListen,
    HomeLock,
    HomeTaken,
    PortTaken,
    free_port,
    in_address,
    listen,
    why_not,
)


def test_a_home_has_one_supervisor_and_the_second_is_told_who_has_it(tmp_path: Path) -> None:
    first = HomeLock(tmp_path)
    first.take("process 7, http://127.0.0.1:8000/")

    with pytest.raises(HomeTaken, match=r"in use by process 7, http://127.0.0.1:8000/; stop that one"):
        HomeLock(tmp_path).take("process 8")

    first.release()
    again = HomeLock(tmp_path)
    again.take("process 9")
    again.release()


def test_a_home_stays_taken_while_an_heir_holds_it(tmp_path: Path) -> None:
    first = HomeLock(tmp_path)
    first.take("process 7")
    heir = os.dup(first.descriptor)
    first.release()

    with pytest.raises(HomeTaken):
        HomeLock(tmp_path).take("process 8")
    os.close(heir)


def test_a_port_that_is_taken_is_refused_with_a_clear_word() -> None:
    with listen(LOOPBACK, 0) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(PortTaken, match=f"port {port} of 127.0.0.1 is taken"):
            listen(LOOPBACK, port)


def test_a_host_that_is_none_of_this_machine_is_refused_with_a_clear_word() -> None:
    with pytest.raises(
        CannotListen, match=r"--host '203\.0\.113\.9'; it needs an address of this machine: 127\.0\.0\.1 "
    ):
        listen("203.0.113.9", 0)
    for host in ("no-such-name.invalid", "a..b", "300.1.1.1"):
        with pytest.raises(CannotListen, match=f"--host '{host}'; it needs an address of this machine, or a name of"):
            listen(host, 0)


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (errno.EACCES, "--port 80; who is not root needs one from 1024 on"),
        (errno.EPERM, "--port 80; who is not root needs one from 1024 on"),
        (errno.ENOBUFS, "--host '::1' --port 80; nothing can listen there: No buffer space available"),
    ],
)
def test_why_nothing_can_listen_is_said_in_words(number: int, word: str) -> None:
    assert str(why_not("::1", 80, OSError(number, os.strerror(number)))) == word


@pytest.mark.parametrize("file", ["run", "run/up.lock"])
def test_a_home_in_which_nothing_can_be_written_is_named(file: str, tmp_path: Path) -> None:
    if file == "run":
        (tmp_path / file).touch()
    else:
        (tmp_path / file).mkdir(parents=True)

    with pytest.raises(
        ImproperlyConfigured, match=f"EVENKEEL_HOME is {tmp_path}; it needs a folder that can be written"
    ):
        HomeLock(tmp_path).take("process 7")


def test_the_port_of_the_last_run_is_taken_where_it_is_free() -> None:
    luck = random.Random(1)
    with socket.create_server((LOOPBACK, 0)) as taken:
        other = free_port([taken.getsockname()[1]], luck)

    assert other in PORTS
    assert free_port([other], luck) == other


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),  # noqa: S104 - nothing listens
        ("::1", "[::1]"),
        ("::", "[::1]"),
        ("FD00:0:0::5", "[fd00::5]"),
        ("shop.example", "shop.example"),
        ("", "localhost"),
    ],
)
def test_a_host_is_written_as_addresses_of_pages_name_it(host: str, shown: str) -> None:
    assert in_address(host) == shown
