"""Where the messages of one queue are in the log: what RocketMQ keeps in a consume queue, in memory.

Source: ``store/.../ConsumeQueue.java``. Kept as columns: four numbers a message.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right


class QueueIndex:
    """The messages of one queue, by their offset in it.

    Attributes:
        first: the offset of the oldest message that is there; the next one's where there is none.
    """

    __slots__ = ("_positions", "_sizes", "_tag_codes", "_times", "first")

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self._positions = array("q")
        self._sizes = array("i")
        self._tag_codes = array("q")
        self._times = array("q")

    @property
    def end(self) -> int:
        """The offset that the next message will get."""
        return self.first + len(self._positions)

    def add(self, position: int, size: int, tag_code: int, stored_at: int) -> None:
        """Enter the next message: its position in the log, its bytes, the hash of its tag, its time in ms."""
        self._positions.append(position)
        self._sizes.append(size)
        self._tag_codes.append(tag_code)
        # A clock that was set back does not make searches by time wrong
        self._times.append(max(stored_at, self._times[-1]) if self._times else stored_at)

    def place(self, offset: int) -> tuple[int, int]:
        """Give position and size of a message that is there."""
        at = offset - self.first
        return self._positions[at], self._sizes[at]

    def tag_code(self, offset: int) -> int:
        """Give the hash of the tag of a message that is there; 0 stands for none."""
        return self._tag_codes[offset - self.first]

    def stored_at(self, offset: int) -> int:
        """Give the time of a message in ms; -1 where it is not there (``getMessageStoreTimeStamp``)."""
        at = offset - self.first
        return self._times[at] if 0 <= at < len(self._times) else -1

    def search(self, time: int, *, is_upper: bool = False) -> int:
        """Give the first offset at a time or after; or, upper, the last one at it or before, if any is."""
        if is_upper:
            return self.first + max(bisect_right(self._times, time) - 1, 0)
        return self.first + bisect_left(self._times, time)

    def forget_before(self, position: int) -> None:
        """Forget the messages that are no more in the log."""
        gone = bisect_left(self._positions, position)
        self.first += gone
        del self._positions[:gone], self._sizes[:gone], self._tag_codes[:gone], self._times[:gone]
