"""A real RocketMQ on loopback: one NameServer and brokers, each a Java process of released classes.

What it took to find out: logs go below ``user.home``, so each process has a home of its own; 4.x wants its logging
set-up from files that only its distribution ships; 4.x brokers on Java 17 need three packages opened; small files and
heaps are enough for tests; a broker that may take only 200 ms to store a message refuses many on a busy machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import TextIO, TypeVar

from rebalance_engine.remoting.requests.changes import UpdateAndCreateTopic
from rebalance_engine.remoting.requests.contract import Request, Response
from rebalance_engine.remoting.requests.nameserver import GetBrokerClusterInfo, GetRouteInfoByTopic
from tests.cluster import asking
from tests.cluster.contract import Setup
from tests.cluster.disks import IN_MEMORY, for_stores
from tests.cluster.ports import BROKER, LOOPBACK, accepts, free_port
from tests.cluster.processes import LOOK_EVERY_S, TAIL_CHARACTERS, Program, TooLate, wait_until
from tests.peers import maven

RELEASES = ("5.5.0", "4.9.7")
ALL_RELEASES = (*RELEASES, "5.3.3")
KEPT = maven.ROOT / "build" / "cluster"
READ_AND_WRITE = 6
UP_WITHIN_S = 120
AT_A_TIME = 2  # so many clusters fit on a machine of 8 GB
TURN_WITHIN_S = 1800  # other test runs on this machine have their clusters
OWNER = "owner"  # who runs the cluster of a folder has this file of it locked

JVM = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:MaxDirectMemorySize=256m",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
)
LOGBACK = """<configuration><appender name="F" class="ch.qos.logback.core.FileAppender">
<file>${{user.home}}/logs/rocketmqlogs/{name}.log</file>
<encoder><pattern>%d{{yyyy-MM-dd HH:mm:ss,GMT+8}} %p %t - %m%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="F"/></root></configuration>"""
SETTINGS = {
    "brokerClusterName": "DefaultCluster",
    "brokerId": "0",
    "brokerIP1": LOOPBACK,
    "bindAddress": LOOPBACK,
    "mappedFileSizeCommitLog": "16777216",
    "mappedFileSizeConsumeQueue": "60000",
    "diskMaxUsedSpaceRatio": "95",
    "waitTimeMillsInSendQueue": "2000",
    # the eighteen levels of retries, shorter: a first retry is of the third
    "messageDelayLevel": "1s 1s 2s 3s 4s 5s 6s 7s 8s 9s 10s 20s 30s 1m 2m 5m 10m 20m",
    # the wheel of timers, 37 MB, is flushed each second otherwise: two thirds of what an idle broker of 5.x costs
    "timerFlushIntervalMs": "60000",
    # half a minute and six seconds otherwise
    "transactionCheckInterval": "2000",
    "transactionTimeOut": "1000",
}
R = TypeVar("R", bound=Response)


class RealCluster:
    """A running cluster; see :func:`running`."""

    def __init__(self, setup: Setup, folder: Path) -> None:
        self.setup = setup
        self.name = setup.release
        self.folder = folder
        self.stores = for_stores(folder)
        self.port = free_port()
        self.namesrv = f"{LOOPBACK}:{self.port}"
        self.addresses: dict[str, str] = {}
        self.programs: dict[str, Program] = {}
        for name in setup.brokers:
            self.addresses[name] = f"{LOOPBACK}:{free_port(beside=BROKER)}"

    @property
    def java(self) -> str:
        """Give the release of the Java clients that belong to it."""
        return self.setup.release

    # ---- what tests do ----

    def ask(self, address: str, request: Request[R]) -> R:
        """Ask a server something, as an operator would."""
        return asking.ask(address, request, self.setup.acl, self.setup.tls.trusting() if self.setup.tls else None)

    def create_topic(self, topic: str, queues: int) -> str:
        """Make a topic with so many queues on each broker, and wait until routes lead there."""
        for address in self.addresses.values():
            self.ask(
                address,
                UpdateAndCreateTopic(topic=topic, read_queue_nums=queues, write_queue_nums=queues, perm=READ_AND_WRITE),
            )
        wait_until(
            lambda: self._routed(topic) == set(self.addresses), within_s=60, what=f"a route to {topic} on all brokers"
        )
        return topic

    def kill(self, broker: str) -> None:
        """End a broker as a crash would."""
        self.programs[broker].kill()

    def pause(self, broker: str) -> None:
        """Let a broker hang: connections stay open, nobody answers."""
        self.programs[broker].pause()

    def resume(self, broker: str) -> None:
        self.programs[broker].resume()

    def stop(self, broker: str) -> None:
        """Stop a broker in order, which takes it up to 18 s."""
        self.programs[broker].stop(60)

    def restart(self, broker: str) -> None:
        """Start a broker that ended, on what it had stored, and wait until clients find it."""
        self._start_broker(broker)
        self._wait_for([broker])

    # ---- up and down ----

    def start(self) -> None:
        """Start all; returns when the NameServer knows every broker."""
        (self.folder / "namesrv.conf").write_text(f"listenPort={self.port}\nbindAddress={LOOPBACK}\n")
        self._java("namesrv", "96m", "org.apache.rocketmq.namesrv.NamesrvStartup", self.folder / "namesrv.conf")
        self._wait_for_port("namesrv", self.port)
        for broker in self.addresses:
            self._start_broker(broker)
        self._wait_for(list(self.addresses))

    def end(self) -> None:
        """End all that runs, at once."""
        for program in self.programs.values():
            program.kill()

    def _start_broker(self, broker: str) -> None:
        store = self.stores / f"store-{broker}"
        own = {
            "brokerName": broker,
            "listenPort": self.addresses[broker].rpartition(":")[2],
            "namesrvAddr": self.namesrv,
            "storePathRootDir": str(store),
            "storePathCommitLog": str(store / "commitlog"),
        }
        settings = {**SETTINGS, **own, **self._access(broker), **self.setup.settings}
        configuration = self.folder / f"{broker}.conf"
        configuration.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self._java(broker, "384m", "org.apache.rocketmq.broker.BrokerStartup", configuration)

    def _access(self, broker: str) -> dict[str, str]:
        keys = self.setup.acl
        if keys is None:
            return {}
        if self.setup.release.startswith("4."):
            account = f"- accessKey: {keys.access_key}\n  secretKey: {keys.secret_key}\n  admin: true\n"
            path = self.folder / broker / "conf" / "plain_acl.yml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("accounts:\n" + account)
            return {"aclEnable": "true"}
        who, what = "org.apache.rocketmq.auth.authentication", "org.apache.rocketmq.auth.authorization"
        user = {"username": keys.access_key, "password": keys.secret_key}
        inner = {"accessKey": keys.access_key, "secretKey": keys.secret_key}
        return {
            "authenticationEnabled": "true",
            "authenticationProvider": f"{who}.provider.DefaultAuthenticationProvider",
            "authenticationMetadataProvider": f"{who}.provider.LocalAuthenticationMetadataProvider",
            "initAuthenticationUser": json.dumps(user),
            "innerClientAuthenticationCredentials": json.dumps(inner),
            "authorizationEnabled": "true",
            "authorizationProvider": f"{what}.provider.DefaultAuthorizationProvider",
            "authorizationMetadataProvider": f"{what}.provider.LocalAuthorizationMetadataProvider",
        }

    def _java(self, name: str, heap: str, main: str, configuration: Path) -> None:
        home = self.folder / name
        (home / "conf").mkdir(parents=True, exist_ok=True)
        for part in ("broker", "namesrv"):
            (home / "conf" / f"logback_{part}.xml").write_text(LOGBACK.format(name=part))
        tls = self.setup.tls
        speaking = (*tls.server_options(self.setup.tls_mode), *tls.client_options()) if tls else ()
        locks = f"-Drocketmq.broker.rebalance.lockMaxLiveTime={self.setup.lock_expires_s * 1_000}"
        memory, homes = [f"-Xms{heap}", f"-Xmx{heap}"], [f"-Duser.home={home}", f"-Drocketmq.home.dir={home}"]
        options = [*JVM, locks, *memory, *homes, *speaking]
        command = maven.program("servers", self.setup.release).command(main, *options)
        program = Program(name, [*command, "-c", str(configuration)], home / "stdout.log")
        self.programs[name] = program
        (self.folder / f"{name}.pid").write_text(str(program.pid))

    def _wait_for(self, brokers: list[str]) -> None:
        for broker in brokers:
            self._wait_for_port(broker, int(self.addresses[broker].rpartition(":")[2]))
        self._wait(
            lambda: self._registered() >= set(brokers), brokers, what=f"{brokers} at the NameServer {self.namesrv}"
        )

    def _wait_for_port(self, name: str, port: int) -> None:
        self._wait(lambda: accepts(port), [name], what=f"{name} on port {port}")

    def _wait(self, holds: Callable[[], bool], names: list[str], *, what: str) -> None:
        """Wait for something that programs do; one may end after its first port was open, where its second is taken."""
        programs = [self.programs[name] for name in names]
        try:
            wait_until(
                lambda: holds() or not all(program.runs for program in programs), within_s=UP_WITHIN_S, what=what
            )
        except TooLate as late:
            for name in names:
                late.add_note(self._last_words(name))
            raise
        for name in names:
            assert self.programs[name].runs, f"{name} ended while it started. {self._last_words(name)}"

    def _last_words(self, name: str) -> str:
        logs = (self.folder / name / "logs" / "rocketmqlogs").glob("*.log")
        ends = [f"{log.name}: {log.read_text(errors='replace')[-TAIL_CHARACTERS:]}" for log in logs]
        return "\n".join([self.programs[name].last_words(), *ends])

    def _registered(self) -> set[str]:
        return set(self.ask(self.namesrv, GetBrokerClusterInfo()).body.broker_addr_table)

    def _routed(self, topic: str) -> set[str]:
        with suppress(asking.Refusal):
            return {
                queue.broker_name for queue in self.ask(self.namesrv, GetRouteInfoByTopic(topic=topic)).body.queue_datas
            }
        return set()


@contextmanager
def running(setup: Setup) -> Iterator[RealCluster]:
    """Start a cluster, and end it; only two run on this machine at a time. What it logged stays if the block fails.

    One that does not come up is begun once more, with other ports: it is not what a test is about.

    Raises:
        Unavailable: there is no Java, or the release cannot be fetched.
    """
    maven.program("servers", setup.release)
    with _turn(), ExitStack() as stack:
        try:
            cluster = stack.enter_context(_up(setup))
        except (TooLate, AssertionError) as late:
            sys.stderr.write("\n".join([f"begun once more: {late}", *getattr(late, "__notes__", ())]) + "\n")
            cluster = stack.enter_context(_up(setup))
        yield cluster


@contextmanager
def _up(setup: Setup) -> Iterator[RealCluster]:
    folder = KEPT / f"{setup.release}-{os.getpid()}-{time.time_ns() // 1_000_000}"
    with _owned(folder):
        cluster = RealCluster(setup, folder)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.end()
            for broker in setup.brokers:  # messages are of no use to anybody
                shutil.rmtree(cluster.stores / f"store-{broker}", ignore_errors=True)
            if cluster.stores != folder:
                shutil.rmtree(cluster.stores, ignore_errors=True)
        if not (folder / "keep").exists():
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _turn() -> Iterator[None]:
    KEPT.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        locks = [stack.enter_context((KEPT / f"lock-{place}").open("a")) for place in range(AT_A_TIME)]
        end = time.monotonic() + TURN_WITHIN_S
        while not any(_has_taken(lock) for lock in locks):
            if time.monotonic() > end:
                raise TooLate(f"other test runs have had {AT_A_TIME} clusters on this machine for {TURN_WITHIN_S} s")
            time.sleep(LOOK_EVERY_S)
        _end_left_over()
        yield


@contextmanager
def _owned(folder: Path) -> Iterator[None]:
    """Make a folder for a cluster, and say for as long as it runs that it is not left over."""
    folder.mkdir(parents=True)
    with (folder / OWNER).open("a") as lock:
        if not _has_taken(lock):
            raise RuntimeError(f"somebody took the cluster of {folder.name} for one left over")
        yield


def _has_taken(lock: TextIO) -> bool:
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _end_left_over() -> None:
    """End what a test run left that was itself killed: what runs in a folder that nobody owns."""
    for written in KEPT.glob("*/*.pid"):
        with (written.parent / OWNER).open("a") as lock:
            if not _has_taken(lock) or not written.exists():  # another run that begins now has ended it
                continue
            pid = int(written.read_text() or 0)
            with suppress(OSError):
                if written.parent.name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
            written.unlink()
        shutil.rmtree(IN_MEMORY / f"evenkeel-{written.parent.name}", ignore_errors=True)
