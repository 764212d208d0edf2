"""Of whom nobody tells what they held, and when: members of no log, and those whose log ends before they do.

Plain Python. What seems unowned meanwhile may have been theirs. Members of no log are named by brokers. Where no broker
tells, only those that divide say how many they are, not who (``cidAllSize``). A Java member that holds something
writes every 5 s: a log that says nothing for longer, while its member is there and others' holds change, was cut or
copied too early.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.rounds import COMES, GOES, LOG_ENDS, SAID_WITHIN_MS, SECOND_MS, Cause, presence_of
from rebalance_engine.pipeline.sweep import Hold, Stretch

WRITES_WITHIN_MS = 6_000  # offsets are persisted every 5 s
CLOCKS_MS = 3_000  # hosts' clocks differ
# Who stops is listed no more at once. Who hangs is for two minutes, and until brokers look again.
LISTED_MS, LOST_LISTED_MS = CLOCKS_MS, 150_000
SEEN_WITHIN_MS = 21_000  # members compute anew every 20 s, if nobody tells them of a change
Holds = Mapping[MessageQueue, Sequence[Hold]]
Spans = dict[str, list[tuple[int, int]]]


def presence_of_strangers(names: Collection[str], causes: Iterable[Cause], end_ms: int) -> Spans:
    """Tell when members of no log were there; whose going alone is told was there from the beginning."""
    told = (one for one in causes if one.client in names or one.what == LOG_ENDS)
    mine = sorted(told, key=lambda one: one.at_ms)
    there = presence_of({}, mine, end_ms)
    seen: set[str] = set()
    for one in mine:
        if one.client is not None and one.client not in seen:
            seen.add(one.client)
            if one.what in GOES:
                there.setdefault(one.client, []).append((0, one.at_ms))
    return there


@dataclass(frozen=True, slots=True)
class Counted:
    """By how many a member divided, as its result says."""

    at_ms: int
    client: str | None
    members: int


def presence_of_uncounted(told: Iterable[Counted], there: Presence, holds: Holds, end_ms: int) -> Spans:
    """Tell when there were more members than are known, by names of their own: *1 more*, *2 more*, and so on.

    Who may still have been listed though it was gone is counted: this finds no more than are certain. What was said
    counts while a member is there that would say otherwise: of whoever had nothing, its going is not said. Who was more
    all that time is there still when the last of those goes, until others say how many they are.

    Args:
        there: when members were there of whom that is known.
    """
    results = sorted(told, key=lambda one: one.at_ms)
    lives = lives_of(results, there, holds)
    edges, known = _numbers(_listed(results, lives, holds))
    times = [one.at_ms for one in results]
    more = [one.members - known[bisect_right(edges, one.at_ms)] for one in results]
    heard_until, unsaid = _heard_until(results, lives), _unsaid(lives, holds)
    marks = {*edges, *times, *(at - SEEN_WITHIN_MS for at in times), *heard_until, *(end for end, _ in unsaid), end_ms}
    found: Spans = {}
    stays, latest = 0, 0
    for begin, end in pairwise(mark for mark in sorted(marks) if mark <= end_ms):
        said = bisect_right(times, begin)
        if said != latest:
            stays, latest = more[said - 1], said
        now = stays
        if said and begin < heard_until[said - 1]:
            last = results[said - 1]
            since = unsaid[bisect_right(unsaid, (last.at_ms, end_ms)) : bisect_right(unsaid, (begin, end_ms))]
            gone = sum(came <= last.at_ms for _, came in since)
            now = last.members - gone - known[bisect_right(edges, begin)]
            stays = min(now, stays)
        soon = more[said] if said < len(times) and times[said] <= begin + SEEN_WITHIN_MS else 0
        for number in range(1, 1 + max(now, soon)):
            _go_on(found.setdefault(f"{number} more", []), begin, end)
    return found


def lives_of(results: Iterable[Counted], there: Presence, holds: Holds) -> Spans:
    """Tell from when until when each member that is known was there; apart from each other, in order."""
    spans = [(client, begin, end) for client, own in there.items() for begin, end in own]
    spans += [(hold.client, hold.from_ms, hold.until_ms) for those in holds.values() for hold in those]
    spoke: dict[str, list[int]] = {}
    for one in results:
        if one.client is not None:
            spoke.setdefault(one.client, []).append(one.at_ms)
    spans += [(client, times[0], times[-1]) for client, times in spoke.items()]
    known: Spans = {}
    for client, begin, end in sorted(spans, key=lambda one: one[1]):
        _go_on(known.setdefault(client, []), begin, end)
    return known


def _listed(results: Sequence[Counted], lives: Presence, holds: Holds) -> Spans:
    """Tell from when until when brokers may have listed each of them.

    Who was lost is listed until a result counts no more than are there beside it: a little longer by other brokers.
    """
    lost = {hold.client for those in holds.values() for hold in those if hold.ended == "lost"}
    sure = {who: [(at + CLOCKS_MS, end) for at, end in own if at + CLOCKS_MS < end] for who, own in lives.items()}
    edges, there = _numbers(sure)
    whole = [one.at_ms for one in results if one.members <= there[bisect_left(edges, one.at_ms)]]
    known: Spans = {}
    for client, spans in lives.items():
        for begin, end in spans:
            until = end + LISTED_MS
            if client in lost:
                struck = [at + SAID_WITHIN_MS for at in whole[bisect_right(whole, end) :][:1]]
                until = min([end + LOST_LISTED_MS, *struck])
            _go_on(known.setdefault(client, []), begin - CLOCKS_MS, until)
    return known


def _heard_until(results: Sequence[Counted], lives: Presence) -> list[int]:
    """Tell of each result until when one of those is there that were then, and say what they divide by."""
    speakers = {one.client for one in results}
    spans = sorted(span for client, own in lives.items() if client in speakers for span in own)
    begins, latest = [begin for begin, _ in spans], list(accumulate((end for _, end in spans), max))
    places = (bisect_right(begins, one.at_ms) for one in results)
    return [latest[place - 1] if place else one.at_ms for place, one in zip(places, results, strict=True)]


def _unsaid(lives: Presence, holds: Holds) -> list[tuple[int, int]]:
    """Give when members went that had nothing then, and when they had come: nobody divides otherwise without them."""
    ends: dict[str, list[int]] = {}
    for those in holds.values():
        for hold in those:
            ends.setdefault(hold.client, []).append(hold.until_ms)
    return sorted(
        (end, begin)
        for client, spans in lives.items()
        for begin, end in spans
        if not any(abs(at - end) <= CLOCKS_MS for at in ends.get(client, ()))
    )


def _go_on(spans: list[tuple[int, int]], begin: int, end: int) -> None:
    if spans and begin <= spans[-1][1]:
        spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
    else:
        spans.append((begin, end))


def _numbers(known: Presence) -> tuple[list[int], list[int]]:
    """Tell how many there are before, between and after the instants at which it changes."""
    steps = Counter[int]()
    for begin, end in (span for spans in known.values() for span in spans):
        steps[begin] += 1
        steps[end] -= 1
    edges = sorted(steps)
    return edges, [0, *accumulate(steps[at] for at in edges)]


def cut_off(holds: Holds, causes: Sequence[Cause], log_ends: Mapping[str, int], end_ms: int) -> Spans:
    """Tell from when until when members were there of whom their own logs say nothing any more.

    Where nothing tells that a member ended, it is there until the input ends. A time in which nobody else takes or lets
    go anything, and every queue has an owner, is left out: nothing that was told of it depends on this member. So is
    one of a member that had nothing when its log ended, and writes nothing as long as it gets nothing, while no queue
    was free that it may have had.

    Args:
        causes: what is told of comings and goings, by logs alone: that a log ends is none.
        log_ends: the last line of each member's log.
    """
    there = presence_of(_as_if_open(holds, log_ends), [*causes, *_first_takes(holds, causes, log_ends)], end_ms)
    edges, free = _edges(holds), _free(holds, end_ms)
    some_free = _some_free(free)
    found: Spans = {}
    for client, last_ms in log_ends.items():
        for begin, end in there.get(client, ()):
            until = _lost_ms(holds, client, end)
            since = max(begin, last_ms)
            is_told_of = _changes(edges, client, since, end) or _is_free(some_free, since, until)
            is_silent = until > last_ms + WRITES_WITHIN_MS and is_told_of
            if is_silent and (_has(holds, client, last_ms) or _may_have(free, since, until)):
                found.setdefault(client, []).append((since, until))
    return found


def unseen(
    holds: Holds,
    holes: Mapping[str, Sequence[tuple[int, int]]],
    log_begins: Mapping[str, int],
    causes: Iterable[Cause],
    end_ms: int,
) -> Spans:
    """Tell when members were there of whom their own logs do not say what they held: in holes, and before they begin.

    Who came is there from the first time on, for its connections are several; of whom nobody tells it, from the
    beginning. A hole in which nobody else takes or lets go anything, every queue has an owner, and no broker saw it go,
    is left out, as by :func:`cut_off`.

    Args:
        holes: by member, from when until when its log lacks lines.
        log_begins: by member, until when its log does not show all that it holds.
    """
    edges, some_free = _edges(holds), _some_free(_free(holds, end_ms))
    known = list(causes)
    went: dict[str, list[int]] = {}
    for one in known:
        if one.what in GOES and one.client in holes:
            went.setdefault(str(one.client), []).append(one.at_ms)
    told = {
        client: sorted(
            (begin, end)
            for begin, end in spans
            if _changes(edges, client, begin - CLOCKS_MS, end + CLOCKS_MS)
            or _is_free(some_free, begin, end)
            or any(begin - SECOND_MS <= at < end for at in went.get(client, ()))
        )
        for client, spans in holes.items()
    }
    came: dict[str, list[int]] = {}
    for one in known:
        if one.what in COMES and one.client is not None and one.client in log_begins:
            came.setdefault(one.client, []).append(one.at_ms)
    for client, begin in log_begins.items():
        earliest = min((at for at in came.get(client, ()) if at <= begin), default=0)
        told[client] = sorted([*told.get(client, ()), (earliest, begin)])
    return {client: spans for client, spans in told.items() if spans}


def without(spans: Iterable[tuple[int, int]], left_out: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Take times out of others."""
    rest = list(spans)
    for begin, end in left_out:
        rest = [
            part
            for since, until in rest
            for part in ((since, min(until, begin)), (max(since, end), until))
            if part[0] < part[1]
        ]
    return rest


def let_go(holds: Holds, cut: Presence) -> dict[MessageQueue, list[Hold]]:
    """Let members whose log was cut hold, from there on, nothing that another took: they let it go in between."""
    return {queue: [_let_go(hold, those, cut) for hold in those] for queue, those in holds.items()}


def _let_go(hold: Hold, those: Sequence[Hold], cut: Presence) -> Hold:
    for since, _ in cut.get(hold.client, ()):
        # What ended with another's take was let go no later; nothing else is released behind its log's end.
        until = hold.until_ms + (hold.ended == "released")
        if hold.from_ms <= since < hold.until_ms and any(
            other.client != hold.client and since < other.from_ms < until for other in those
        ):
            return replace(hold, until_ms=since, until_after_ms=None)
    return hold


def _as_if_open(holds: Holds, log_ends: Mapping[str, int]) -> dict[MessageQueue, list[Hold]]:
    """Take no log's end for its member's; in a log that goes on a silence is its own end."""

    def is_last(hold: Hold) -> bool:
        last_ms = log_ends.get(hold.client)
        return last_ms is not None and 0 <= last_ms - hold.until_ms <= WRITES_WITHIN_MS

    return {
        queue: [replace(hold, ended="open") if hold.ended == "lost" and is_last(hold) else hold for hold in those]
        for queue, those in holds.items()
    }


def _first_takes(holds: Holds, causes: Iterable[Cause], log_ends: Mapping[str, int]) -> list[Cause]:
    """Let members come with their first take of whose coming and going no line tells."""
    told = {one.client for one in causes if one.what in COMES | GOES}
    first: dict[str, int] = {}
    for those in holds.values():
        for hold in those:
            if hold.client in log_ends and hold.client not in told:
                first[hold.client] = min(hold.from_ms, first.get(hold.client, hold.from_ms))
    return [Cause(at, "joined", client) for client, at in first.items()]


def _edges(holds: Holds) -> list[tuple[int, str]]:
    takes = {(hold.from_ms, hold.client) for those in holds.values() for hold in those}
    drops = {(hold.until_ms, hold.client) for those in holds.values() for hold in those if hold.ended != "open"}
    return sorted(takes | drops)


def _free(holds: Holds, end_ms: int) -> list[tuple[int, int]]:
    """Give from when until when each queue had no owner, until the input's end; before its first take from 0 on."""
    found: list[tuple[int, int]] = []
    for those in holds.values():
        free_ms = 0
        for begin, end in [*sorted((hold.from_ms, hold.until_ms) for hold in those), (end_ms, end_ms)]:
            if begin > free_ms:
                found.append((free_ms, begin))
            free_ms = max(free_ms, end)
    return sorted(found)


def _some_free(free: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Put together when some queue had no owner, from its first take on."""
    some: list[tuple[int, int]] = []
    for begin, end in free:
        if begin:
            _go_on(some, begin, end)
    return some


def _is_free(free: Sequence[tuple[int, int]], since_ms: int, until_ms: int) -> bool:
    nth = bisect_right(free, since_ms, key=lambda span: span[1])
    return nth < len(free) and free[nth][0] < until_ms


def _changes(edges: Sequence[tuple[int, str]], client: str, since_ms: int, until_ms: int) -> bool:
    """Tell whether another takes or lets go something in a time."""
    begin = bisect_right(edges, since_ms, key=lambda edge: edge[0])
    return any(who != client for _, who in edges[begin : bisect_right(edges, until_ms, key=lambda edge: edge[0])])


def _has(holds: Holds, client: str, at_ms: int) -> bool:
    return any(
        hold.client == client and hold.from_ms <= at_ms < hold.until_ms for those in holds.values() for hold in those
    )


def _may_have(free: Iterable[tuple[int, int]], since_ms: int, until_ms: int) -> bool:
    """Ask whether a queue was free that who took it unheard may have had until it ended, or for a round and longer.

    What is free for less went from one of the others to the next: who takes a queue has it until the next round.
    """
    inside = ((max(begin, since_ms), end) for begin, end in free)
    return any(
        min(end, until_ms) - begin > SECOND_MS and (end >= until_ms or end - begin > SEEN_WITHIN_MS)
        for begin, end in inside
    )


def _lost_ms(holds: Holds, client: str, end_ms: int) -> int:
    """Give when its holds were lost where a broker tells only the second of its end."""
    ends = [hold.until_ms for those in holds.values() for hold in those if hold.client == client]
    return max([end_ms, *(at for at in ends if end_ms < at <= end_ms + SAID_WITHIN_MS)])


def there_meanwhile(stretch: Stretch, unheard: Presence) -> int:
    """Count the members that were there meanwhile, for some time, and of whom nobody tells what they held."""
    return sum(
        any(begin < stretch.until_ms and stretch.from_ms < end for begin, end in spans) for spans in unheard.values()
    )


def there_within(begin_ms: int, end_ms: int, unheard: Presence) -> bool:
    """Ask whether any of them was there at some moment of a time, its two ends too."""
    return any(begin <= end_ms and begin_ms <= end for spans in unheard.values() for begin, end in spans)
