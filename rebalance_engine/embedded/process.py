"""A machine behind a port: what every server of the cluster is.

An answer that the machine asks of a client (:class:`~.core.Ask`) is waited for here, and heard by the machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from rebalance_engine.effects import Address, Answered, Heard, Unanswered
from rebalance_engine.embedded.core import Ask, HandOn
from rebalance_engine.membership.profiles import is_since
from rebalance_engine.network.channels import Channels
from rebalance_engine.network.driver import Driver
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.tls import ServerTls
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.acl import ACCESS_KEY, Credentials, is_signed
from rebalance_engine.remoting.codes import Language, ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.versions import version_number

OnFact = Callable[[object], None]

AUTHENTICATION_SINCE = (5, 3, 0)


@dataclass(frozen=True, slots=True)
class Refusals:
    """How a broker refuses who asks: nobody, somebody unknown, a forger; ``{key}`` is the access key that he gave."""

    code: ResponseCode
    nameless: str
    unknown: str
    forged: str


# An AclException ends a request as any other exception does. Java names the line that threw it, too.
OF_ACL = Refusals(
    ResponseCode.SYSTEM_ERROR,
    "org.apache.rocketmq.acl.common.AclException: No accessKey is configured",
    "org.apache.rocketmq.acl.common.AclException: No acl config for {key}",
    "org.apache.rocketmq.acl.common.AclException: Check signature failed for accessKey={key}",
)
OF_AUTHENTICATION = Refusals(
    ResponseCode.NO_PERMISSION, "username cannot be null.", "User:{key} is not found.", "check signature failed."
)


class Process:
    """A listener with a machine behind it.

    Args:
        acl: with which requests must be signed, if at all.
    """

    def __init__(self, version: str, *, tls: ServerTls | None = None, acl: Credentials | None = None) -> None:
        number = version_number(version)
        self.network = NetworkSettings(language=Language.JAVA, version=number)
        self.channels = Channels(self.network)
        self.listener = Listener(self.network, self.channels, tls=tls)
        self.transport = Transport(self.network, self.channels)
        self.driver: Driver | None = None
        self._asking: set[asyncio.Task[None]] = set()
        if acl is not None:
            refusals = OF_AUTHENTICATION if is_since(version, AUTHENTICATION_SINCE) else OF_ACL
            self.channels.gate = partial(_refused, refusals, acl)

    async def listen(self, host: str, ports: Iterable[int]) -> Address:
        """Listen on the first port that is free; give the address."""
        failure: OSError | None = None
        for port in ports:
            try:
                return await self.listener.start(host, port)
            except OSError as error:
                failure = error
        raise OSError(f"no port to listen on at {host}: {failure or 'there are none above'}")

    def drive(self, react: Callable[[Heard, int], Iterable[object]], on_fact: OnFact) -> Driver:
        """Let a machine hear what comes."""
        self.driver = Driver(react, self.transport, doing={Ask: self._ask, HandOn: self._hand_on}, on_fact=on_fact)
        return self.driver

    def _ask(self, ask: Ask) -> None:
        task = asyncio.create_task(self._relay(ask), name=f"ask channel {ask.channel}")
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _relay(self, ask: Ask) -> None:
        assert self.driver is not None
        heard: Heard
        try:
            asked = self.channels.call if ask.unread else self.channels.ask
            heard = Answered(token=ask.token, response=await asked(ask.channel, ask.request, ask.timeout_ms))
        except NoAnswer as error:
            heard = Unanswered(token=ask.token, failure=error.failure)
        except BrokenContent as error:
            refused = Refused(code=ResponseCode.SYSTEM_ERROR, remark=f"the client's answer cannot be read: {error}")
            heard = Answered(token=ask.token, response=refused)
        self.driver.hear(heard)

    def _hand_on(self, answer: HandOn) -> None:
        self.channels.hand_on(answer.channel, answer.token, answer.answer)

    async def close(self) -> None:
        """Hear no more, and close all connections."""
        if self.driver is not None:
            await self.driver.close()
        for task in tuple(self._asking):
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
        await self.listener.close()
        await self.transport.close()


def _refused(refusals: Refusals, acl: Credentials, command: Command) -> Refused | None:
    """Refuse who is not who he has to be (``PlainPermissionManager``, ``DefaultAuthenticationHandler``)."""
    key = (command.ext_fields or {}).get(ACCESS_KEY)
    if key == acl.access_key and is_signed(command, acl.secret_key):
        return None
    words = refusals.nameless if not key else refusals.forged if key == acl.access_key else refusals.unknown
    return Refused(code=refusals.code, remark=words.replace("{key}", key or ""))
