"""What a dry run is asked: other members, queues, brokers, another strategy. It stands in the URL.

=============  ==================================  =====================================================
parameter      example                             means
=============  ==================================  =====================================================
``add``        ``10.0.0.9@7`` or ``3``             these clients join; a number: so many, with new names
``remove``     ``10.0.0.1@7``                      these members leave
``rename``     ``10.0.0.1@7>10.0.0.9@7``           a member comes back under another id
``queues``     ``orders/broker-a/8``               the topic has 8 queues there; ``orders/*/8``: on each broker
``broker``     ``broker-c``; ``-broker-a``         a broker comes, with queues as the others have; one goes
``strategy``   ``STICKY``                          all divide by this one; empty: as they do now
``params``     ``{"virtual_nodes": 20}``           what the strategy takes, as JSON
=============  ==================================  =====================================================

Each may be there several times. Values are separated by white space or commas too, but for ``params``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from rebalance_engine.model import MessageQueue
from rebalance_engine.tables import ClientTable, QueueTable

MOST_NEW = 2_000
MOST_NEW_BROKERS = 100
MOST_QUEUES = 100_000
MOST_PROBLEMS = 20
LONGEST = 20_000  # characters of one parameter
LONGEST_NAME = 255
LONGEST_COUNT = 20  # digits that are read as a number
LONGEST_SHOWN = 60
NAMES = ("add", "remove", "rename", "queues", "broker", "strategy", "params")
EVERY_BROKER = "*"
MORE = "new-{}@dry-run"
RETRY = "%RETRY%"


class BadQuestion(ValueError):
    """What is asked makes no sense; ``problems`` are sentences for people."""

    def __init__(self, problems: Sequence[str]) -> None:
        shown = list(problems[:MOST_PROBLEMS])
        if len(problems) > len(shown):
            shown.append(f"And {len(problems) - len(shown):,} more.")
        super().__init__(" ".join(shown))
        self.problems = tuple(shown)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, as it was written: nothing of it has been held against a group."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    rename: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    broker: tuple[str, ...] = ()
    strategy: str = ""
    params: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be other than it is."""
        return self == Question()

    def as_query(self, **changed: str) -> str:
        """Write it as the query of a URL that reopens it; ``changed`` replaces parameters."""
        pairs = [(name, value) for name in NAMES[:5] for value in getattr(self, name)]
        pairs += [(name, getattr(self, name)) for name in NAMES[5:]]
        kept = [(name, value) for name, value in pairs if name not in changed]
        return urlencode([(name, value) for name, value in [*kept, *changed.items()] if value])

    def as_lists(self) -> dict[str, object]:
        """Give it as plain values, without what is not asked."""
        values = {name: getattr(self, name) for name in NAMES}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class Changes:
    """What is asked of one group, held against it.

    Attributes:
        clients: who is a member then, as often as registered.
        renamed: new name -> old one.
        queues: which queues there are then.
    """

    clients: tuple[str, ...]
    queues: QueueTable
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)


def read_question(values_of: Callable[[str], Sequence[str]]) -> Question:
    """Read a question; ``values_of`` gives the values of a parameter, none where it is missing.

    Raises:
        BadQuestion: a parameter is longer than any that makes sense.
    """
    given = {name: [value.strip() for value in values_of(name)] for name in NAMES}
    sizes = {name: sum(map(len, values)) for name, values in given.items()}
    problems = [
        f"{name} has {size:,} characters; at most {LONGEST:,} are read."
        for name, size in sizes.items()
        if size > LONGEST
    ]
    if problems:
        raise BadQuestion(problems)
    lists = {name: tuple(value for value in given[name] if value) for name in NAMES[:5]}
    return Question(**lists, strategy=_last(given["strategy"]), params=_last(given["params"]))


def hold_against(question: Question, clients: ClientTable, queues: QueueTable) -> Changes:
    """Work out who would be a member and which queues there would be.

    Raises:
        BadQuestion: a member is to leave who is none, a topic has no queues here, and the like.
    """
    problems: list[str] = []
    members = list(clients.ids)
    removed = _removed(question, members, problems)
    renamed = _renamed(question, members, removed, problems)
    added = _added(question, members, problems)
    table = _queues(question, queues, problems)
    if problems:
        raise BadQuestion(problems)
    gone = {*removed, *renamed.values()}
    stay = [client for client in members if client not in gone]
    return Changes(
        clients=(*stay, *renamed, *added),
        queues=table,
        added=tuple(added),
        removed=tuple(removed),
        renamed=renamed,
    )


def _removed(question: Question, members: Sequence[str], problems: list[str]) -> list[str]:
    known = set(members)
    asked = dict.fromkeys(name for value in question.remove for name in _names(value, known))
    problems += [f"{short(name)} is no member, so it cannot leave." for name in asked if name not in known]
    return list(asked)


def _renamed(question: Question, members: Sequence[str], removed: Iterable[str], problems: list[str]) -> dict[str, str]:
    renamed: dict[str, str] = {}
    there, gone = frozenset(members), set[str]()
    taken = there.difference(removed)
    for value in (name for each in question.rename for name in _names(each, ())):
        old, new = _split_rename(value, there)
        if old not in there:
            problems.append(f"{short(value)} is no member and its new name; needed is OLD>NEW, where OLD is a member.")
        elif not new:
            problems.append(f"{short(old)} cannot be nobody: needed is OLD>NEW.")
        elif why := _no_name(new):
            problems.append(f"{short(old)} cannot be renamed: {why}")
        elif new in taken or new in renamed or old in gone or old in removed:
            seen = f"{short(old)} cannot be {short(new)}"
            problems.append(f"{seen}: that name is taken, or the member is gone already.")
        else:
            renamed[new] = old
            gone.add(old)
    return renamed


def _split_rename(value: str, members: Collection[str]) -> tuple[str, str]:
    """Split ``OLD>NEW`` where OLD is a member: a client id may have any sign in it."""
    places = [found.start() for found in re.finditer(">", value)]
    fitting = [place for place in places if value[:place] in members]
    place = fitting[-1] if fitting else value.find(">")
    return (value[:place], value[place + 1 :]) if place >= 0 else (value, "")


def _added(question: Question, members: Sequence[str], problems: list[str]) -> list[str]:
    names, more = list[str](), 0
    for name in (name for value in question.add for name in _names(value, ())):
        if name.isascii() and name.isdigit():
            if len(name) >= LONGEST_COUNT:
                seen = f"add is {short(name)}, a number of {len(name):,} digits"
                problems.append(f"{seen}; at most {MOST_NEW:,} members can join.")
            elif not int(name):
                problems.append("add is 0; needed are 1 or more members, or their client ids.")
            else:
                more += int(name)
        elif why := _no_name(name):
            problems.append(f"Nobody can join so: {why}")
        else:
            names.append(name)
    if more + len(names) > MOST_NEW:
        problems.append(f"{more + len(names):,} members are to join; at most {MOST_NEW:,} can.")
        return []
    there = set(members)
    problems += [f"{short(name)} is a member already." for name in names if name in there]
    known, number = {*members, *names}, 0
    while more:
        number += 1
        if MORE.format(number) not in known:
            names.append(MORE.format(number))
            more -= 1
    return list(dict.fromkeys(names))


def _queues(question: Question, queues: QueueTable, problems: list[str]) -> QueueTable:
    counts: dict[tuple[str, str], set[int]] = {}
    for queue in queues:
        counts.setdefault((queue.topic, queue.broker), set()).add(queue.queue_id)
    topics, brokers = dict.fromkeys(topic for topic, _ in counts), {broker for _, broker in counts}
    named = dict.fromkeys(name for value in question.broker for name in _names(value, brokers))
    if len(named) > MOST_NEW_BROKERS:
        problems.append(f"{len(named):,} brokers are to come or go; at most {MOST_NEW_BROKERS:,} can.")
        return queues
    for name in named:
        _change_broker(name, counts, brokers, topics, problems)
    for value in (name for each in question.queues for name in _names(each, ())):
        _change_queues(value, counts, topics, problems)
    total = sum(map(len, counts.values()))
    if total > MOST_QUEUES:
        problems.append(f"There would be {total:,} queues; at most {MOST_QUEUES:,} can be tried out.")
        return queues
    if not question.broker and not question.queues:
        return queues
    return QueueTable.of(
        MessageQueue(topic, broker, number) for (topic, broker), ids in counts.items() for number in ids
    )


def _change_broker(
    name: str, counts: dict[tuple[str, str], set[int]], brokers: set[str], topics: Iterable[str], problems: list[str]
) -> None:
    if name.startswith("-") and name[1:] in brokers:
        for topic in topics:
            counts.pop((topic, name[1:]), None)
    elif name.startswith("-"):
        problems.append(f"{short(name[1:])} has no queue of this group, so it cannot go.")
    elif name in brokers:
        problems.append(f"{short(name)} has queues of this group already.")
    elif why := _no_name(name):
        problems.append(f"No broker can come so: {why}")
    else:
        for topic in topics:
            most = max((len(ids) for (of, _), ids in counts.items() if of == topic), default=0)
            counts[topic, name] = set(range(most))


def _change_queues(
    value: str, counts: dict[tuple[str, str], set[int]], topics: Iterable[str], problems: list[str]
) -> None:
    topic, broker, count = [*value.rsplit("/", 2), "", ""][:3]
    if topic not in topics or not broker or not (count.isascii() and count.isdigit()):
        consumed = [short(each) for each in topics]
        more = f" and {len(consumed) - 5} more" if len(consumed) > 5 else ""
        problems.append(
            f"{short(value)} is no TOPIC/BROKER/COUNT of this group; it consumes"
            f" {', '.join(consumed[:5]) or 'nothing'}{more}."
        )
        return
    if len(count) > 6 or int(count) > MOST_QUEUES:
        problems.append(f"{short(value)} is too much: a topic can have 0 to {MOST_QUEUES:,} queues on a broker here.")
        return
    chosen = [of for (t, of) in counts if t == topic] if broker == EVERY_BROKER else [broker]
    if (topic, broker) not in counts and broker != EVERY_BROKER:
        problems.append(f"{short(broker)} has no queue of {short(topic)}; a new broker is asked for as such.")
        return
    for each in chosen:
        counts[topic, each] = set(range(int(count)))


def _names(value: str, known: Iterable[str]) -> list[str]:
    """Split names at white space and commas, but for one that is known as it stands."""
    return [value] if value in known else [name for name in re.split(r"[\s,]+", value) if name]


def _no_name(name: str) -> str:
    """Say why nobody can be called so; empty: somebody can. A number that is no count is a mistake, never a name."""
    needed = f"needed is a name of 1 to {LONGEST_NAME} characters"
    if not 0 < len(name) <= LONGEST_NAME:
        return f"{short(name)} has {len(name):,} characters; {needed}."
    try:
        float(name)
    except ValueError:
        return ""
    return f"{short(name)} is a number; {needed}, or as many as are to join, from 1 to {MOST_NEW:,}."


def short(text: str) -> str:
    """Quote what somebody wrote, cut where it is long."""
    return f"'{text}'" if len(text) <= LONGEST_SHOWN else f"'{text[:LONGEST_SHOWN]}…'"


def _last(values: Sequence[str]) -> str:
    return values[-1] if values else ""
