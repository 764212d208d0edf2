"""Bytes that arrive in pieces, read as if they were all there.

A reader is a generator that yields while bytes are missing: half a frame is a paused generator, not a flag.
"""

from __future__ import annotations

from collections.abc import Generator


class StreamReader:
    """What has arrived and was not read yet.

    Every byte is copied once on its way in and once on its way out, however small the pieces: cutting the front off a
    ``bytearray`` moves nothing.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._has_ended = False

    def feed_data(self, data: bytes) -> None:
        """Add what has arrived."""
        self._buffer += data

    def feed_eof(self) -> None:
        """Say that nothing more will arrive."""
        self._has_ended = True

    def read_exact(self, count: int) -> Generator[None, None, bytes]:
        """Read ``count`` bytes.

        Raises:
            EOFError: the stream ended before.
        """
        while len(self._buffer) < count:
            if self._has_ended:
                raise EOFError(f"the stream ended after {len(self._buffer)} of {count} bytes")
            yield
        data = bytes(memoryview(self._buffer)[:count])
        del self._buffer[:count]
        return data

    def at_eof(self) -> Generator[None, None, bool]:
        """Say whether the stream is at its end, as soon as that is known."""
        while not self._buffer:
            if self._has_ended:
                return True
            yield
        return False

    def discard(self) -> None:
        """Forget what has arrived."""
        self._buffer.clear()
