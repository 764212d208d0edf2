"""One client process on the network: its connections, the driver of its machine, what it states, and its end.

Consumers and producers are this with a machine and a way for the application around it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping

from rebalance_engine.effects import Heard
from rebalance_engine.events import Fact, QueueDropped
from rebalance_engine.network.complaints import Complaints
from rebalance_engine.network.driver import Driver, MachineBroke, React, Step
from rebalance_engine.network.facts import Facts, Following, OnFact
from rebalance_engine.network.reporter import Reporter
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport

logger = logging.getLogger(__name__)

Doing = Mapping[type, Callable[..., None]]
Reports = Callable[[Complaints], Reporter | None]


class Closed(Exception):
    """The consumer or producer is not running: it was not started, or it is closed."""


class Process:
    """Connections and driver, from ``open`` to ``close``.

    Args:
        name: for messages, such as ``consumer of group 'G'``.
        on_own_fact: is told each fact before anybody else.
        reporter: makes what reports the facts to a control room, if that is wanted.
        on_broke: is told when the machine cannot go on.
    """

    def __init__(
        self,
        name: str,
        *,
        network: NetworkSettings | None,
        on_fact: OnFact | None,
        on_own_fact: OnFact = lambda _: None,
        reporter: Reports = lambda _: None,
        on_broke: Callable[[MachineBroke], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.complaints = Complaints(name, time.monotonic)
        self.facts = Facts(on_fact)
        self._reporter = reporter(self.complaints)
        self._network = network or NetworkSettings()
        self._on_own_fact = on_own_fact
        self._on_broke = on_broke
        self._driver: Driver | None = None
        self._watch: asyncio.Task[None] | None = None
        self._broke: MachineBroke | None = None

    def open(self, react: React, doing: Doing, save: Callable[[str, str], None] | None = None) -> None:
        """Begin to drive a machine.

        Raises:
            OSError: a file of the TLS settings cannot be read, or is not what it should be.
        """

        def hear(heard: Heard, at: int) -> Iterable[object]:
            return react(heard, at)

        self._driver = Driver(
            hear,
            Transport(self._network),
            doing=doing,
            on_fact=self._tell,
            save=save,
            complaints=self.complaints,
        )
        if self._reporter is not None:
            self._reporter.start()
        self._watch = asyncio.get_running_loop().create_task(self._watch_over(self._driver), name=f"watch {self.name}")

    def _tell(self, fact: object) -> None:
        assert isinstance(fact, Fact)
        if isinstance(fact, QueueDropped):
            self.complaints.dropped(fact.queue)
        self._on_own_fact(fact)
        self.facts.tell(fact)
        if self._reporter is not None:
            self._reporter.put(fact)

    async def _watch_over(self, driver: Driver) -> None:
        try:
            await driver.run()
        except MachineBroke as error:
            self._broke = error
            self.facts.end()
            self._on_broke(error)

    # ---- while it is open ----

    @property
    def broke(self) -> MachineBroke | None:
        """Why the machine cannot go on."""
        if self._broke is None and self._driver is not None and self._driver.broke.done():
            self._broke = self._driver.broke.result()
        return self._broke

    @property
    def is_open(self) -> bool:
        """Whether its machine is driven."""
        return self._driver is not None and self.broke is None

    @property
    def driver(self) -> Driver:
        """What drives its machine.

        Raises:
            Closed: nothing does.
            MachineBroke: the machine cannot go on.
        """
        if self.broke is not None:
            raise self.broke
        if self._driver is None:
            raise Closed(f"the {self.name} is not running: it was not started, or it is closed")
        return self._driver

    def do(self, step: Step) -> None:
        """Let the machine do something, and carry out what it asks for.

        Raises:
            Closed, MachineBroke: it is not driven.
        """
        self.driver.do(step)

    def try_do(self, step: Step) -> None:
        """Do the same if the machine is still driven."""
        if self.is_open:
            self.driver.do(step)

    @property
    def now(self) -> int:
        """The time of the machine, in ms."""
        return self.driver.clock.now()

    def follow(self, most_kept: int) -> Following:
        """Follow what it states from now on."""
        return self.facts.follow(most_kept)

    async def until(self, event: asyncio.Event, timeout_s: float) -> bool:
        """Wait for something that the machine does, as long as it is driven; say whether it came in time."""
        waiter = asyncio.ensure_future(event.wait())
        watch = self._watch
        assert watch is not None, "it is not open"
        try:
            await asyncio.wait((waiter, watch), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiter.cancel()
            await asyncio.wait((waiter,))
        return event.is_set()

    # ---- its end ----

    async def abandon(self, *, keeps_connections: bool = False) -> None:
        """Drive the machine no more, without a word to anybody; and let the connections stand, if that is wanted."""
        if self._reporter is not None:
            await self._reporter.abandon()
            self._reporter = None
        if keeps_connections and self._driver is not None:
            await self._driver.close()
        else:
            await self.close()

    async def close(self) -> None:
        """Drive the machine no more, and close all connections."""
        driver, self._driver = self._driver, None
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        if driver is not None:
            await driver.close()
            await driver.transport.close()
        if self._reporter is not None:
            await self._reporter.close()
        self.facts.end()
