"""That a producer is there: brokers, and who looks at them, know it by its heartbeats, until it says good-bye.

Source: ``client/.../impl/factory/MQClientInstance.java`` (``sendHeartbeatToAllBroker``, ``unregisterProducer``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine

from rebalance_engine.effects import Address
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.process import Process
from rebalance_engine.remoting.bodies.clients import HeartbeatData, ProducerData
from rebalance_engine.remoting.errors import RemotingError
from rebalance_engine.remoting.requests.membership import HeartBeat, UnregisterClient

logger = logging.getLogger(__name__)

HEARTBEAT_MS = 30_000
HEARTBEAT_TIMEOUT_MS = 3_000
UNREGISTER_TIMEOUT_MS = 3_000


class Presence:
    """The presence of one producer at its brokers, from ``begin`` to ``end``.

    Args:
        process: its connections.
        masters: gives the brokers that it knows now.
        every_ms: how often each hears of it.
    """

    def __init__(
        self,
        process: Process,
        group: str,
        client_id: str,
        masters: Callable[[], Collection[Address]],
        every_ms: int = HEARTBEAT_MS,
    ) -> None:
        self._process = process
        self._group = group
        self._client_id = client_id
        self._masters = masters
        self._every_ms = every_ms
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        """Tell all brokers again and again."""
        self._spawn(self._beat())

    def greet(self, address: Address) -> None:
        """Tell one that has just been reached, if it is a broker."""
        if address in self._masters():
            self._spawn(self._tell(address))

    async def end(self) -> None:
        """Tell nobody any more, and say good-bye to all brokers, if there are connections yet."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._process.is_open:
            await asyncio.gather(*map(self._leave, self._masters()))

    def _spawn(self, telling: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(telling, name=f"heartbeat of the {self._process.name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._every_ms / 1_000)
            await asyncio.gather(*map(self._tell, self._masters()))  # one that hangs delays no other; Java's would

    async def _tell(self, address: Address) -> None:
        body = HeartbeatData(client_id=self._client_id, producer_data_set=(ProducerData(group_name=self._group),))
        request, complaints = HeartBeat(body=body), self._process.complaints
        try:
            answer = await self._process.driver.transport.request(address, request, HEARTBEAT_TIMEOUT_MS)
        except NoAnswer as error:
            complaints.unanswered(error)
        except RemotingError as error:
            complaints.garbled(address, request, error)
        else:
            complaints.answered(address, request, answer)

    async def _leave(self, address: Address) -> None:
        request = UnregisterClient(client_id=self._client_id, producer_group=self._group)
        try:
            await self._process.driver.transport.request(address, request, UNREGISTER_TIMEOUT_MS)
        except (NoAnswer, RemotingError) as error:
            logger.info("whether %s heard the good-bye is not known: %s", address, error)
