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
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._queued: dict[str, int | None] = {}  # the newest step of each stream that was sent or is queued
        self._behind: dict[str, int | None] = {}  # streams to bring up to date, in the order in which they fell behind

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that are followed."""
        return tuple(self._queued)

    def follow(self, stream: str, last_seq: int | None) -> None:
        """Begin, or begin again, with a stream of which the browser has ``last_seq``."""
        self._queued[stream] = last_seq
        self._behind[stream] = last_seq

    def unfollow(self, stream: str) -> None:
        """Leave a stream."""
        self._queued.pop(stream, None)
        self._behind.pop(stream, None)

    def step(self, stream: str, seq: int, body: bytes) -> None:
        """Queue a step, unless it was sent before, or the stream is behind; a gap makes it so."""
        if stream not in self._queued or stream in self._behind:
            return
        newest = self._queued[stream]
        if newest is not None and seq <= newest:
            return
        if newest is None or seq > newest + 1:
            self._behind[stream] = newest
        elif self._put(body):
            self._queued[stream] = seq

    def pulse(self, stream: str, body: bytes) -> None:
        """Queue what is no step; it is left out where the browser is slow."""
        if stream in self._queued and stream not in self._behind:
            self._put(body)

    def take(self) -> Send | CatchUp | None:
        """Give what is to be done next; None is nothing."""
        if self._queue:
            body = self._queue.popleft()
            self._bytes -= len(body)
            return Send(body)
        if self._behind:
            stream = next(iter(self._behind))
            return CatchUp(stream, self._behind[stream])
        return None

    def caught_up(self, stream: str, seq: int) -> None:
        """Go on from ``seq``, up to which everything was sent; steps that came meanwhile are asked for by their gap."""
        if stream in self._queued:
            self._behind.pop(stream, None)
            self._queued[stream] = seq

    def check(self) -> None:
        """Assert what always holds."""
        assert len(self._queue) <= self.most_messages
        assert self._bytes == sum(map(len, self._queue)) <= self.most_bytes
        assert self._behind.keys() <= self._queued.keys()

    def _put(self, body: bytes) -> bool:
        if len(self._queue) >= self.most_messages or self._bytes + len(body) > self.most_bytes:
            self._queue.clear()
            self._bytes = 0
            self._behind = dict.fromkeys(self._queued)  # too slow for steps: snapshots
            return False
        self._queue.append(body)
        self._bytes += len(body)
        return True
