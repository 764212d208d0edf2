"""The dry run beside stock members: what the API says would be is what they then hold, each queue of random groups.

Nothing here divides: the right answer is what Java members of 4.9.7 and 5.5.0 do when the change is made for real.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pytest_django import Settings
from redis import Redis

from dashboard.groups.models import Holding, Member
from rebalance_engine.remoting.requests.changes import UpdateAndCreateTopic
from tests.cluster.contract import Cluster
from tests.cluster.lines import Client
from tests.cluster.members import Option, java_consumers
from tests.cluster.processes import TooLate
from tests.dashboard.conftest import redis, redis_server  # noqa: F401 - fixtures
from tests.matrix.room import Room

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
OLD, NEW = "4.9.7", "5.5.0"
GROUPS, SEED = 4, "dry run"
STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
SIGNS = "-0123456789ABCXYZ_abcxyz"  # names sort by code points: digits, large letters, small ones
OFTEN = ["-Drocketmq.client.rebalance.waitInterval=1000"]  # divides each second, instead of each 20 s
HELD = dict[str, frozenset[str]]  # queues by client id, those of the retry topic as well
Question = dict[str, list[str]]


@dataclass(slots=True)
class Drawn:
    """A group as the dice gave it.

    Attributes:
        topics: how many queues each has, by broker.
        names: the members' instance names, by what becomes of them.
        release: of each member, by name.
        ids: the client ids of those that run, by name.
    """

    name: str
    strategy: str
    topics: dict[str, dict[str, int]]
    names: dict[str, list[str]]
    release: dict[str, str]
    ids: dict[str, str] = field(default_factory=dict)

    def renamed(self) -> Iterator[tuple[str, str]]:
        """Give who comes back under another name, and under which."""
        return zip(self.names["goes"], self.names["comes"], strict=True)

    def id_of(self, name: str) -> str:
        """Give the client id that an instance name will have: this machine's address stands in all of them."""
        address = next(iter(self.ids.values())).partition("@")[0]
        return f"{address}@{name}"


class Cast:
    """The members of all groups: one Java process for each release and fate."""

    def __init__(self, cluster: Cluster, groups: Sequence[Drawn], folder: Path) -> None:
        self.cluster, self.groups, self.folder = cluster, groups, folder
        self.clients: dict[tuple[str, str], Client] = {}

    def start(self, *wanted: tuple[str, str]) -> None:
        """Start those of a fate that are of a release."""
        for fate, release in wanted:
            members = [
                self._options(group, name)
                for group in self.groups
                for name in group.names[fate]
                if group.release[name] == release
            ]
            if members:
                folder = self.folder / f"{fate}-{release}"
                self.clients[fate, release] = java_consumers(release, members, folder, OFTEN)
        for key in wanted:
            if client := self.clients.get(key):
                client.wait("started", count=len(client.names))
        for group in self.groups:
            for name in (name for fate, _ in wanted for name in group.names[fate]):
                group.ids[name] = self._client_of(name).client_id(name)

    def stop(self, fate: str) -> None:
        """Stop those of a fate in order."""
        for client in (client for (of, _), client in self.clients.items() if of == fate):
            client.stop()
        for group in self.groups:
            for name in group.names[fate]:
                del group.ids[name]

    def rename(self) -> None:
        """Stop those who come back under another name, and start them under it."""
        self.stop("goes")
        self.start(("comes", OLD), ("comes", NEW))

    def held(self, group: Drawn) -> HELD:
        """Give what everybody says to hold."""
        return {client_id: self._last(name) for name, client_id in group.ids.items()}

    def _last(self, name: str) -> frozenset[str]:
        told = self._client_of(name).seen("held", name)
        return frozenset(map(str, told[-1]["queues"])) if told else frozenset()  # type: ignore[call-overload]

    def _client_of(self, name: str) -> Client:
        return next(client for client in self.clients.values() if name in client.names)

    def _options(self, group: Drawn, name: str) -> dict[str, Option]:
        return {
            "namesrv": self.cluster.namesrv,
            "group": group.name,
            "topics": ",".join(group.topics),
            "name": name,
            "strategy": group.strategy,
            "poll": 1_000,
            "threads": 1,
        }


@contextmanager
def cast_of(cluster: Cluster, groups: Sequence[Drawn], folder: Path) -> Iterator[Cast]:
    them = Cast(cluster, groups, folder)
    try:
        yield them
    finally:
        for client in them.clients.values():
            client.kill()


Open = Callable[[Sequence[str]], AbstractContextManager[Room]]


@pytest.fixture
def open_room(cluster: Cluster, redis: Redis, redis_server: str, settings: Settings) -> Open:  # noqa: F811
    settings.REDIS_URL = redis_server
    return lambda groups: Room(cluster, redis, *groups).open()


@pytest.mark.parametrize("cluster", [NEW, "embedded"], indirect=True, scope="session")
def test_what_stock_members_then_hold_is_what_the_dry_run_said(
    cluster: Cluster, open_room: Open, tmp_path: Path
) -> None:
    dice = random.Random(f"{SEED} {cluster.name}")
    deck = dice.sample(STRATEGIES, len(STRATEGIES))  # each strategy comes up
    groups = [draw(f"tried{number}", deck[number % len(deck)], dice) for number in range(GROUPS)]
    for group in groups:
        make_topics(cluster, group)
    with cast_of(cluster, groups, tmp_path) as cast, open_room([group.name for group in groups]) as room:
        cast.start(("stays", OLD), ("stays", NEW), ("leaves", OLD), ("goes", OLD))
        ran = Ran(cast, room)

        ran.ask_and_do(
            lambda group: {"add": [group.id_of(name) for name in group.names["joins"]]},
            lambda: cast.start(("joins", OLD), ("joins", NEW)),
        )
        ran.ask_and_do(
            lambda group: {"remove": [group.ids[name] for name in group.names["leaves"]]},
            lambda: cast.stop("leaves"),
        )
        ran.ask_and_do(
            lambda group: {"rename": [f"{group.ids[old]}>{group.id_of(new)}" for old, new in group.renamed()]},
            cast.rename,
        )
        wider = {group.name: widened(group, dice) for group in groups}
        ran.ask_and_do(
            lambda group: {"queues": [f"{topic}/{broker}/{count}" for topic, broker, count in wider[group.name]]},
            lambda: widen(cluster, [each for several in wider.values() for each in several]),
        )

        ran.wait_until_it_is_stored()
        assert all(count >= GROUPS for count in ran.moved), ran.moved  # dice that move nothing prove nothing


class Ran:
    """Question after question: what was said, what was done, what then was."""

    def __init__(self, cast: Cast, room: Room) -> None:
        self.cast, self.room = cast, room
        self.expected: dict[str, HELD] = {}
        self.moved: list[int] = []  # queues that changed hands, by change

    def ask_and_do(self, question_of: Callable[[Drawn], Question], do: Callable[[], None]) -> None:
        """Ask of each group what would be, make it so, and hold Java's members to it."""
        self.wait_until_it_is_stored()
        before, said = dict[str, HELD](), dict[str, Mapping[str, object]]()
        for group in self.cast.groups:
            before[group.name] = self.cast.held(group)
            said[group.name] = self.room.dry_run(group.name, question_of(group))
        do()
        for group in self.cast.groups:
            told = said[group.name]
            assert told["from"] == "held"
            assert owned(told, "before") == spread(before[group.name]), told["question"]
            self.expected[group.name] = self._as_clients(group, owned(told, "after"))
        try:
            self.room.until(lambda: not self._wrong(), "what the dry run said")
        except TooLate:
            assert {name: said[name]["question"] for name in self._wrong()} == {}, self._wrong()
        moves = {group.name: changed(before[group.name], self.cast.held(group)) for group in self.cast.groups}
        assert {name: moves_of(told) for name, told in said.items()} == moves
        self.moved.append(sum(map(len, moves.values())))

    def wait_until_it_is_stored(self) -> None:
        """Wait until the control room knows what members hold; it must still be what was said."""
        self.room.until(self._is_stored, "the control room knowing what all hold")
        assert self._wrong() == {}

    def _is_stored(self) -> bool:
        return all(
            _is_whole(held := self.cast.held(group)) and stored(group.name) == held for group in self.cast.groups
        )

    def _wrong(self) -> dict[str, object]:
        """Give the groups that hold something else than was said, with both."""
        return {
            group.name: (group.strategy, self.expected[group.name], held)
            for group in self.cast.groups
            if group.name in self.expected and (held := self.cast.held(group)) != self.expected[group.name]
        }

    @staticmethod
    def _as_clients(group: Drawn, owners: Mapping[str, Sequence[str]]) -> HELD:
        assert all(len(each) == 1 for each in owners.values()), owners
        found: dict[str, set[str]] = {client_id: set() for client_id in group.ids.values()}
        for queue, [owner] in owners.items():
            found.setdefault(owner, set()).add(queue)
        return {client_id: frozenset(queues) for client_id, queues in found.items()}


# ---- the dice ----


def draw(name: str, strategy: str, dice: random.Random) -> Drawn:
    """Draw a group: its topics, its members and what becomes of each."""
    topics = {
        f"{name}-{number}": {broker: dice.randint(1, 6) for broker in ("broker-a", "broker-b")}
        for number in range(dice.randint(1, 3))
    }
    names = {
        "stays": [_name(name, dice) for _ in range(dice.randint(1, 4))],
        "leaves": [_name(name, dice) for _ in range(dice.randint(1, 2))],
        "joins": [_name(name, dice) for _ in range(dice.randint(1, 3))],
        "goes": [_name(name, dice)],
        "comes": [_name(name, dice)],
    }
    release = {each: dice.choice((OLD, NEW)) for fate in ("stays", "joins", "comes") for each in names[fate]}
    release |= dict.fromkeys([*names["leaves"], *names["goes"]], OLD)
    return Drawn(name, strategy, topics, names, release)


def _name(group: str, dice: random.Random) -> str:
    """Draw where a client id sorts; the group behind it keeps names apart."""
    return "".join(dice.choices(SIGNS, k=4)) + group


def widened(group: Drawn, dice: random.Random) -> list[tuple[str, str, int]]:
    """Draw which topics get how many queues more, on one broker or on both."""
    topics = dice.sample(sorted(group.topics), dice.randint(1, len(group.topics)))
    return [
        (topic, broker, group.topics[topic][broker] + dice.randint(1, 4))
        for topic in topics
        for broker in dice.sample(["broker-a", "broker-b"], dice.randint(1, 2))
    ]


# ---- the cluster ----


def make_topics(cluster: Cluster, group: Drawn) -> None:
    for topic, counts in group.topics.items():
        cluster.create_topic(topic, 1)
        widen(cluster, [(topic, broker, count) for broker, count in counts.items()])


def widen(cluster: Cluster, topics: Iterable[tuple[str, str, int]]) -> None:
    for topic, broker, count in topics:
        change = UpdateAndCreateTopic(topic=topic, read_queue_nums=count, write_queue_nums=count, perm=6)
        cluster.ask(cluster.addresses[broker], change)


# ---- what is held ----


def stored(group: str) -> HELD:
    """Give what the control room knows everybody to hold who is a member."""
    found: dict[str, set[str]] = {}
    for member in Member.objects.filter(group__name=group, left_at=None):
        found[member.client_id] = set()
    spans = Holding.objects.filter(member__group__name=group, member__left_at=None, until=None)
    for client_id, *queue in spans.values_list(
        "member__client_id", "queue__topic__name", "queue__broker", "queue__queue_id"
    ):
        found[client_id].add("/".join(map(str, queue)))
    return {client_id: frozenset(queues) for client_id, queues in found.items()}


def spread(held: HELD) -> dict[str, list[str]]:
    """Give the owners of each queue."""
    return {
        queue: sorted(client for client, queues in held.items() if queue in queues)
        for queue in frozenset[str]().union(*held.values())
    }


def _is_whole(held: HELD) -> bool:
    return all(len(owners) == 1 for owners in spread(held).values()) and any(held.values())


def changed(before: HELD, after: HELD) -> set[tuple[str, str | None, str | None]]:
    """Give every queue that changed hands: from whom, to whom."""
    was = {queue: owners[0] for queue, owners in spread(before).items()}
    now = {queue: owners[0] for queue, owners in spread(after).items()}
    return {(queue, was.get(queue), now[queue]) for queue in now if was.get(queue) != now[queue]}


def owned(told: Mapping[str, object], when: str) -> dict[str, list[str]]:
    """Read the owners of each queue out of a dry run."""
    queues = told["queues"]
    assert isinstance(queues, list)
    return {each["queue"]: sorted(each[when]) for each in queues if each[when] is not None}


def moves_of(told: Mapping[str, object]) -> set[tuple[str, str | None, str | None]]:
    moves = told["moves"]
    assert isinstance(moves, list)
    return {(move["queue"], move["from"], move["to"]) for move in moves}
