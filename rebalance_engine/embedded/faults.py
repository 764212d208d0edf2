"""Faults on demand: a broker that is slow, or that says it is busy.

What is asked of a slow broker waits before it is looked at, in order; a busy one refuses at once, as Java's does when
its disk or its queues cannot follow.

Source of the words: ``remoting/.../netty/NettyRemotingAbstract.java`` (``processRequestCommand``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from rebalance_engine.effects import Channel, Received
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.requests.contract import Refused, UnknownRequest

BUSY = "[REJECTREQUEST]system busy, start flow control for a while"
OVERLOADED = "[OVERLOAD]system busy, start flow control for a while"
MOST_DELAYED = 10_000  # ``sendThreadPoolQueueCapacity``
SENDS = frozenset(
    {
        RequestCode.SEND_MESSAGE,
        RequestCode.SEND_MESSAGE_V2,
        RequestCode.SEND_BATCH_MESSAGE,
        RequestCode.CONSUMER_SEND_MSG_BACK,
    }
)


@dataclass(slots=True)
class Faults:
    """What is wrong with a broker right now.

    Attributes:
        delay_ms: how long each request waits.
        busy_for: the request codes that are refused as SYSTEM_BUSY.
    """

    delay_ms: int = 0
    busy_for: frozenset[int] = frozenset()
    _delayed: deque[tuple[int, Received]] = field(default_factory=deque)

    def refuse(self, request: object) -> Refused | None:
        """Refuse a request if the broker is busy."""
        if code_of(request) in self.busy_for:
            return Refused(code=ResponseCode.SYSTEM_BUSY, remark=BUSY)
        if len(self._delayed) >= MOST_DELAYED:
            return Refused(code=ResponseCode.SYSTEM_BUSY, remark=OVERLOADED)
        return None

    def delay(self, received: Received, at: int) -> bool:
        """Let a request wait if the broker is slow, or others wait already; say whether it does."""
        if not self.delay_ms and not self._delayed:
            return False
        last = self._delayed[-1][0] if self._delayed else at
        self._delayed.append((max(last, at + self.delay_ms) if self.delay_ms else last, received))
        return True

    def waiting(self) -> int:
        """Say how many requests wait."""
        return len(self._delayed)

    @property
    def next_due(self) -> int | None:
        """When the next request has waited enough, in ms."""
        return self._delayed[0][0] if self._delayed else None

    def due(self, at: int) -> Iterable[Received]:
        """Take out the requests that have waited enough; all of them once the broker is slow no more."""
        while self._delayed and (self._delayed[0][0] <= at or not self.delay_ms):
            yield self._delayed.popleft()[1]

    def forget(self, channel: Channel) -> None:
        """Drop what a channel asked that is no more."""
        if any(received.channel == channel for _, received in self._delayed):
            self._delayed = deque(one for one in self._delayed if one[1].channel != channel)


def code_of(request: object) -> int:
    """Give the code of a request, of an unknown one too."""
    return request.code if isinstance(request, UnknownRequest) else int(getattr(request, "CODE", -1))
