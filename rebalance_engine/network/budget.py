"""What asking may cost one broker: requests a second, and requests under way. Nothing gets past it.

A broker serves administration with 16 threads that also renew its consumers' queue locks, and one question to a client
(307) can hold a thread for ten seconds. So the budget holds what the *broker* has to bear: a request whose caller has
given up still counts until it is answered, or can no longer be under way.

Nothing here awaits or reads a clock; times are seconds of any clock that does not go back. ``gate`` waits by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalance_engine.remoting.codes import RequestCode

LOWEST_FACTOR = 1 / 64  # of the rate: a broker in trouble is still asked once in a while
RECOVERS_TWOFOLD_IN_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A bound: so many a second for long, so many at once after a pause, so many under way."""

    per_second: float
    burst: int
    in_flight: int

    def __post_init__(self) -> None:
        """Refuse a bound that lets nothing through."""
        if self.per_second <= 0 or self.burst < 1 or self.in_flight < 1:
            raise ValueError(f"{self} lets nothing through; each figure must be positive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds for one address: for all requests together, and besides for some codes."""

    together: Lane
    by_code: Mapping[int, Lane] = field(default_factory=dict)


BROKER_LIMITS = Limits(
    together=Lane(per_second=20, burst=40, in_flight=4),
    by_code={
        RequestCode.GET_CONSUMER_RUNNING_INFO: Lane(per_second=5, burst=5, in_flight=2),
        RequestCode.GET_BROKER_CONSUME_STATS: Lane(per_second=1 / 60, burst=1, in_flight=1),
    },
)
NAME_SERVER_LIMITS = Limits(
    together=Lane(per_second=10, burst=20, in_flight=4),
    by_code={RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: Lane(per_second=1 / 60, burst=1, in_flight=1)},
)


@dataclass(slots=True)
class _Bucket:
    """What is left of one bound: tokens that come with time, and places."""

    lane: Lane
    at: float
    tokens: float
    in_flight: int = 0

    def fill(self, at: float, factor: float) -> None:
        if at > self.at:
            self.tokens = min(self.lane.burst, self.tokens + (at - self.at) * self.lane.per_second * factor)
            self.at = at

    def wait_s(self, factor: float) -> float | None:
        if self.in_flight >= self.lane.in_flight:
            return None
        return max(0.0, (1 - self.tokens) / (self.lane.per_second * factor))


class Budget:
    """The budget of one address.

    Each ``begin`` is followed by one ``end``. In any stretch of T seconds no more than ``burst + per_second * T``
    begin, and at no time are more than ``in_flight`` under way, of each bound that applies.
    """

    def __init__(self, limits: Limits, at: float) -> None:
        self._together = _full(limits.together, at)
        self._by_code = {code: _full(lane, at) for code, lane in limits.by_code.items()}
        self._factor = 1.0
        self._troubled_at = at

    def wait_s(self, code: int, at: float) -> float | None:
        """Say in how many seconds a request of this code may begin: 0 is now, None not before one ends."""
        factor = self.factor(at)
        waits = []
        for bucket in self._buckets(code):
            bucket.fill(at, factor)
            waits.append(bucket.wait_s(factor))
        return None if None in waits else max(wait for wait in waits if wait is not None)

    def begin(self, code: int, at: float) -> None:
        """Take what a request costs.

        Raises:
            ValueError: it may not begin yet.
        """
        if (wait := self.wait_s(code, at)) != 0:
            raise ValueError(f"a request of code {code} may not begin: {wait} s are to be waited")
        for bucket in self._buckets(code):
            bucket.tokens -= 1
            bucket.in_flight += 1

    def end(self, code: int) -> None:
        """Give back the place of a request that is no longer under way."""
        for bucket in self._buckets(code):
            if not bucket.in_flight:
                raise ValueError(f"a request of code {code} ends that never began")
            bucket.in_flight -= 1

    def slow_down(self, at: float) -> None:
        """Halve the rate: the broker is busy (code 2), or did not answer in time. It recovers twofold in 30 s."""
        factor = self.factor(at)
        for bucket in (self._together, *self._by_code.values()):
            bucket.fill(at, factor)
        self._factor = max(factor / 2, LOWEST_FACTOR)
        self._troubled_at = at

    def factor(self, at: float) -> float:
        """Say which part of the full rate there is now."""
        return min(1.0, self._factor * 2 ** min((at - self._troubled_at) / RECOVERS_TWOFOLD_IN_S, 64.0))

    def in_flight(self, code: int | None = None) -> int:
        """Say how many are under way, of all codes or of one that has a bound of its own."""
        return (self._together if code is None else self._by_code[code]).in_flight

    def _buckets(self, code: int) -> tuple[_Bucket, ...]:
        own = self._by_code.get(code)
        return (self._together,) if own is None else (self._together, own)


def _full(lane: Lane, at: float) -> _Bucket:
    return _Bucket(lane, at, float(lane.burst))
