"""The embedded cluster, with what tests ask of a real one; it runs in a thread of the test's process."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rebalance_engine.embedded.cluster import Cluster, ClusterSettings
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.network.tls import ServerTls, TlsMode
from rebalance_engine.remoting.requests.contract import Request, Response
from tests.cluster import asking
from tests.cluster.contract import Setup
from tests.cluster.rocketmq import KEPT, SETTINGS

T = TypeVar("T")
R = TypeVar("R", bound=Response)
DONE_WITHIN_S = 30
HANGS_MS = 600_000  # longer than anybody waits


class EmbeddedCluster:
    """A running embedded cluster; see :func:`running_embedded`."""

    name = "embedded"

    def __init__(self, setup: Setup, folder: Path) -> None:
        self.setup = setup
        self.folder = folder
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="embedded cluster")
        tls = setup.tls
        self._cluster = Cluster(
            ClusterSettings(
                brokers=len(setup.brokers),
                directory=folder / "stores",
                version=setup.release,
                broker=EmbeddedSettings(
                    membership=BrokerSettings(lock_expires_after_ms=setup.lock_expires_s * 1_000),
                    delay_levels=SETTINGS["messageDelayLevel"],
                    checks_transactions_every_ms=int(SETTINGS["transactionCheckInterval"]),
                    transaction_timeout_ms=int(SETTINGS["transactionTimeOut"]),
                ),
                acl=setup.acl,
                tls=ServerTls(certificate=tls.certificate, key=tls.key, mode=TlsMode(setup.tls_mode)) if tls else None,
            )
        )

    @property
    def java(self) -> str:
        """Give the release of the Java clients that belong to it."""
        return self.setup.release

    @property
    def namesrv(self) -> str:
        return self._cluster.namesrv

    @property
    def addresses(self) -> dict[str, str]:
        return {name: broker.address for name, broker in self._cluster.brokers.items()}

    # ---- what tests do ----

    def ask(self, address: str, request: Request[R]) -> R:
        """Ask a server something, as an operator would."""
        return asking.ask(address, request, self.setup.acl, self.setup.tls.trusting() if self.setup.tls else None)

    def create_topic(self, topic: str, queues: int) -> str:
        """Make a topic with so many queues on each broker; routes lead there at once."""
        self._do(self._put_topic(topic, queues))
        return topic

    async def _put_topic(self, topic: str, queues: int) -> None:
        self._cluster.put_topic(topic, queues)

    def kill(self, broker: str) -> None:
        """End a broker as a crash would."""
        self._do(self._cluster.broker(broker).kill(keeps_route=True))

    def stop(self, broker: str) -> None:
        """Stop a broker in order."""
        self._do(self._cluster.broker(broker).stop())

    def restart(self, broker: str) -> None:
        """Start a broker that ended, on what it had stored."""
        self._do(self._cluster.broker(broker).start())

    def pause(self, broker: str) -> None:
        """Let a broker hang: connections stay open, nobody answers."""
        self._loop.call_soon_threadsafe(self._cluster.broker(broker).be_slow, HANGS_MS)

    def resume(self, broker: str) -> None:
        """Let it answer all that waits."""
        self._loop.call_soon_threadsafe(self._cluster.broker(broker).be_slow, 0)

    # ---- up and down ----

    def start(self) -> None:
        self._thread.start()
        self._do(self._cluster.__aenter__())

    def end(self) -> None:
        """Stop everything, and the thread too."""
        try:
            self._do(self._cluster.__aexit__(None, None, None))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(DONE_WITHIN_S)
            self._loop.close()

    def _do(self, what: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(DONE_WITHIN_S)


@contextmanager
def running_embedded(setup: Setup) -> Iterator[EmbeddedCluster]:
    """Start an embedded cluster that presents a release, and end it. What clients logged stays if the block fails."""
    folder = KEPT / f"embedded-{setup.release}-{time.time_ns() // 1_000_000}"
    folder.mkdir(parents=True)
    cluster = EmbeddedCluster(setup, folder)
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.end()
        shutil.rmtree(folder / "stores", ignore_errors=True)
    if not (folder / "keep").exists():
        shutil.rmtree(folder, ignore_errors=True)
