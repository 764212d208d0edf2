"""How one producer stands to one broker, from what it reported. Pure; what it did not report is None, never fine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median_low

LATELY_MS = 60_000
TOLD_WITHIN_MS = 5_000  # a back-off is told by then after the send that it is for
FEWEST_IGNORED = 2
REMOTING_ERROR = "remoting error"  # isolates the broker in every version of the Java client
QUIET_MS = 120_000  # a producer that reports tells something each second while it sends


@dataclass(frozen=True, slots=True)
class Tally:
    """All sends that went well and ended from ``since`` to ``until``: least and greatest latency, and how many."""

    since: int
    until: int
    spans: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Send:
    """One attempt that was told: of those that went well the slowest of its second, of others each.

    ``tally`` counts all that went well with it; None: its report counted none.
    """

    at: int
    latency_ms: int
    outcome: str
    topic: str | None
    tally: Tally | None = None

    @property
    def is_fine(self) -> bool:
        """Whether it went well."""
        return self.outcome == "ok"

    @property
    def ended_at(self) -> int:
        """When it was over."""
        return self.at + self.latency_ms


@dataclass(frozen=True, slots=True)
class Backoff:
    """A time in which the producer leaves the broker alone: announced for ``ms``, ended early where it said so."""

    at: int
    ms: int
    is_isolated: bool
    ended_at: int | None

    @property
    def until(self) -> int:
        """When it is over, as far as that is known."""
        announced = self.at + self.ms
        return announced if self.ended_at is None else min(announced, self.ended_at)

    def as_of(self, at: int) -> Backoff:
        """Give what was known of it at an instant: that it ended early only once it had."""
        return self if self.ended_at is None or self.ended_at <= at else replace(self, ended_at=None)


@dataclass(frozen=True, slots=True)
class Standing:
    """One producer and one broker. ``sends`` are those of the last minutes; ``told_at`` None: it reports nothing.

    ``sends_since`` and ``backoffs_since`` are the instants from which on all that it told is kept; None: it all is.
    ``is_unheard``: what it told is too old to say how it stands now, for nothing of its cluster answers.
    """

    broker: str
    told_at: int | None
    sends: tuple[Send, ...]
    backoffs: tuple[Backoff, ...]
    backoff_until: int | None
    backoff_ms: int | None
    is_isolated: bool | None
    is_reachable: bool | None
    is_unheard: bool = False
    sends_since: int | None = None
    backoffs_since: int | None = None

    def left_ms(self, now: int) -> int:
        """Say for how long the producer still leaves the broker alone, as announced."""
        return 0 if self.backoff_until is None or self.is_unheard else max(0, self.backoff_until - now)

    def kind(self, now: int) -> str:
        """Say how it stands: backs off, unreachable, available, quiet (told long ago), or unknown."""
        if self.told_at is None or self.is_unheard:
            return "unknown"
        if self.left_ms(now):
            return "backs off"
        if self.is_reachable is False:
            return "unreachable"
        if not self.keeps_backoffs(now):
            return "not kept"
        return "available" if now - self.told_at <= QUIET_MS else "quiet"

    @property
    def instants(self) -> tuple[int, ...]:
        """When it began and when it ended to leave the broker alone, in order; an end as announced is one."""
        return tuple(sorted({each for backoff in self.backoffs for each in (backoff.at, backoff.until)}))

    def as_of(self, at: int) -> Standing:
        """Give how it stood at an instant, by what is kept of then; whether it reached the broker is not kept."""
        if self.told_at is None or self.told_at <= at:
            return self
        sends = tuple(each for each in self.sends if each.at <= at)
        backoffs = tuple(each.as_of(at) for each in self.backoffs if each.at <= at)
        ends = [each.ended_at for each in backoffs if each.ended_at is not None]
        told_at = max([each.at for each in sends] + [each.at for each in backoffs] + ends, default=None)
        last = backoffs[-1] if backoffs and backoffs[-1].ended_at is None else None
        return Standing(
            broker=self.broker,
            told_at=told_at,
            sends=sends,
            backoffs=backoffs,
            backoff_until=last.until if last is not None else None,
            backoff_ms=last.ms if last is not None else None,
            is_isolated=None if told_at is None or not self.keeps_backoffs(at) else bool(last and last.is_isolated),
            is_reachable=None,
            sends_since=self.sends_since,
            backoffs_since=self.backoffs_since,
        )

    def keeps_sends(self, now: int) -> bool:
        """Whether all sends that were told in the minute up to an instant are kept."""
        return self.sends_since is None or self.sends_since <= now - LATELY_MS

    def keeps_backoffs(self, at: int) -> bool:
        """Whether it is kept if it left the broker alone at an instant."""
        return self.backoffs_since is None or self.backoffs_since <= at

    @property
    def is_cut(self) -> bool:
        """Whether it told more than is kept."""
        return self.sends_since is not None or self.backoffs_since is not None

    def lately(self, now: int) -> tuple[Send, ...]:
        """Give the sends of the last minute."""
        return tuple(each for each in self.sends if now - LATELY_MS < each.at <= now)

    def median_ms(self, now: int) -> int | None:
        """Give the median of the latencies that were told in the last minute; None: none was."""
        return median_low([each.latency_ms for each in lately]) if (lately := self.lately(now)) else None

    def failed(self, now: int) -> int:
        """Count the sends of the last minute that did not go well."""
        return sum(not each.is_fine for each in self.lately(now))


def sends_of(rows: Sequence[Sequence[object]]) -> tuple[Send, ...]:
    """Read sends as they are stored."""
    return tuple(
        Send(int(str(at)), int(str(ms)), str(outcome), None if topic is None else str(topic), *map(_tally_of, tally))
        for at, ms, outcome, topic, *tally in rows
    )


def _tally_of(row: object) -> Tally:
    assert isinstance(row, list)
    since, until, spans = row
    return Tally(since, until, tuple((low, high, count) for low, high, count in spans))


def backoffs_of(rows: Sequence[Sequence[object]]) -> tuple[Backoff, ...]:
    """Read backoffs as they are stored."""
    return tuple(
        Backoff(int(str(at)), int(str(ms)), bool(is_isolated), None if ended is None else int(str(ended)))
        for at, ms, is_isolated, ended in rows
    )


def avoids_no_broker(standings: Sequence[Standing], *, slow_ms: int) -> bool:
    """Whether a producer left no broker alone, though it told of sends after which fault avoidance does.

    It is off then (``sendLatencyFaultEnable``), or passed over: who sends by a key, to a queue of his choice, asks no
    fault table (``DefaultMQProducerImpl.sendSelectImpl``). Without such sends nothing is known.

    Args:
        slow_ms: the latency from which on a broker is left alone.
    """
    told = [each.told_at for each in standings if each.told_at is not None]
    if not told or any(each.backoffs or each.backoff_until or each.backoffs_since is not None for each in standings):
        return False
    by = max(told) - TOLD_WITHIN_MS
    sends = (send for each in standings for send in each.sends if send.ended_at <= by)
    ignored = [
        send for send in sends if send.outcome == REMOTING_ERROR or (send.is_fine and send.latency_ms >= slow_ms)
    ]
    return len(ignored) >= FEWEST_IGNORED
