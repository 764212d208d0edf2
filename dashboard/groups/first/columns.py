"""Where the columns of the first map stand, and what is above them; as ``static/js/lib/columns.js``. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dashboard.groups.table import QueueRow

TOPIC_GAP, BROKER_GAP = 14, 6  # px
WIDEST, NARROWEST = 30, 4
MOST_OF_A_PIECE = 400  # queues: what a zoom shows
PER_DIGIT, PER_LETTER, PER_BOLD = 7, 6.7, 7.0
STEPS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Column:
    """A queue and where it stands; of strays those of all who hold it."""

    x: int
    rows: tuple[QueueRow, ...]

    @property
    def row(self) -> QueueRow:
        """Its queue."""
        return self.rows[0]


@dataclass(frozen=True, slots=True)
class Span:
    """The columns of a topic, or of a broker within it: its name, and from where to where it goes."""

    name: str
    start: int
    end: int


def place(rows: Sequence[QueueRow], room: int) -> tuple[list[Column], int]:
    """Place queues within so many px if that is possible; and give how wide each is. ``rows`` are in order."""
    queues = list(_merged(rows))
    gaps = sum(_gap(one[0], other[0]) for one, other in pairwise(queues))
    cell = max(NARROWEST, min(WIDEST, (room - gaps) // max(1, len(queues))))
    columns: list[Column] = []
    x = 0
    for queue in queues:
        x += _gap(columns[-1].row, queue[0]) if columns else 0
        columns.append(Column(x, queue))
        x += cell
    return columns, cell


def _merged(rows: Sequence[QueueRow]) -> Iterator[tuple[QueueRow, ...]]:
    """Put strays of one queue together; one that is in a route after all is none."""
    places: dict[tuple[str, str, int], list[QueueRow]] = {}
    for row in rows:
        places.setdefault((row.topic, row.broker, row.queue_id), []).append(row)
    for found in places.values():
        routed = [row for row in found if row.kind != "stray"]
        yield tuple(routed[:1] or found)


def _gap(one: QueueRow, other: QueueRow) -> int:
    if one.topic != other.topic:
        return TOPIC_GAP
    return BROKER_GAP if one.broker != other.broker else 0


def topics_of(columns: Sequence[Column], cell: int) -> list[Span]:
    """Give where each topic goes."""
    return _spans(columns, cell, lambda row: (row.topic,))


def brokers_of(columns: Sequence[Column], cell: int) -> list[Span]:
    """Give where each broker of each topic goes."""
    return _spans(columns, cell, lambda row: (row.topic, row.broker))


def _spans(columns: Sequence[Column], cell: int, key: Callable[[QueueRow], tuple[str, ...]]) -> list[Span]:
    found: dict[tuple[str, ...], Span] = {}
    for column in columns:
        name = key(column.row)
        start = found[name].start if name in found else column.x
        found[name] = Span(name[-1], start, column.x + cell)
    return list(found.values())


def numbered(columns: Sequence[Column], cell: int) -> list[Column]:
    """Give the columns whose numbers have room: all, or round ones."""
    digits = max((len(str(column.row.queue_id)) for column in columns), default=1)
    need = max(6 * digits + 5, digits * PER_DIGIT + 2)
    step = next((each for each in STEPS if each * cell >= need), STEPS[-1])
    return [column for column in columns if column.row.queue_id % step == 0]


def middle_of(column: Column, cell: int) -> float:
    """Say where a column's number stands: above its middle; the first of narrow ones is not cut off at the names."""
    return max(column.x + cell / 2, 3 * len(str(column.row.queue_id)))  # digits are 6 px wide


def fit(text: str, width: float, per_letter: float = PER_LETTER) -> str:
    """Cut a name to the room that it has; the end of a broker's name tells it from others."""
    most = int(width // per_letter)
    if len(text) <= most:
        return text
    tail = text.rpartition("-")[2]
    if len(tail) <= most and tail != text:
        return tail
    return f"{text[: most - 1]}…" if most > 2 else ""


def piece_of(rows: Sequence[QueueRow], key: str) -> list[QueueRow]:
    """Give the queues of a piece, by the key that an address has: ``topic/broker/first id``, or ``topic/*/place``."""
    topic, broker, start = ([*key.rsplit("/", 2), "", ""])[:3]
    if not start.isdecimal() or len(start) > 10:
        return []
    first = int(start)
    if broker == "*":
        mine = [row for row in rows if row.topic == topic and row.kind != "stray"]
        return mine[first : first + MOST_OF_A_PIECE]
    ids = range(first, first + MOST_OF_A_PIECE)
    return [row for row in rows if row.topic == topic and row.broker == broker and row.queue_id in ids]
