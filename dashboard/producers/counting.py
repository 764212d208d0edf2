"""How many sends a producer made to a broker, and how long they took, where its reports count them all. Pure.

A tally counts those that went well and ended between two reports; of those that failed each is told. So the figures are
exact for the time between two tallies: of a minute that begins within one they begin at its end. Of a producer that
reports without tallies nothing here is known, and bounds are all there is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dashboard.producers.standing import Standing

LONGEST_SEND_MS = 15_000  # so long before a time a send may have begun that ended in it


@dataclass(frozen=True, slots=True)
class Counted:
    """All sends to one broker that ended after ``since`` and up to ``until``.

    ``spans`` are least and greatest latency and how many took that long, sorted; those that failed are among them.
    """

    since: int
    until: int
    spans: tuple[tuple[int, int, int], ...]
    failed: int

    @property
    def sends(self) -> int:
        """How many there were."""
        return sum(count for _low, _high, count in self.spans)

    @property
    def median_ms(self) -> tuple[int, int]:
        """The least and the greatest that the lower median may be; alike where it is exact."""
        place = (self.sends - 1) // 2
        lows = _at(place, ((low, count) for low, _high, count in self.spans))
        return lows, _at(place, sorted((high, count) for _low, high, count in self.spans))

    @property
    def per_second(self) -> float:
        """How many a second."""
        return 1_000 * self.sends / max(1, self.until - self.since)


def heard_until(standings: Iterable[Standing]) -> int:
    """Say up to when a producer told of its sends: 0 where it told of none."""
    told = [each.told_at for each in standings if each.told_at is not None]
    tallied = [send.tally.until for each in standings for send in each.sends if send.tally is not None]
    return max([*told, *tallied], default=0)


def count(each: Standing, *, since: int, now: int, heard: int) -> Counted | None:
    """Count the sends of a time; None where not all of them are known, or there was none.

    Args:
        heard: up to when the producer told of its sends.
    """
    if each.sends_since is not None and each.sends_since > since - LONGEST_SEND_MS:
        return None
    tallies = [send.tally for send in each.sends if send.tally is not None]
    begin = max([since, *(tally.until for tally in tallies if tally.since <= since < tally.until)])
    end = min([now, heard, *(tally.since - 1 for tally in tallies if tally.since <= now < tally.until)])
    ended = [send for send in each.sends if begin < send.ended_at <= end]
    if any(send.is_fine and send.tally is None for send in ended):
        return None
    failed = [(send.latency_ms, send.latency_ms, 1) for send in ended if not send.is_fine]
    whole = [tally for tally in tallies if begin < tally.since and tally.until <= end]
    spans = sorted([*failed, *(span for tally in whole for span in tally.spans)])
    return Counted(begin, end, tuple(spans), len(failed)) if spans else None


def _at(place: int, values: Iterable[tuple[int, int]]) -> int:
    """Give the value at a place of all, of which each comes so many times."""
    for value, times in values:
        if place < times:
            return value
        place -= times
    raise AssertionError("there are fewer values than that")
