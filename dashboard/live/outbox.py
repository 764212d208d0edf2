"""What waits to be sent to one browser: bounded, whatever the browser does. Decides; sends nothing itself.

A stream is *behind* when something of it is missing: then nothing more of it is queued until the browser was brought
up to date, by the steps that it lacks, or, where it was too slow for them, by a snapshot.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

MOST_MESSAGES = 256
MOST_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Send:
    """A message is to be sent."""

    body: bytes


@dataclass(frozen=True, slots=True)
class CatchUp:
    """A stream is to be brought up to date from ``last_seq`` on; None asks for a snapshot."""

    stream: str
    last_seq: int | None


class Outbox:
    """The queue of one socket."""

    def __init__(self, *, most_messages: int = MOST_MESSAGES, most_bytes: int = MOST_BYTES) -> None:
        self.most_messages = most_messages
        self.most_bytes = most_bytes
        self.dropped = 0  # queues that were dropped, because the browser was too slow for them
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._queued: dict[str, int | None] = {}  # the newest step of each stream that was sent or is queued
        self._behind: dict[str, CatchUp] = {}  # streams to bring up to date, in the order in which they fell behind
        self._heard: dict[str, int] = {}  # the newest step that came while its stream was behind, and was not queued

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that are followed."""
        return tuple(self._queued)

    def follow(self, stream: str, last_seq: int | None) -> None:
        """Begin, or begin again, with a stream of which the browser has ``last_seq``."""
        self._queued[stream] = last_seq
        self._behind[stream] = CatchUp(stream, last_seq)

    def unfollow(self, stream: str) -> None:
        """Leave a stream."""
        for noted in (self._queued, self._behind, self._heard):
            noted.pop(stream, None)

    def step(self, stream: str, seq: int, body: bytes) -> None:
        """Queue a step, unless it was sent before, or the stream is behind; a gap makes it so."""
        if stream not in self._queued:
            return
        if stream in self._behind:
            self._heard[stream] = max(seq, self._heard.get(stream, 0))
            return
        newest = self._queued[stream]
        if newest is not None and seq <= newest:
            return
        if newest is None or seq > newest + 1:
            self._behind[stream] = CatchUp(stream, newest)
        elif self._put(body):
            self._queued[stream] = seq

    def pulse(self, stream: str, body: bytes) -> None:
        """Queue what is no step; it is left out where the browser is slow."""
        if stream in self._queued and stream not in self._behind:
            self._put(body)

    def tell(self, body: bytes) -> None:
        """Queue what is of no stream that is followed; it is left out where the browser is slow."""
        self._put(body)

    def take(self) -> Send | CatchUp | None:
        """Give what is to be done next; None is nothing."""
        if self._queue:
            body = self._queue.popleft()
            self._bytes -= len(body)
            return Send(body)
        if self._behind:
            return next(iter(self._behind.values()))
        return None

    def caught_up(self, order: CatchUp, seq: int) -> None:
        """Go on from ``seq``, up to which everything was sent, unless another order came meanwhile.

        A step that came after the state was read, and before it was sent, was not queued: it is asked for, once. Else
        nobody would miss it until the next step, or the next beat.
        """
        stream = order.stream
        if self._behind.get(stream) is not order:
            return
        del self._behind[stream]
        self._queued[stream] = seq
        if self._heard.pop(stream, 0) > seq:
            self._behind[stream] = CatchUp(stream, seq)

    def check(self) -> None:
        """Assert what always holds."""
        assert len(self._queue) <= self.most_messages
        assert self._bytes == sum(map(len, self._queue)) <= self.most_bytes
        assert self._heard.keys() <= self._behind.keys() <= self._queued.keys()

    def _put(self, body: bytes) -> bool:
        if len(self._queue) >= self.most_messages or self._bytes + len(body) > self.most_bytes:
            self._queue.clear()
            self._bytes = 0
            self.dropped += 1
            self._behind = {stream: CatchUp(stream, None) for stream in self._queued}  # too slow for steps
            return False
        self._queue.append(body)
        self._bytes += len(body)
        return True
