"""The called side: it accepts connections, and finds out by their first byte whether they are TLS.

Source: ``remoting/.../netty/NettyRemotingServer.java`` (``HandshakeHandler``, ``TlsModeHandler``).
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Mapping
from functools import partial
from types import TracebackType
from typing import Self

from rebalance_engine.effects import Address
from rebalance_engine.network.channels import Channels
from rebalance_engine.network.link import Link
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.tls import HANDSHAKE_RECORD, ServerTls, TlsMode
from rebalance_engine.remoting.acl import ACCESS_KEY, is_signed
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.requests.contract import Refused

logger = logging.getLogger(__name__)

BACKLOG = 1024  # ``NettyServerConfig.serverSocketBacklog``
OUT_OF_FILES_WAIT_S = 0.5  # when the operating system has no more connections to give


class Listener:
    """One port on which a process is called.

    Args:
        channels: the table that the connections go into; by default one of their own.
        tls: who we are, if connections may be TLS.
        accounts: access key -> secret key of who may ask; whoever signs with none is refused. None: anybody may.

    Raises:
        OSError: a file of ``tls`` cannot be read, or is not what it should be.
    """

    def __init__(
        self,
        settings: NetworkSettings | None = None,
        channels: Channels | None = None,
        *,
        tls: ServerTls | None = None,
        accounts: Mapping[str, str] | None = None,
    ) -> None:
        self.settings = settings or NetworkSettings()
        self.channels = channels if channels is not None else Channels(self.settings)
        self._mode = tls.mode if tls is not None else TlsMode.DISABLED
        self._tls = tls.context() if tls is not None else None
        if accounts is not None:
            self.channels.gate = partial(_check_signature, accounts)
        self._socket: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._greeting: set[asyncio.Task[None]] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Listen; give the address. Port 0 takes any free one.

        Raises:
            OSError: nobody can listen there.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=BACKLOG)
        self._socket.setblocking(False)
        self._accepting = asyncio.create_task(self._accept(self._socket), name=f"accept {host}:{port}")
        name = f"[{host}]" if ":" in host else host
        return f"{name}:{self._socket.getsockname()[1]}"

    async def close(self) -> None:
        """Stop listening and close all connections that came in."""
        tasks = [task for task in (self._accepting, *self._greeting) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._socket is not None:
            self._socket.close()
        await self.channels.close_all([link for link in self.channels if not link.is_ours])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ---- a connection that comes in ----

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                sock, address = await loop.sock_accept(listening)
            except OSError:  # no more files, or the caller has hung up already
                logger.exception("a connection could not be accepted")
                await asyncio.sleep(OUT_OF_FILES_WAIT_S)
                continue
            if len(self.channels) + len(self._greeting) >= self.settings.max_connections:
                logger.warning("%s is turned away: %s connections are open", address, self.settings.max_connections)
                sock.close()
                continue
            greeting = asyncio.create_task(self._greet(sock, address), name=f"greet {address}")
            self._greeting.add(greeting)
            greeting.add_done_callback(self._greeting.discard)

    async def _greet(self, sock: socket.socket, address: object) -> None:
        """Make a link of a connection, if its first byte is one that we take."""
        try:
            tls = await self._choose(sock)
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: Link(self.channels, self.settings),
                sock,
                ssl=tls,
                ssl_handshake_timeout=self.settings.connect_timeout_s if tls is not None else None,
            )
        except (OSError, TimeoutError) as error:
            logger.warning("the connection of %s was refused: %s", address, _why(error))
            sock.close()
        except asyncio.CancelledError:
            sock.close()
            raise

    async def _choose(self, sock: socket.socket) -> ssl.SSLContext | None:
        if self._mode is TlsMode.DISABLED:
            return None
        first = await self._peek(sock)
        is_tls = first == HANDSHAKE_RECORD
        if not is_tls and self._mode is TlsMode.ENFORCING:
            raise ConnectionError(f"its first byte is {first:#04x}; only TLS is taken here, which begins with 0x16")
        return self._tls if is_tls else None

    async def _peek(self, sock: socket.socket) -> int:
        """Look at the first byte and leave it there."""
        loop = asyncio.get_running_loop()
        sock.setblocking(False)
        readable: asyncio.Future[None] = loop.create_future()
        loop.add_reader(sock, _set, readable)
        try:
            async with asyncio.timeout(self.settings.idle_after_s):
                await readable
        finally:
            loop.remove_reader(sock)
        first = sock.recv(1, socket.MSG_PEEK)
        if not first:
            raise ConnectionError("it was closed before its first byte")
        return first[0]


def _check_signature(accounts: Mapping[str, str], command: Command) -> Refused | None:
    """Refuse who does not prove to be one of them, as authentication of 5.3 does; 4.x gives SYSTEM_ERROR instead."""
    access_key = (command.ext_fields or {}).get(ACCESS_KEY)
    if access_key is None:
        remark = "the request is not signed; an AccessKey is needed here"
    elif access_key not in accounts:
        remark = f"no account has the AccessKey {access_key!r}"
    elif not is_signed(command, accounts[access_key]):
        remark = f"the signature of {access_key!r} is wrong"
    else:
        return None
    return Refused(code=ResponseCode.NO_PERMISSION, remark=remark)


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _why(error: OSError) -> str:
    """Say why a connection did not come about; asyncio tells of a caller who hung up without a word."""
    if isinstance(error, ConnectionResetError) and not str(error):
        return "the caller hung up before the TLS handshake was over; he may not trust our certificate"
    return str(error) or type(error).__name__
