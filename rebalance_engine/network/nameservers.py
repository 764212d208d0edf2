"""The NameServers of a cluster: one is asked, and another when that one does not answer.

They do not talk to each other, so their answers can differ for a while; whoever must know asks each.

Source: ``remoting/.../netty/NettyRemotingClient.java`` (``getAndCreateNameserverChannel``): Java too stays with the one
that answered, and goes round from there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from rebalance_engine.effects import Address
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.rewriting import name_servers_of

logger = logging.getLogger(__name__)

T = TypeVar("T")


class NameServers:
    """The NameServers of a cluster.

    Args:
        addresses: ``host:port;host:port``, or a sequence of ``host:port``.

    Raises:
        TypeError: it is something else.
        ValueError: an address is none, or there is none.
    """

    def __init__(self, addresses: str | Sequence[Address]) -> None:
        self.addresses = name_servers_of(addresses)
        self._chosen = 0

    @property
    def chosen(self) -> Address:
        """The one that is asked next."""
        return self.addresses[self._chosen]

    async def ask(self, asking: Callable[[Address], Awaitable[T]]) -> T:
        """Ask the chosen one; if no answer comes, the others in turn, each once. A refusal is an answer.

        Raises:
            NoAnswer: none answered; the error of the last one, with what happened at the others.
        """
        said: list[str] = []
        begun = self._chosen
        for step in range(len(self.addresses)):
            number = (begun + step) % len(self.addresses)
            try:
                answer = await asking(self.addresses[number])
            except NoAnswer as error:
                said.append(str(error))
                last = error
                logger.info("NameServer %s does not answer: %s", self.addresses[number], error)
            else:
                self._chosen = number
                return answer
        raise NoAnswer(last.failure, ";".join(self.addresses), "; ".join(said)) from last

    async def ask_each(self, asking: Callable[[Address], Awaitable[T]]) -> dict[Address, T | NoAnswer]:
        """Ask every one, at the same time; where none answers, the error stands in the place of the answer."""

        async def one(address: Address) -> T | NoAnswer:
            try:
                return await asking(address)
            except NoAnswer as error:
                return error

        answers = await asyncio.gather(*map(one, self.addresses))
        return dict(zip(self.addresses, answers, strict=True))
