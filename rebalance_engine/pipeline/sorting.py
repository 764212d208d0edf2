"""The clues to one group's story, sorted out by what they are about. Plain Python: rows in, tables out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.handoffs import Clue
from rebalance_engine.pipeline.rounds import CAUSES, LOG_ENDS, Cause
from rebalance_engine.pipeline.routes import Divided, Route, read_route, with_broker
from rebalance_engine.pipeline.unheard import Counted


@dataclass(frozen=True, slots=True)
class Clues:
    """A group's clues, by what they are about.

    Attributes:
        routes: by topic, from when on it had how many queues on each broker.
        signs: what tells that a process, or one of its clients, had reached a broker.
        unheard: the members that brokers name and no other log.
        end_ms: of the input; None where nobody says.
        log_ends: of members whose logs may have been cut, the last line of each one's.
        log_begins: of members whose log begins after them, until when it does not show all that they hold.
        holes: of members whose logs lack lines, from when until when.
        refusals: by process, when its pulls of nobody knows which queues were refused, in order.
        popped: by topic, from when on brokers hand its messages out to whoever asks.
        counted: by how many members they divided, as results say.
        covers: from when until when logs of brokers tell who comes and goes.
        divided: by topic, how many queues members divided, as results say.
        ahead: by host, and by broker's host, by how much the former's clock is ahead, in ms: at least, and at most.
    """

    by_queue: dict[MessageQueue, list[Clue]]
    causes: list[Cause]
    signs: list[Cause]
    routes: dict[str, list[tuple[int, Route]]]
    unheard: set[str]
    end_ms: int | None
    popped: dict[str, int]
    refusals: dict[str, list[int]]
    log_ends: dict[str, int]
    log_begins: dict[str, int]
    holes: dict[str, list[tuple[int, int]]]
    counted: list[Counted]
    covers: list[tuple[int, int]]
    divided: dict[str, list[Divided]]
    ahead: dict[str, dict[str, tuple[int, int]]]


def sorted_out(clues: Iterable[dict[str, object]]) -> Clues:
    """Sort a group's clues out."""
    found = Clues({}, [], [], {}, set(), None, {}, {}, {}, {}, {}, [], [], {}, {})
    ends: dict[str, dict[str, int]] = {
        "log ends": found.log_ends, "log begins": found.log_begins, "input ends": {},
    }  # fmt: skip
    for clue in clues:
        what, at = str(clue["what"]), whole(clue["at_ms"])
        client = clue["client_id"]
        named = client if isinstance(client, str) else None
        if what in CAUSES:
            broker, topic = (None if clue.get(key) is None else str(clue[key]) for key in ("broker", "topic"))
            found.causes.append(Cause(at, what, named, str(clue["process"]), broker, topic))
            if named is not None and clue["number"] == 1:
                found.unheard.add(named)
        elif what == "reached":
            found.signs.append(Cause(at, what, named, str(clue["process"])))
        elif what == "route":
            found.routes.setdefault(str(clue["topic"]), []).append((at, read_route(clue["queues"])))
        elif what == "popped":
            found.popped[str(clue["topic"])] = min(at, found.popped.get(str(clue["topic"]), at))
        elif what in ends:
            ends[what][str(named)] = at
        elif what == "clock":
            _learn_clock(found.ahead.setdefault(str(clue["process"]), {}), clue)
        elif what == "hole":
            found.holes.setdefault(str(named), []).append((at, whole(clue["number"])))
        else:
            _sort_out_of_queue(found, clue, named)
    _put_in_order(found)
    causes = [with_broker(cause, found.routes) for cause in found.causes]
    return replace(found, causes=causes, end_ms=max(ends["input ends"].values(), default=None))


def _learn_clock(ahead: dict[str, tuple[int, int]], clue: dict[str, object]) -> None:
    broker, least, most = str(clue["broker"]), whole(clue["number"]), whole(clue["number2"])
    first, last = ahead.get(broker, (least, most))
    ahead[broker] = min(first, least), max(last, most)


def _put_in_order(found: Clues) -> None:
    for times in found.refusals.values():
        times.sort()
    for told in found.routes.values():
        told.sort(key=lambda one: one[0])


def _sort_out_of_queue(found: Clues, clue: dict[str, object], client: str | None) -> None:
    what, at, process = str(clue["what"]), whole(clue["at_ms"]), str(clue["process"])
    if clue["queue_id"] is not None:
        one = Clue(at, what, process, known(clue["number"]), known(clue.get("number2")), client)
        found.by_queue.setdefault(queue_of(clue), []).append(one)
    elif what == "counted":
        found.counted.append(Counted(at, client, whole(clue["number"])))
    elif what == "divided":
        found.divided.setdefault(str(clue["topic"]), []).append(Divided(at, client, whole(clue["number"])))
    elif what == "brokers tell":
        found.covers.append((at, whole(clue["number"])))
        found.causes.append(Cause(whole(clue["number"]), LOG_ENDS, None, process))
    elif what == "pull refused":
        found.refusals.setdefault(process, []).append(at)


def whole(value: object) -> int:
    """Insist on a whole number."""
    assert isinstance(value, int)
    return value


def known(value: object) -> int | None:
    """Insist on a whole number or nothing."""
    return None if value is None else whole(value)


def queue_of(row: dict[str, object]) -> MessageQueue:
    """Give the queue that a row names."""
    return MessageQueue(str(row["topic"]), str(row["broker"]), whole(row["queue_id"]))
