"""The same facts in any order: looks of several members and brokers, and reports, do not come in the order of time.

What one member's looks show, and what brokers list, comes in its own order; between them there is none. A group may be
rebalanced at any time in between, and more be stored while it is read. Rounds, causes and handoffs come out the same.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dashboard.clusters.models import Cluster, OutboxLine
from dashboard.groups import rebalancing
from dashboard.groups.ending import tell_again
from dashboard.groups.models import Group, Handoff, Round, RoundCause
from dashboard.groups.queries import Look, look_at
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.eventlog import read
from rebalance_engine.events import EXACT, DropReason, Exactness, Fact, Origin, QueueDropped, QueueTaken
from rebalance_engine.events.rounds import RoundFact
from tests.dashboard.luck import examples
from tests.dashboard.story import REPORT, T0, add_cluster, held, joined, left, listed, missed, queue, route, seen, told

Streams = tuple[tuple[Fact, ...], ...]
Outcome = tuple[list[tuple], list[tuple], list[tuple], dict[tuple[str, int], RoundFact]]


def dropped(client: str, at: int, number: int) -> Fact:
    fixed = {"source": REPORT, "exactness": EXACT, "reason": DropReason.NOT_IN_TARGET, "group": "g"}
    return QueueDropped(at=T0 + at, client=client, queue=queue(number), **fixed)  # type: ignore[arg-type] # as named


def taken(client: str, at: int, number: int) -> Fact:
    return QueueTaken(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client=client, queue=queue(number))


def lost(client: str, at: int, low: int) -> Fact:
    return replace(left(client, at), exactness=Exactness.between(T0 + low, T0 + at))


A_JOIN: Streams = (
    (joined("C", 5_000, low=4_000), held("C", 5_300, []), held("C", 6_900, [3])),
    (held("A", 5_100, [0, 1]),),
    (held("B", 4_700, [2]),),
)
A_REPORTED_JOIN: Streams = (*A_JOIN, (dropped("B", 4_650, 3),), (taken("C", 6_500, 3),))
A_KILL: Streams = (
    (lost("B", 53_000, low=50_900),),
    (held("A", 50_800, [0, 1]), held("A", 51_200, [0, 1, 2]), held("A", 51_500, [0, 1, 2, 3])),
)
TWO_JOINS: Streams = (
    (
        *(joined("C", 5_000, low=4_000), held("C", 5_300, []), held("C", 11_900, [2])),
        *(joined("D", 12_000, low=11_000), held("D", 12_100, []), held("D", 13_000, [3])),
    ),
    (held("A", 5_100, [0, 1]), held("A", 11_600, [0])),
    (held("B", 4_700, [2]), held("B", 11_500, []), held("B", 12_500, [1])),
)
A_JOIN_THAT_IS_REPORTED_LATE: Streams = (
    (joined("C", 5_000, low=4_000), held("C", 5_300, []), held("C", 6_900, [3]), taken("C", 6_500, 3)),
    (held("A", 5_100, [0, 1]),),
    (held("B", 4_700, [2]), held("B", 5_600, [2])),
)
THERE_AND_BACK: Streams = (
    (
        *(joined("C", 5_000, low=4_000), held("C", 5_300, []), held("C", 6_900, [3]), held("C", 7_900, [])),
        *(held("C", 8_900, [3]),),
    ),
    (held("A", 5_100, [0, 1]),),
    (held("B", 4_700, [2]), held("B", 7_400, [2, 3]), held("B", 8_400, [2])),
)
A_JOIN_ON_A_BUSY_MACHINE: Streams = (  # answers take long, and tell of any time since they were asked for
    (joined("C", 5_000, low=3_000), missed("C", 5_100), held("C", 6_900, [], asked=5_800), held("C", 8_200, [3])),
    (held("A", 5_400, [0, 1], asked=3_900), held("A", 6_600, [0, 1], asked=6_100)),
    (held("B", 5_900, [2, 3], asked=4_600), held("B", 7_700, [2, 3], asked=6_300), held("B", 7_900, [2])),
)
LISTS_THAT_DISAGREE: Streams = (  # a broker lists who has left for longer than the other one
    (listed(4_100, "A", "B"), lost("B", 9_000, low=3_900), listed(9_000, "A")),
    (listed(4_000, "A", broker="west"), listed(8_100, "A", broker="west")),
    (held("A", 4_300, [0, 1, 2]), held("A", 4_800, [0, 1, 2, 3]), held("A", 9_300, [0, 1, 2, 3])),
)
NO_CAUSE: Streams = ((held("A", 5_100, [0]), held("A", 9_000, [0, 1])), (held("B", 4_700, [1, 2, 3]),))
LAST_LOOKS = {
    A_JOIN: (held("A", 60_000, [0, 1]), held("B", 60_000, [2]), held("C", 60_000, [3])),
    A_REPORTED_JOIN: (held("A", 60_000, [0, 1]), held("B", 60_000, [2]), held("C", 60_000, [3])),
    A_JOIN_THAT_IS_REPORTED_LATE: (held("A", 60_000, [0, 1]), held("B", 60_000, [2]), held("C", 60_000, [3])),
    A_JOIN_ON_A_BUSY_MACHINE: (held("A", 60_000, [0, 1]), held("B", 60_000, [2]), held("C", 60_000, [3])),
    LISTS_THAT_DISAGREE: (held("A", 60_000, [0, 1, 2, 3]),),
    THERE_AND_BACK: (held("A", 60_000, [0, 1]), held("B", 60_000, [2]), held("C", 60_000, [3])),
    A_KILL: (held("A", 60_000, [0, 1, 2, 3]),),
    TWO_JOINS: tuple(held(client, 60_000, [number]) for number, client in enumerate("ABCD")),
    NO_CAUSE: (held("A", 60_000, [0, 1]), held("B", 60_000, [2, 3])),
}


def mixed(streams: Streams, luck: Random) -> list[Fact]:
    """Put streams into one another, each in its own order."""
    left_over = [list(stream) for stream in streams]
    facts: list[Fact] = []
    while any(left_over):
        facts.append(luck.choice([stream for stream in left_over if stream]).pop(0))
    return facts


def come_of(facts: list[Fact], last: tuple[Fact, ...], turns: set[int], torn: Collection[int] = ()) -> Outcome:
    """Store facts one by one, rebalance after some, and give what came of it when all are in.

    Args:
        facts, last: what is stored, and what is stored at the end.
        turns: with how many facts to go the group is rebalanced.
        torn: with how many facts to go the next one is stored between two statements that read the group.
    """
    Cluster.objects.all().delete()
    add_cluster()
    told(route(4), *seen("A"), *seen("B"), listed(0, "A", "B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    group = Group.objects.get().pk
    rebalance_once(group=group, now=T0 + 20)
    waiting, latest, reads = list(facts), [T0 + 20], [0]

    def store() -> None:
        fact = waiting.pop(0)
        told(fact)
        latest.append(max(fact.at, latest[-1]))
        if fact.source.origin is Origin.AGENT_REPORT:  # as the door of reports does
            tell_again(group=group, since=fact.at, until=fact.at, now=latest[-1])

    def look_later(*, group: Group) -> Look:
        reads[-1] += 1
        if waiting and len(waiting) in torn and reads[-1] <= rebalancing.MOST_READS:  # then nobody may store any
            store()
        return look_at(group=group)

    with patch.object(rebalancing, "look_at", look_later):
        while waiting:
            store()
            if len(waiting) in turns:
                reads.append(0)
                rebalance_once(group=group, now=lambda: latest[-1])
    told(*last)
    rebalance_once(group=group, now=T0 + 61_000)
    rounds = Round.objects.order_by("number").values_list(
        *("number", "cause", "state", "opened_at", "opened_low", "closed_at", "superseded_by", "wave"),
        *("members_before", "members_after"),
    )
    causes = RoundCause.objects.order_by("at", "cause", "client_id").values_list(
        *("round__number", "cause", "client_id", "evidence", "at", "at_low", "at_high")
    )
    handoffs = Handoff.objects.order_by("round__number", "topic", "queue_id", "dropped_at").values_list(
        *("round__number", "queue_id", "from_client", "to_client", "dropped_low", "dropped_high"),
        *("taken_low", "taken_high", "unowned_low", "unowned_high", "overlap_low", "overlap_high"),
    )
    lines = OutboxLine.objects.filter(line__contains='"event":"Round').order_by("pk").values_list("line", flat=True)
    tellings = [fact for fact in map(read, lines) if isinstance(fact, RoundFact)]
    last_told = {(type(fact).__name__, fact.round): fact for fact in tellings}  # one that is told again is told closer
    return (
        list(rounds),
        list(causes),
        list(handoffs),
        last_told,
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("streams", "rounds", "handoffs"),
    [
        (A_JOIN, [(1, "member joined")], [(1, 3, "B", "C")]),
        (A_REPORTED_JOIN, [(1, "member joined")], [(1, 3, "B", "C")]),
        (A_JOIN_THAT_IS_REPORTED_LATE, [(1, "member joined")], [(1, 3, "B", "C")]),
        (
            A_JOIN_ON_A_BUSY_MACHINE,
            [(1, "member joined")],
            [(1, 3, "B", "C")],
        ),
        (LISTS_THAT_DISAGREE, [(1, "member left")], [(1, 2, "B", "A"), (1, 3, "B", "A")]),
        (A_KILL, [(1, "member left")], [(1, 2, "B", "A"), (1, 3, "B", "A")]),
        (
            TWO_JOINS,
            [(1, "member joined"), (2, "member joined")],
            [(1, 1, "A", "B"), (1, 2, "B", "C"), (1, 3, "B", "D")],
        ),
        (NO_CAUSE, [(1, "held changed")], [(1, 1, "A", "B"), (1, 1, "B", "A")]),
    ],
    ids=[
        "a join",
        "a reported join",
        "a join that is reported late",
        "a join on a busy machine",
        "lists that disagree",
        "a kill",
        "two joins",
        "no cause",
    ],
)
def test_facts_in_any_order_come_to_the_same_rounds_and_handoffs(
    streams: Streams, rounds: list[tuple], handoffs: list[tuple]
) -> None:
    in_time = sorted((fact for stream in streams for fact in stream), key=lambda fact: fact.at)
    known = come_of(in_time, LAST_LOOKS[streams], set(range(len(in_time))))

    @settings(
        max_examples=examples(8),
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each is whole rebalances on a database: no shrinking
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(st.randoms(use_true_random=False), *[st.sets(st.integers(0, len(in_time)))] * 2)
    def check(luck: Random, turns: set[int], torn: set[int]) -> None:
        assert come_of(mixed(streams, luck), LAST_LOOKS[streams], turns, torn) == known

    assert [row[:2] for row in known[0]] == rounds
    assert [row[:4] for row in known[2]] == handoffs
    check()


@pytest.mark.django_db
@pytest.mark.parametrize("turns", [set[int](), set(range(20))], ids=["at the end", "after each"])
def test_a_queue_that_goes_back_and_forth_in_a_round_is_handed_over_each_time(turns: set[int]) -> None:
    in_time = sorted((fact for stream in THERE_AND_BACK for fact in stream), key=lambda fact: fact.at)

    rounds, _, handoffs, _ = come_of(in_time, LAST_LOOKS[THERE_AND_BACK], turns)

    assert [row[:2] for row in rounds] == [(1, "member joined")]
    assert [row[:4] for row in handoffs] == [(1, 3, "B", "C"), (1, 3, "C", "B"), (1, 3, "B", "C")]


@pytest.mark.django_db
def test_joins_that_are_stored_in_reverse_come_to_the_same_rounds() -> None:
    of_c, of_d = TWO_JOINS[0][:3], TWO_JOINS[0][3:]
    looks = sorted((fact for stream in TWO_JOINS[1:] for fact in stream), key=lambda fact: fact.at)
    in_time = sorted((*of_c, *of_d, *looks), key=lambda fact: fact.at)

    known = come_of(in_time, LAST_LOOKS[TWO_JOINS], set(range(20)))

    assert come_of([*of_d[:2], *of_c[:2], of_d[2], of_c[2], *looks], LAST_LOOKS[TWO_JOINS], {0, 1, 2, 3}) == known
