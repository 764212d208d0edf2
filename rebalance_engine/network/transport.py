"""The calling side: one connection for each address, opened when it is first needed, and again when it was lost.

Membership is tied to a connection, so all requests of a process to one broker share one. Those that come while it is
being opened wait for the same attempt. The VIP channel (port - 2) is not used: it would be a second connection, and
serves no pulls.

Source: ``remoting/.../netty/NettyRemotingClient.java`` (``channelTables``, ``createChannel``).
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

from rebalance_engine.effects import Address, Failure
from rebalance_engine.network.channels import Channels
from rebalance_engine.network.link import Link, NoAnswer
from rebalance_engine.network.rewriting import reachable
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)
TIMEOUT_MS = 3_000  # ``ClientConfig.mqClientApiTimeout``


@dataclass(slots=True)
class _Failing:
    """An address that could not be reached lately: how often in a row, and when the next dial may begin."""

    times: int = 0
    not_before: float = 0.0


class Transport:
    """All connections that a process opens.

    Args:
        channels: the table that they go into; by default one of their own.

    Raises:
        OSError: a file of the TLS settings cannot be read, or is not what it should be.
    """

    def __init__(self, settings: NetworkSettings | None = None, channels: Channels | None = None) -> None:
        self.settings = settings or NetworkSettings()
        self.channels = channels if channels is not None else Channels(self.settings)
        self._tls = self.settings.tls.context() if self.settings.tls is not None else None
        self._links: dict[Address, Link] = {}
        self._dials: dict[Address, asyncio.Task[Link | str]] = {}
        self._failing: dict[Address, _Failing] = {}
        self._is_closed = False

    async def request(self, address: Address, request: Request[R], timeout_ms: int = TIMEOUT_MS) -> R | Refused:
        """Ask, and wait for the answer; a refusal is one. The timeout covers the dial.

        Raises:
            NoAnswer: none came: no connection, none in time, or the connection broke.
            BrokenContent: it came, and is not what it should be.
            LocalProtocolError: no peer would take the request.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_ms / 1000
        link = await self._open_link(address, timeout_ms / 1000)
        answer = await link.ask(request, max(0.0, deadline - loop.time()))
        if _says_go_away(answer):
            self._retire(address, link)  # the server is stopping and has not looked at the request
            link = await self._open_link(address, max(0.0, deadline - loop.time()))
            answer = await link.ask(request, max(0.0, deadline - loop.time()))
            if _says_go_away(answer):
                raise NoAnswer(Failure.CLOSED, address, "it said GO_AWAY on two connections, one after the other")
        return answer

    def _retire(self, address: Address, link: Link) -> None:
        """Send nothing more there; a long poll may still be answered, as in ``ChannelWrapper``."""
        if self._links.get(address) is link:
            del self._links[address]
        link.retire()

    async def oneway(self, address: Address, request: Request[Response], timeout_ms: int = TIMEOUT_MS) -> None:
        """Send a request that nobody answers; whether it arrives is not known.

        Raises:
            NoAnswer: it was not sent: no connection in time, or too much waits in it.
            LocalProtocolError: no peer would take the request.
        """
        link = await self._open_link(address, timeout_ms / 1000)
        await link.tell(request, timeout_ms / 1000)

    async def close(self) -> None:
        """Close all connections and give up all dials; afterwards every request fails."""
        self._is_closed = True
        dials = list(self._dials.values())
        for dial in dials:
            dial.cancel()
        await asyncio.gather(*dials, return_exceptions=True)
        await self.channels.close_all([link for link in self.channels if link.is_ours])
        self._links.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ---- dials ----

    async def _open_link(self, address: Address, timeout_s: float) -> Link:
        link = self._links.get(address)
        if link is not None and link.is_open:
            return link
        if self._is_closed:
            raise NoAnswer(Failure.NOT_CONNECTED, address, "this process has closed its connections")
        dial = self._dials.get(address)
        if dial is None:
            dial = asyncio.create_task(self._dial(address), name=f"dial {address}")
            self._dials[address] = dial
            dial.add_done_callback(lambda _: self._dials.pop(address, None))
        await asyncio.wait((dial,), timeout=timeout_s)
        if not dial.done():
            raise NoAnswer(Failure.NOT_CONNECTED, address, f"still trying after {timeout_s:g} s")
        found = "this process has closed its connections" if dial.cancelled() else dial.result()
        if isinstance(found, str):
            raise NoAnswer(Failure.NOT_CONNECTED, address, found)
        return found

    async def _dial(self, address: Address) -> Link | str:
        """Open a connection, or say why not. After failures it waits a while first."""
        loop = asyncio.get_running_loop()
        failing = self._failing.setdefault(address, _Failing())
        await asyncio.sleep(failing.not_before - loop.time())
        found = await self._connect(address)
        if isinstance(found, Link):
            self._links[address] = found
            del self._failing[address]
        else:
            wait_s = min(self.settings.redial_first_s * 2**failing.times, self.settings.redial_most_s)
            failing.times = min(failing.times + 1, 30)
            failing.not_before = loop.time() + wait_s
            logger.info("%s cannot be reached: %s", address, found)
        return found

    async def _connect(self, address: Address) -> Link | str:
        settings = self.settings
        try:
            host, port = reachable(address, settings.rewrite)
            async with asyncio.timeout(settings.connect_timeout_s):
                _, link = await asyncio.get_running_loop().create_connection(
                    lambda: Link(self.channels, settings, address), host, port, ssl=self._tls
                )
        except TimeoutError:
            return f"no connection within {settings.connect_timeout_s:g} s"
        except ssl.SSLCertVerificationError as error:
            return f"TLS failed: its certificate is not trusted: {error}"
        except ssl.SSLError as error:
            return f"TLS failed: {error}"
        except (OSError, ValueError) as error:
            return str(error) or type(error).__name__
        return link


def _says_go_away(answer: Response) -> bool:
    return isinstance(answer, Refused) and answer.code == ResponseCode.GO_AWAY
