"""What the author of a by-config version says to have read: kinds of risk, each with its queues or clients.

Stored without any language, in the version and in the audit log; whoever reads it has the words of his own. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.push.runs import Runs, pack, unpack

MOST_KEPT = 200  # subjects of one acknowledgement by name; ``count`` and ``key`` are of all of them
OF_QUEUES = frozenset({"unknown queue", "without owner", "retry left out"})  # whose subjects are queues
MOST_NAMED = 12
MOST_IDS = 1_000_000  # of queues of one topic on one broker, in a row that somebody may have tampered with


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """One risk that somebody says to have read.

    Attributes:
        kind: its name, which never changes. Empty: of a version from before, of which the sentence alone is known.
        key: this kind about these subjects, and no others (``plans/checks.py``).
        count: of the subjects; ``subjects`` are the first ``MOST_KEPT`` of them.
        said: the sentence, where that is all that is known.
        rest: of queues, those beyond the first: runs of their ids (``push/runs.py``) by ``topic/broker``.
    """

    kind: str
    key: str
    count: int
    subjects: tuple[str, ...]
    said: str = ""
    rest: tuple[tuple[str, Runs], ...] = ()

    def as_values(self) -> dict[str, object]:
        """Give it as JSON can have it."""
        values = {"kind": self.kind, "key": self.key, "count": self.count, "subjects": list(self.subjects)}
        return values | ({"rest": {place: list(ids) for place, ids in self.rest}} if self.rest else {})

    @property
    def every_subject(self) -> tuple[str, ...]:
        """All subjects that are known: of queues all there are."""
        rest = (f"{place}/{number}" for place, ids in self.rest for number in unpack(ids).tolist())
        return (*self.subjects, *rest)

    @property
    def words(self) -> str:
        """What was read, in the reader's language."""
        return self.said or risk_words(self.kind, self.count)

    @property
    def sentence(self) -> str:
        """The same, with the first subjects."""
        if not self.subjects:
            return self.words
        named = ", ".join(self.subjects[:MOST_NAMED])
        left = self.count - min(len(self.subjects), MOST_NAMED)
        more = _(" and %(n)s more") % {"n": left} if left else ""
        return f"{self.words} ({named}{more})"


def risk(kind: str, key: str, subjects: Sequence[str]) -> Acknowledged:
    """Make one of all its subjects."""
    rest = _in_runs(subjects[MOST_KEPT:]) if kind in OF_QUEUES else ()
    return Acknowledged(kind, key, len(subjects), tuple(subjects[:MOST_KEPT]), rest=rest)


def _in_runs(queues: Sequence[str]) -> tuple[tuple[str, Runs], ...]:
    numbers: dict[str, list[int]] = {}
    for queue in queues:
        place, _slash, number = queue.rpartition("/")
        numbers.setdefault(place, []).append(int(number))
    return tuple((place, pack(ids)) for place, ids in numbers.items())


def write_risks(risks: Sequence[Acknowledged]) -> str:
    """Write them for a column: a line of JSON each, in ASCII."""
    return "\n".join(json.dumps(each.as_values()) for each in risks)


def read_risks(text: str) -> list[Acknowledged]:
    """Read such a column; lines from before have a sentence alone."""
    return [_read_line(line) for line in text.splitlines()]


def read_risk(value: object) -> Acknowledged:
    """Read one as ``as_values`` gives it; what is none is taken for its sentence."""
    if not isinstance(value, Mapping) or not isinstance(value.get("kind"), str):
        return Acknowledged("", "", 0, (), value if isinstance(value, str) else json.dumps(value))
    subjects, count = value.get("subjects"), value.get("count")
    named = tuple(map(str, subjects)) if isinstance(subjects, list) else ()
    number = count if type(count) is int else len(named)
    return Acknowledged(value["kind"], str(value.get("key", "")), number, named, rest=_read_rest(value.get("rest")))


def _read_rest(value: object) -> tuple[tuple[str, Runs], ...]:
    """Read runs of ids by place; what is none is left out."""
    places = value.items() if isinstance(value, Mapping) else ()
    return tuple((str(place), tuple(ids)) for place, ids in places if _are_runs(ids))


def _are_runs(ids: object) -> bool:
    if not isinstance(ids, list) or len(ids) % 2 or not all(type(each) is int and each >= 0 for each in ids):
        return False
    return sum(ids) <= MOST_IDS


def _read_line(line: str) -> Acknowledged:
    try:
        value = json.loads(line)
    except ValueError:
        value = line
    return read_risk(value)


def risk_words(kind: str, n: int) -> str:
    """Say what a risk is, of so many subjects; a kind that is none here as it is."""
    words = {
        "unknown queue": ngettext(
            "%(n)s queue is in no route of the group's topics", "%(n)s queues are in no route of the group's topics", n
        ),
        "without owner": ngettext(
            "%(n)s queue has no owner: its messages would wait",
            "%(n)s queues have no owner: their messages would wait",
            n,
        ),
        "retry left out": _("a %RETRY% queue is left out: failed messages would never be consumed again"),
        "unknown client": ngettext(
            "%(n)s client was never seen in this group", "%(n)s clients were never seen in this group", n
        ),
        "client offline": ngettext(
            "%(n)s client is offline: its queues wait for it", "%(n)s clients are offline: their queues wait", n
        ),
        "topic not subscribed": _(
            "members are given queues of topics to which they do not subscribe: they would hold them and pull nothing"
        ),
        "not divided": _("the group broadcasts: every member has every queue, whatever it is told"),
    }
    return words[kind].replace("%(n)s", str(n)) if kind in words else kind
