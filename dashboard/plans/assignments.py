"""A by-config assignment as a document: JSON that people write, ``{client id: ["topic/broker/0-3", ...]}``.

A queue is written as everywhere, ``topic/broker/3``; neighbours together, ``topic/broker/0-3``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from dashboard.common.names import LONGEST as LONGEST_NAME
from dashboard.common.names import MOST_BYTES, fits
from dashboard.common.shown import shown
from rebalance_engine.findings import spell
from rebalance_engine.model import MAX_QUEUE_ID, MessageQueue

LONGEST = 2_000_000  # characters
MOST_QUEUES = 200_000
MOST_CLIENTS = 5_000
MOST_PROBLEMS = 20
SHOWN = 60  # characters of a name that is too long
Assignment = dict[str, tuple[MessageQueue, ...]]


class BadAssignment(ValueError):
    """The text is no assignment; ``problems`` are sentences for people."""

    def __init__(self, problems: list[str]) -> None:
        shown = problems[:MOST_PROBLEMS]
        if len(problems) > len(shown):
            shown.append(f"And {len(problems) - len(shown):,} more.")
        super().__init__(" ".join(shown))
        self.problems = tuple(shown)


def read(text: str) -> Assignment:
    """Read a document. A client that stands in it twice has both lists; what is listed twice stays so, to be found.

    Raises:
        BadAssignment: it is none.
    """
    if len(text) > LONGEST:
        raise BadAssignment([f"The document has {len(text):,} characters; at most {LONGEST:,} are read."])
    try:
        pairs = json.loads(text or "{}", object_pairs_hook=_Pairs)
        json.dumps(pairs, ensure_ascii=False).encode()  # "\\ud800" is JSON, and no text that an answer can have
    except UnicodeEncodeError:
        raise BadAssignment(["A name has half a character, as \\ud800 is; needed are whole ones."]) from None
    except (ValueError, RecursionError) as error:
        raise BadAssignment([f"This is no JSON: {error}."]) from error
    if not isinstance(pairs, _Pairs):
        raise BadAssignment(['Needed is a JSON object: {"client id": ["topic/broker/0-3"]}.'])
    problems: list[str] = []
    assignment: dict[str, tuple[MessageQueue, ...]] = {}
    left = MOST_QUEUES
    for client, listed in pairs:
        queues = tuple(_queues_of(client, listed, left, problems))
        left -= len(queues)
        assignment[client] = assignment.get(client, ()) + queues
    if len(assignment) > MOST_CLIENTS:
        problems.append(f"{len(assignment):,} clients are named; at most {MOST_CLIENTS:,} can be.")
    if left < 0:
        problems.append(f"More than {MOST_QUEUES:,} queues are named.")
    if "" in assignment:
        problems.append("A client id is empty.")
    if problems:
        raise BadAssignment(problems)
    return assignment


def write(assignment: Mapping[str, Iterable[MessageQueue]]) -> str:
    """Write a document, clients and queues sorted, neighbours together; reading it gives the same assignment."""
    clients = [f"  {json.dumps(client)}: [{_lines(runs)}]" for client, runs in as_lists(assignment).items()]
    return "{\n" + ",\n".join(clients) + "\n}\n" if clients else "{}\n"


def as_lists(assignment: Mapping[str, Iterable[MessageQueue]]) -> dict[str, list[str]]:
    """Give an assignment as plain values, clients and queues sorted, neighbours together."""
    return {client: list(_runs(sorted(queues))) for client, queues in sorted(assignment.items())}


class _Pairs(list[tuple[str, object]]):
    """The members of a JSON object, in their order, those of one name too."""


def _queues_of(client: str, listed: object, left: int, problems: list[str]) -> Iterator[MessageQueue]:
    if not fits(client):
        problems.append(_too_long("client id", client))
        return
    if not isinstance(listed, list) or isinstance(listed, _Pairs):
        problems.append(f"{client} has no list of queues.")
        return
    for text in listed:
        queues = _read_queues(text) if isinstance(text, str) else None
        if queues is None:
            problems.append(
                f"{client} is given {json.dumps(text)[:100]}; needed is TOPIC/BROKER/NUMBER or .../FIRST-LAST."
            )
            continue
        topic, broker, numbers = queues
        if not (fits(topic) and fits(broker)):
            problems.append(_too_long("topic", topic) if not fits(topic) else _too_long("broker", broker))
            continue
        for number in numbers:
            left -= 1
            if left < -1:
                return
            yield MessageQueue(topic, broker, number)


def _too_long(what: str, name: str) -> str:
    return (
        f"The {what} {shown(name, SHOWN)} has {len(name):,} characters; a name has {LONGEST_NAME} at most, "
        f"and {MOST_BYTES} bytes as it is stored."
    )


def _read_queues(text: str) -> tuple[str, str, range] | None:
    topic, broker, ids = [*text.rsplit("/", 2), "", ""][:3]
    first, dash, last = ids.partition("-")
    ends = (first, last) if dash else (first, first)
    if not topic or not broker or not all(end.isascii() and end.isdigit() and len(end) < 11 for end in ends):
        return None
    low, high = int(ends[0]), int(ends[1])
    return (topic, broker, range(low, high + 1)) if low <= high <= MAX_QUEUE_ID else None


def _runs(queues: list[MessageQueue]) -> Iterator[str]:
    """Spell queues, neighbours together; one that is there twice is spelt twice."""
    place = 0
    while place < len(queues):
        end = place
        while end + 1 < len(queues) and queues[end + 1] == queues[end]._replace(queue_id=queues[end].queue_id + 1):
            end += 1
        first, last = queues[place], queues[end]
        yield spell(first) if end == place else f"{spell(first)}-{last.queue_id}"
        place = end + 1


def _lines(runs: list[str]) -> str:
    return "\n    " + ",\n    ".join(map(json.dumps, runs)) + "\n  " if runs else ""
