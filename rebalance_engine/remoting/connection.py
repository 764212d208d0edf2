"""One connection, without its socket: bytes in, events out; commands in, bytes out.

The four verbs are ``receive_data``, ``receive_eof``, ``events_received`` and ``data_to_send``. Whoever owns the socket
feeds what has arrived, handles what was received, and writes what is to be sent. A connection does not know which
command answers which: see ``calls``.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.errors import BrokenFrame, LocalProtocolError
from rebalance_engine.remoting.frames import MAX_RECEIVED, MAX_SENT, encode_frame, read_frame
from rebalance_engine.remoting.streams import StreamReader


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event: the peer sends no more, or what it sends makes no sense; then ``error`` says so. Close."""

    error: BrokenFrame | None = None


class Connection:
    """The protocol's side of one TCP connection; both ends are the same.

    Args:
        max_received: a frame from the peer that is longer ends the connection.
        max_sent: a frame of ours that is longer is refused.
    """

    def __init__(self, *, max_received: int = MAX_RECEIVED, max_sent: int = MAX_SENT) -> None:
        self._max_received = max_received
        self._max_sent = max_sent
        self._reader = StreamReader()
        self._events: list[Command | Ended] = []
        self._writes: list[bytes] = []
        self._has_ended = False
        self._parser = self._parse()
        next(self._parser)

    def receive_data(self, data: bytes) -> None:
        """Take what has arrived. After the end it means nothing."""
        if not self._has_ended:
            self._reader.feed_data(data)
            next(self._parser, None)

    def receive_eof(self) -> None:
        """Hear that nothing more will arrive."""
        if not self._has_ended:
            self._reader.feed_eof()
            next(self._parser, None)

    def events_received(self) -> list[Command | Ended]:
        """Give what was received since the last time, in order; ``Ended`` comes once, and nothing after it."""
        events, self._events = self._events, []
        return events

    def send(self, command: Command) -> None:
        """Put a command among the data to send.

        Raises:
            LocalProtocolError: no peer would take it, or this peer is gone.
        """
        if self._has_ended:
            raise LocalProtocolError(f"code {command.code} is to be sent on a connection that has ended")
        self._writes.append(encode_frame(command, self._max_sent))

    def data_to_send(self) -> list[bytes]:
        """Give what is to be written, in order, once."""
        writes, self._writes = self._writes, []
        return writes

    def _parse(self) -> Generator[None, None, None]:
        yield
        error = yield from self._parse_frames()
        self._events.append(Ended(error))
        self._has_ended = True
        self._reader.discard()

    def _parse_frames(self) -> Generator[None, None, BrokenFrame | None]:
        try:
            while not (yield from self._reader.at_eof()):
                command = yield from read_frame(self._reader, self._max_received)
                self._events.append(command)  # looked up after the wait: the list may be another by now
        except BrokenFrame as error:
            return error
        except EOFError as error:
            return BrokenFrame(f"the peer ended within a frame: {error}")
        return None
