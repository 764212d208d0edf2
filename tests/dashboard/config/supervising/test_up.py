"""``manage.py up`` as a person starts it: on an empty home, with real processes."""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.dashboard.config.supervising.instances import LONG_S, MOST_LOOKS, up
from tests.dashboard.config.supervising.processes import ends

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("up")]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home in which it was started before, to be copied."""
    home = tmp_path_factory.mktemp("first") / "home"
    with up(home) as first:
        first.open()
        assert first.stop() == 0
    return home


def test_alone_on_an_empty_home_it_serves_pages_and_counts_the_demos_first_round(tmp_path: Path) -> None:
    with up(tmp_path / "home") as first:
        first.url = first.until(r"from now on at (http://127\.0\.0\.1:\d+/)").group(1)
        assert first.get("/healthz")[::2] == (503, "starting\n")
        first.open()

        assert first.get("/healthz")[0] == 200
        status, place, _ = first.get("/")
        assert (status, urlsplit(place).path) == (302, "/login/")
        assert first.get("/login/")[0] == 200
        assert re.search(r"log in as admin with the password \S{20} ", first.said)
        for _ in range(MOST_LOOKS):
            if rounds(first.get("/metrics")[2]):
                break
            first.listen(0.25)
        else:
            pytest.fail(f"no round was counted: {first.said}")


def rounds(metrics: str) -> float:
    """Add the rounds of all groups up."""
    return sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith("rebalance_total"))


def test_it_stops_in_order_leaves_no_process_and_starts_again_where_it_was(prepared: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    with up(home) as again:
        again.open()
        processes = again.started("redis-server", "dashboard.demo", "web", "worker", "beat")
        for _ in range(MOST_LOOKS):  # the doorkeeper answers its last callers after the web process took over
            if not any("doorkeeper" in words or not words for words in again.children()):  # who is defunct has none
                break
            again.listen(0.25)
        else:
            pytest.fail(f"a child is defunct: {again.children()}")

        assert again.stop() == 0
        assert all(map(ends, processes.values()))
        assert "killed" not in again.said
        assert "password" not in again.said
        assert "collecting" not in again.said


def test_a_process_that_is_killed_comes_back(prepared: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    with up(home) as instance:
        instance.open()

        for name, kind in (("web", "web"), ("redis", "redis-server"), ("worker", "worker")):
            killed = instance.started(kind)[kind]
            os.kill(killed, signal.SIGKILL)
            instance.until(rf"{name} ended \(killed by signal 9\)")
        instance.until(r"(?s)web ended .*web is ready")
        instance.until(r"(?s)redis ended .*redis is ready")

        assert instance.get("/healthz")[0] == 200
        assert "why redis ended" not in instance.said  # one that was killed wrote nothing of it
        opened = re.findall(r"open http://[^ ]+/(.*)", instance.said)
        assert len(opened) > 1 and opened[0].strip() and not any(map(str.strip, opened[1:]))  # its age is told once


def test_nothing_is_left_when_the_supervisor_itself_is_killed(prepared: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    with up(home) as instance:
        instance.open()
        processes = instance.started("worker", "beat")

        instance.stop(signal.SIGKILL)

        assert all(map(ends, processes.values()))
    with up(home) as after:
        after.open()


def test_two_run_side_by_side_and_a_second_one_of_a_home_is_refused(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "east")
    shutil.copytree(prepared, tmp_path / "west")
    with up(tmp_path / "east") as east, up(tmp_path / "west") as west:
        assert east.open() != west.open()

        assert east.get("/healthz")[0] == west.get("/healthz")[0] == 200
        with up(tmp_path / "east") as third:
            third.until(rf"the home {tmp_path / 'east'} is in use by process {east.process.pid}, ")
            assert third.process.wait(LONG_S) == 1


def test_a_port_that_is_taken_is_refused_with_a_clear_word(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "east")
    shutil.copytree(prepared, tmp_path / "west")
    with up(tmp_path / "east") as east:
        port = urlsplit(east.open()).port
        with up(tmp_path / "west", "--port", str(port)) as west:
            west.until(rf"port {port} of 127\.0\.0\.1 is taken by another program")
            assert west.process.wait(LONG_S) == 1


def test_over_a_real_cluster_it_starts_no_demo(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "home")
    with up(tmp_path / "home", "--namesrv", "127.0.0.1:1;127.0.0.1:2") as real:
        real.open()

        assert "dashboard.demo" not in real.children()


def test_over_ipv6_pages_and_their_socket_open_at_the_address_that_is_told(tmp_path: Path) -> None:
    with up(tmp_path / "home", "--host", "::1", "--namesrv", "127.0.0.1:1") as instance:
        instance.until(r"from now on at http://\[::1\]:\d+/$")
        assert instance.open().startswith("http://[::1]:")
        place = urlsplit(instance.url).netloc

        with connect(
            f"ws://{place}/live/",
            origin=Origin(f"http://{place}"),
            additional_headers={"Cookie": instance.log_in()},
            open_timeout=LONG_S,
        ) as live:
            live.send('{"follow": "overview-1", "seq": null}')
            assert live.recv(timeout=LONG_S)
