"""When members counted each other differently at one time: by how many they divide, their results say. Plain Python.

All divide the same queues by the list that brokers give them; where lists differ, two may have a queue, or nobody.
How many there were nobody knows then: as many may have been as the one counted that counted most.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.named import merged
from rebalance_engine.pipeline.rounds import SECOND_MS
from rebalance_engine.pipeline.unheard import CLOCKS_MS, SEEN_WITHIN_MS, Counted, Holds, Spans, lives_of

Dispute = tuple[int, int, int]  # from when, until when, by how many the one divided that counted most


def disputes_of(told: Iterable[Counted], there: Presence, end_ms: int) -> list[Dispute]:
    """Find the times from which two members counted differently within 3 s, until any of the group counts again.

    What a member says otherwise within a round is no dispute: lists differ while somebody comes or goes. Nor is what
    a coming or going that is known, in between, explains: who has no other queues by it does not say so.

    Args:
        there: when members were there of whom that is known.
    """
    results = sorted((one for one in told if one.client is not None), key=lambda one: one.at_ms)
    times, stands = [one.at_ms for one in results], _stand(results)
    changes = sorted(at for spans in there.values() for span in spans for at in span)
    found: list[Dispute] = []
    for first, one in enumerate(results):
        for after in range(first + 1, bisect_right(times, one.at_ms + CLOCKS_MS) if stands[first] else 0):
            other = results[after]
            if stands[after] and _differ(one, other) and not _is_explained(one, other, changes):
                until = bisect_right(times, other.at_ms)
                ends = times[until] if until < len(times) else end_ms
                found.append((one.at_ms, ends, max(one.members, other.members)))
    return _merged(found)


def _differ(one: Counted, other: Counted) -> bool:
    return one.client != other.client and one.members != other.members


def _stand(results: Sequence[Counted]) -> list[bool]:
    """Tell of each result whether its member says nothing else within a round."""
    latest: dict[str | None, Counted] = {}
    changes: dict[str | None, int] = {}  # of who said it latest, when it said something else
    stands = [True] * len(results)
    for place in range(len(results) - 1, -1, -1):
        one = results[place]
        following = latest.get(one.client)
        if following is not None and following.members != one.members:
            changes[one.client] = following.at_ms
        latest[one.client] = one
        stands[place] = changes.get(one.client, one.at_ms + SEEN_WITHIN_MS + 1) - one.at_ms > SEEN_WITHIN_MS
    return stands


def _is_explained(one: Counted, other: Counted, changes: Sequence[int]) -> bool:
    """Ask whether somebody came or went between two results; one change before both is what they tell of."""
    begin = bisect_left(changes, one.at_ms - SECOND_MS)  # brokers tell the second
    between = changes[begin : bisect_right(changes, other.at_ms)]
    return len(between) > 1 or any(at > one.at_ms for at in between)


def _merged(disputes: Iterable[Dispute]) -> list[Dispute]:
    found: list[Dispute] = []
    for begin, end, members in sorted(disputes):
        if found and begin <= found[-1][1]:
            since, until, most = found[-1]
            found[-1] = (since, max(until, end), max(most, members))
        else:
            found.append((begin, end, members))
    return found


def with_disputed(
    more: Presence, disputes: Iterable[Dispute], told: Sequence[Counted], there: Presence, holds: Holds
) -> Spans:
    """Add to who is counted and not known (*1 more*, and so on) whoever may have been there, as members dispute it."""
    lives = lives_of(told, there, holds)
    found: Spans = {name: list(spans) for name, spans in more.items()}
    for begin, end, members in disputes:
        known = sum(any(came <= begin < left for came, left in spans) for spans in lives.values())
        for number in range(1, 1 + members - known):
            found.setdefault(f"{number} more", []).append((begin, end))
    return {name: merged(spans) for name, spans in found.items()}
