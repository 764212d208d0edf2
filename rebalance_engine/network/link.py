"""One TCP connection on the event loop: it feeds and drains a ``Connection``, and brings answers to who waits for them.

Both ends of a connection are the same. What the peer asks goes to the owner of the link; what becomes of it is not
known here. Everything a peer may cost is bounded: see ``NetworkSettings``.

Source: ``remoting/.../netty/NettyRemotingAbstract.java`` (``invokeImpl``, ``processResponseCommand``),
``NettyRemotingClient.java`` and ``NettyRemotingServer.java`` (idle states, ``closeChannel``).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Protocol, TypeVar, cast

from rebalance_engine.effects import Address, Channel, Failure
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.remoting.acl import sign
from rebalance_engine.remoting.calls import Calls
from rebalance_engine.remoting.codec import decode_response, encode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.connection import Connection, Ended
from rebalance_engine.remoting.frames import MAX_SENT
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)

# Linux: a peer whose machine is gone is found by TCP itself, after 30 s without acknowledgement or 60 s of silence.
_TCP_OPTIONS = {"TCP_USER_TIMEOUT": 30_000, "TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}

WRITE_AT_ONCE = 65_536  # bytes; as much as one write takes anyway


class NoAnswer(Exception):
    """No answer came to a request: why not, to whom it went, and what is known besides."""

    def __init__(self, failure: Failure, address: Address, detail: str = "") -> None:
        super().__init__(f"{address}: {failure.value}" + (f" ({detail})" if detail else ""))
        self.failure = failure
        self.address = address
        self.detail = detail


class LinkOwner(Protocol):
    """Who is told what happens on a link."""

    def link_opened(self, link: Link) -> Channel:
        """It is open; give it its number."""

    def link_heard(self, link: Link, command: Command) -> None:
        """The peer asks."""

    def link_closed(self, link: Link) -> None:
        """It is no more."""


class Link(asyncio.Protocol):
    """One connection.

    Args:
        address: whom we called, by the address that was advertised; None: we were called, and take the peer's.

    Attributes:
        number: its channel, once it is open.
        reason: why it ended, if there is something to say.
    """

    def __init__(self, owner: LinkOwner, settings: NetworkSettings, address: Address | None = None) -> None:
        self.settings = settings
        self.number: Channel = 0
        self.address: Address = address or ""
        self.is_ours = address is not None
        self.reason: str | None = None
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        longest = settings.max_received if self.is_ours else min(settings.max_received, MAX_SENT)
        self._connection = Connection(max_received=longest)
        self._calls: Calls[asyncio.Future[Command]] = Calls()
        self._transport: asyncio.Transport | None = None
        self._gates: list[asyncio.Future[None]] = []
        self._unwritten: list[bytes] = []
        self._unwritten_bytes = 0
        self._writing: asyncio.Handle | None = None
        self._is_handling = self._is_full = self._is_retired = False
        self._moved_at = self._received_at = self._loop.time()
        self._idle: asyncio.TimerHandle | None = None
        self.closed: asyncio.Future[None] = self._loop.create_future()

    @property
    def is_open(self) -> bool:
        """Whether something can be sent."""
        return self._transport is not None and not self._transport.is_closing() and self.reason is None

    @property
    def queued(self) -> int:
        """How many bytes wait because the peer does not read."""
        return self._unwritten_bytes + (self._transport.get_write_buffer_size() if self._transport is not None else 0)

    # ---- what the loop says ----

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        transport = cast("asyncio.Transport", transport)  # those of uvloop are no subclasses
        self._transport = transport
        transport.set_write_buffer_limits(high=self.settings.max_queued // 4)
        _set_options(transport)
        if not self.is_ours:
            self.address = _peer_address(transport)
        self._watch_idle()
        self.number = self._owner.link_opened(self)

    def data_received(self, data: bytes) -> None:
        """Feed what has arrived, and handle what it completes."""
        self._moved_at = self._received_at = self._loop.time()
        self._connection.receive_data(data)
        self._is_handling = True
        try:
            self._handle_events()
        finally:
            self._is_handling = False
            self._write()  # the answers to all that came together

    def eof_received(self) -> None:
        """Hear that nothing more will arrive; the transport closes itself then."""
        self._connection.receive_eof()
        self._handle_events()

    def connection_lost(self, exc: Exception | None) -> None:
        """End: nobody waits any more."""
        if exc is not None and self.reason is None:
            self.reason = str(exc) or type(exc).__name__
        for handle in (self._idle, self._writing):
            if handle is not None:
                handle.cancel()
        for answer in self._calls.finish_all():
            if not answer.done():
                answer.set_exception(self._failed(Failure.CLOSED))
        self._open_gates()
        self._owner.link_closed(self)
        self.closed.set_result(None)

    def pause_writing(self) -> None:
        """Let requests wait; and take no more from a client that does not read what it is answered."""
        self._is_full = True
        if not self.is_ours and self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Let them go on."""
        self._is_full = False
        self._moved_at = self._loop.time()
        if not self.is_ours and self._transport is not None:
            self._transport.resume_reading()
        self._open_gates()

    def _open_gates(self) -> None:
        gates, self._gates = self._gates, []
        for gate in gates:
            if not gate.done():
                gate.set_result(None)

    # ---- what came ----

    def _handle_events(self) -> None:
        for event in self._connection.events_received():
            if isinstance(event, Ended):
                self.end(str(event.error) if event.error else None)
            elif event.is_response:
                self._answer(event)
            else:
                self._owner.link_heard(self, event)

    def _answer(self, command: Command) -> None:
        answer = self._calls.finish(command.opaque)
        if answer is None or answer.done():
            logger.debug("channel %s: answer %s comes too late or to nothing", self.number, command.opaque)
        else:
            answer.set_result(command)

    # ---- what goes ----

    def send(self, command: Command) -> bool:
        """Write a command, unless the connection has ended. A peer for whom too much waits already is cut off.

        Raises:
            LocalProtocolError: no peer would take it.
        """
        transport = self._transport
        if transport is None or not self.is_open:
            return False
        waiting = self.queued
        if waiting > self.settings.max_queued:
            self.abort(f"{waiting} bytes wait for a peer that does not read; {self.settings.max_queued} may")
            return False
        self._connection.send(command)
        self._collect(self._connection.data_to_send())
        return True

    def _collect(self, data: list[bytes]) -> None:
        """Keep what is said until this turn of the loop is over, or until it is much: then it leaves by one call."""
        self._unwritten += data
        self._unwritten_bytes += sum(map(len, data))
        if self._unwritten_bytes >= min(WRITE_AT_ONCE, self.settings.max_queued // 4):
            self._write()
        elif self._writing is None and not self._is_handling:
            self._writing = self._loop.call_soon(self._write)

    def _write(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        data, self._unwritten, self._unwritten_bytes = self._unwritten, [], 0
        if not data or self._transport is None or self._transport.is_closing():
            return
        self._transport.write(data[0] if len(data) == 1 else b"".join(data))
        if not self._is_full:
            self._moved_at = self._loop.time()

    async def ask(self, request: Request[R], timeout_s: float) -> R | Refused:
        """Send a request and wait for its answer; a refusal is one.

        Raises:
            NoAnswer: none came.
            BrokenContent: it came, and is not what it should be.
            LocalProtocolError: no peer would take the request.
        """
        command = await self.call(request, timeout_s)
        if len(command.body) > self.settings.offload_above:
            return await asyncio.to_thread(decode_response, type(request), command)
        return decode_response(type(request), command)

    async def call(self, request: Request[Response], timeout_s: float) -> Command:
        """Send a request and wait for the frame that answers it, whatever that says.

        Raises:
            NoAnswer: none came.
            LocalProtocolError: no peer would take the request.
        """
        answer: asyncio.Future[Command] = self._loop.create_future()
        opaque = self._calls.begin(answer)
        timer = self._loop.call_later(timeout_s, self._time_out, answer, self._loop.time())
        try:
            await self._until_writable(answer)
            self._send_request(request, opaque, oneway=False)
            return await answer
        finally:
            timer.cancel()
            self._calls.finish(opaque)
            self._end_if_done()

    async def tell(self, request: Request[Response], timeout_s: float) -> None:
        """Send a request that nobody answers; wait no longer than that until it can be written.

        Raises:
            NoAnswer: it was not written.
            LocalProtocolError: no peer would take it.
        """
        ends: asyncio.Future[Command] = self._loop.create_future()
        timer = self._loop.call_later(timeout_s, self._time_out, ends, self._loop.time())
        try:
            await self._until_writable(ends)
        finally:
            timer.cancel()
        self._send_request(request, self._calls.number_oneway(), oneway=True)

    def push(self, request: Request[Response]) -> bool:
        """Send a request that nobody answers, now or never; a peer for whom too much waits already is cut off."""
        return self.send(self._encode(request, self._calls.number_oneway(), oneway=True))

    def _send_request(self, request: Request[Response], opaque: int, *, oneway: bool) -> None:
        if not self.send(self._encode(request, opaque, oneway=oneway)):
            raise self._failed(Failure.CLOSED)

    def _encode(self, request: Request[Response], opaque: int, *, oneway: bool) -> Command:
        settings = self.settings
        command = encode(request, opaque=opaque, oneway=oneway, language=settings.language, version=settings.version)
        return sign(command, settings.acl) if settings.acl is not None and self.is_ours else command

    async def _until_writable(self, ends: asyncio.Future[Command]) -> None:
        while self._is_full and self.is_open:
            gate: asyncio.Future[None] = self._loop.create_future()
            self._gates.append(gate)
            await asyncio.wait((gate, ends), return_when=asyncio.FIRST_COMPLETED)
            if ends.done():
                gate.cancel()
                self._gates = [one for one in self._gates if one is not gate]
                ends.result()

    def _time_out(self, answer: asyncio.Future[Command], sent_at: float) -> None:
        if answer.done():
            return
        answer.set_exception(self._failed(Failure.TIMEOUT))
        silent_s = self._loop.time() - max(self._received_at, 0.0)
        if self._received_at <= sent_at and silent_s >= self.settings.half_open_after_s:
            self.abort(f"nothing came for {silent_s:.0f} s, though an answer was due")

    def _failed(self, failure: Failure) -> NoAnswer:
        return NoAnswer(failure, self.address, self.reason or "")

    # ---- the end ----

    def end(self, reason: str | None = None) -> None:
        """Close, after what is queued is written."""
        self._write()
        self._note(reason)
        if self._transport is not None:
            self._transport.close()

    def retire(self) -> None:
        """End once nobody waits for an answer any more; whoever calls this sends nothing more."""
        self._is_retired = True
        self._end_if_done()

    def _end_if_done(self) -> None:
        if self._is_retired and not len(self._calls):
            self.end()

    def abort(self, reason: str | None = None) -> None:
        """Close at once."""
        self._note(reason)
        if self._transport is not None:
            self._transport.abort()

    def _note(self, reason: str | None) -> None:
        if reason is not None and self.reason is None:
            self.reason = reason
            logger.warning("channel %s with %s ends: %s", self.number, self.address, reason)

    def _watch_idle(self) -> None:
        left = self._moved_at + self.settings.idle_after_s - self._loop.time()
        if left > 0:
            self._idle = self._loop.call_later(left, self._watch_idle)
        else:
            logger.debug("channel %s with %s was idle", self.number, self.address)
            self.abort() if self._is_full else self.end()


def _set_options(transport: asyncio.Transport) -> None:
    """Find dead peers; asyncio has set TCP_NODELAY already."""
    sock = transport.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _TCP_OPTIONS.items():
        if (option := getattr(socket, name, None)) is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


def _peer_address(transport: asyncio.Transport) -> Address:
    name = transport.get_extra_info("peername")
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else "unknown:0"
