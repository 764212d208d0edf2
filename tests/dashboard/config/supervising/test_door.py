import http.client
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.config.supervising.door import Door, take_over
from dashboard.config.supervising.lock import HomeTaken, PortTaken
from tests.dashboard.config.supervising.processes import LONG_S, children_of, ends


def ask(door: Door) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", door.listener.getsockname()[1], timeout=LONG_S)
    try:
        connection.request("GET", "/", headers={"Accept": "text/html"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_the_port_answers_before_there_is_a_web_process_and_tells_how_far_it_is(tmp_path: Path) -> None:
    door = Door(tmp_path, "127.0.0.1", 0)
    try:
        door.show("tables", "doing", 3, 40)
        while "3 of 40" not in (asked := ask(door))[1]:
            assert asked[0] == 503
    finally:
        door.leave()


def test_after_the_web_process_has_ended_a_doorkeeper_stands_there_again_and_knows_what_was_said(
    tmp_path: Path,
) -> None:
    door = Door(tmp_path, "127.0.0.1", 0)
    try:
        door.show("tables", "done")
        door.keep()  # it stands there
        take_over(os.dup(door.knocker.fileno()))
        door.keep()

        while "Prepare the database <span>done" not in (asked := ask(door))[1]:
            assert asked[0] == 503
    finally:
        door.leave()


def test_a_doorkeeper_that_a_web_process_let_leave_is_seen_off_and_stays_not_defunct(tmp_path: Path) -> None:
    door = Door(tmp_path, "127.0.0.1", 0)
    try:
        before = children_of(os.getpid())
        take_over(os.dup(door.knocker.fileno()))

        door.see_off()

        (keeper,) = before - children_of(os.getpid())
        assert ends(keeper)
    finally:
        door.leave()


def test_a_doorkeeper_that_is_gone_keeps_no_web_process_waiting() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()

    take_over(ours.detach())


def test_a_home_or_a_port_that_is_taken_is_told_and_nothing_stays_taken(tmp_path: Path) -> None:
    (tmp_path / "east").mkdir()
    door = Door(tmp_path / "east", "127.0.0.1", 0)
    (tmp_path / "west").mkdir()
    port = door.listener.getsockname()[1]
    with pytest.raises(HomeTaken):
        Door(tmp_path / "east", "127.0.0.1", 0)
    with pytest.raises(PortTaken):
        Door(tmp_path / "west", "127.0.0.1", port)
    door.leave()

    Door(tmp_path / "west", "127.0.0.1", port).leave()
    Door(tmp_path / "east", "127.0.0.1", 0).leave()


LOADS = """
import sys
import dashboard.config.supervising.up
print(sorted({"celery", "kombu", "django.db", "django.apps", "numpy"} & set(sys.modules)))
import django
django.setup()
import celery
print(celery.current_app.main)
"""


def test_what_supervises_loads_neither_django_nor_celery_and_who_sets_django_up_finds_the_celery_app() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, timeout=LONG_S * 4, check=True)

    assert done.stdout.split("\n")[:2] == ["[]", "evenkeel"]


def test_an_address_of_ipv6_is_told_in_brackets(tmp_path: Path) -> None:
    door = Door(tmp_path, "::1", 0)
    try:
        assert door.address == f"http://[::1]:{door.listener.getsockname()[1]}/"
        with pytest.raises(HomeTaken, match=r"http://\[::1\]:"):
            Door(tmp_path, "::1", 0)
    finally:
        door.leave()
