"""The open links of one process, by channel: what its machine hears of them, and how it answers.

A process that calls and is called has one table for both, so that a channel number means one connection.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import TypeVar

from rebalance_engine.effects import Channel, Closed, Failure, Opened, Received
from rebalance_engine.network.link import Link, NoAnswer
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.remoting.codec import decode, encode_response
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)
OfChannel = Opened | Closed | Received
Gate = Callable[[Command], Refused | None]


class Channels:
    """All links of a process.

    Attributes:
        on_heard: is told what happens on any of them. Until somebody sets it, requests are refused as not supported.
        gate: refuses requests of clients before they are read (``Listener`` sets it).
    """

    def __init__(self, settings: NetworkSettings) -> None:
        self.settings = settings
        self.on_heard: Callable[[OfChannel], None] = self._refuse
        self.gate: Gate | None = None
        self._links: dict[Channel, Link] = {}
        self._numbers: Iterator[Channel] = count(1)

    def __contains__(self, channel: object) -> bool:
        return channel in self._links

    def __iter__(self) -> Iterator[Link]:
        return iter(tuple(self._links.values()))

    def __len__(self) -> int:
        return len(self._links)

    # ---- what the machine asks for ----

    def respond(self, channel: Channel, token: int, response: Response) -> bool:
        """Answer a request; False if its connection is gone."""
        link = self._links.get(channel)
        if link is None:
            return False
        settings = self.settings
        return link.send(encode_response(response, opaque=token, language=settings.language, version=settings.version))

    def push(self, channel: Channel, request: Request[Response]) -> bool:
        """Send a one-way request; False if the connection is gone."""
        link = self._links.get(channel)
        return link is not None and link.push(request)

    async def ask(self, channel: Channel, request: Request[R], timeout_ms: int) -> R | Refused:
        """Ask whoever is at the other end of a channel, as a broker asks its clients (307).

        Raises:
            NoAnswer: none came.
            BrokenContent: it came, and is not what it should be.
        """
        return await self._open(channel).ask(request, timeout_ms / 1000)

    async def call(self, channel: Channel, request: Request[Response], timeout_ms: int) -> Command:
        """Ask likewise, and give the answer as it came, unread.

        Raises:
            NoAnswer: none came.
        """
        return await self._open(channel).call(request, timeout_ms / 1000)

    def hand_on(self, channel: Channel, token: int, answer: Command) -> bool:
        """Answer a request with what somebody else answered, all of it; False if its connection is gone.

        Only the number is changed: language, version, remark and header fields stay those of who answered, as in
        ``NettyRemotingAbstract.writeResponse``.
        """
        link = self._links.get(channel)
        return link is not None and link.send(replace(answer, opaque=token))

    def _open(self, channel: Channel) -> Link:
        link = self._links.get(channel)
        if link is None:
            raise NoAnswer(Failure.CLOSED, f"channel {channel}", "it is not open")
        return link

    def close(self, channel: Channel) -> None:
        """Close a channel, after what is queued is written."""
        if (link := self._links.get(channel)) is not None:
            link.end()

    async def close_all(self, links: list[Link] | None = None) -> None:
        """Close these links, or all, and wait until they are; those that cannot write what is queued are cut off."""
        closing = list(self) if links is None else links
        for link in closing:
            link.end()
        if closing:
            futures = [link.closed for link in closing]
            _, late = await asyncio.wait(futures, timeout=self.settings.close_timeout_s)
            for link in closing:
                if link.closed in late:
                    link.abort()
            await asyncio.wait(futures)

    # ---- what the links say ----

    def link_opened(self, link: Link) -> Channel:
        """Number a link that is open."""
        number = next(self._numbers)
        self._links[number] = link
        self.on_heard(Opened(channel=number, address=link.address))
        return number

    def link_closed(self, link: Link) -> None:
        """Forget a link."""
        if self._links.pop(link.number, None) is not None:
            self.on_heard(Closed(channel=link.number))

    def link_heard(self, link: Link, command: Command) -> None:
        """Read what a peer asks, and hand it on; what cannot be read is refused, and the connection goes on."""
        token = None if command.is_oneway else command.opaque
        refused = self.gate(command) if self.gate is not None and not link.is_ours else None
        try:
            request = decode(command)
        except BrokenContent as error:
            logger.warning("channel %s: request of code %s cannot be read: %s", link.number, command.code, error)
            refused = refused or Refused(code=ResponseCode.SYSTEM_ERROR, remark=f"the request cannot be read: {error}")
        if refused is not None:
            if token is not None:
                self.respond(link.number, token, refused)
            return
        self.on_heard(
            Received(
                channel=link.number, request=request, token=token, language=command.language, version=command.version
            )
        )

    def _refuse(self, heard: OfChannel) -> None:
        if isinstance(heard, Received) and heard.token is not None:
            remark = "this process answers no requests"
            refused = Refused(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
            self.respond(heard.channel, heard.token, refused)
