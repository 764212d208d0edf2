from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count, pairwise
from random import Random

import pytest

from rebalance_engine.network.watcher.agenda import (
    CHANGED_FOR_MS,
    HELD_MS,
    LISTS_MS,
    Agenda,
    Kind,
    Pace,
    Question,
    Rank,
    questions,
)


@dataclass
class Cluster:
    """What is known of a cluster: group -> its members."""

    of: Mapping[str, Collection[str]]
    brokers: int = 2
    changed: Mapping[str, int] = field(default_factory=dict)

    @property
    def masters(self) -> dict[str, str]:
        return {f"b{number}": f"b{number}:1" for number in range(self.brokers)}

    @property
    def groups(self) -> Collection[str]:
        return tuple(self.of)

    def hosts(self, _: str) -> Collection[str]:
        return tuple(self.masters)

    def members(self, group: str) -> Collection[str]:
        return self.of[group]

    def is_online(self, group: str) -> bool:
        return bool(self.of[group])

    def topics_of(self, group: str) -> Collection[str]:
        return (f"topic of {group}",)

    def changed_at(self, group: str) -> int | None:
        return self.changed.get(group)


def every(cluster: Cluster, kind: Kind, group: str, viewed: Collection[str] = (), at: int = 0) -> float:
    asked = questions(cluster, ["names:1"], viewed, at)
    return next(pace.every_ms for question, pace in asked.items() if (question.kind, question.group) == (kind, group))


def rates(cluster: Cluster, viewed: Collection[str]) -> Counter[Kind]:
    """Requests a second at each broker for viewed groups, by kind."""
    counts: Counter[Kind] = Counter()
    for question, pace in questions(cluster, ["names:1"], viewed, 0).items():
        if pace.rank is Rank.VIEWED and question.group:
            counts[question.kind] += 1000 / pace.every_ms / cluster.brokers  # type: ignore[assignment]
    return counts


def test_a_viewed_group_of_five_is_asked_every_second() -> None:
    cluster = Cluster({"G": "ABCDE"})

    assert every(cluster, Kind.LIST, "G", ["G"]) == every(cluster, Kind.HELD, "G", ["G"]) == 1_000


def test_a_larger_viewed_group_is_asked_as_often_as_the_budget_allows() -> None:
    assert every(Cluster({"G": range(50)}), Kind.HELD, "G", ["G"]) == 10_000  # type: ignore[dict-item]


@pytest.mark.parametrize(("groups", "size"), [(1, 5), (3, 40), (30, 30), (100, 1)])
def test_all_viewed_groups_together_use_at_most_half_of_a_brokers_budget(groups: int, size: int) -> None:
    names = [f"g{number}" for number in range(groups)]
    used = rates(Cluster({name: [f"{name}-{n}" for n in range(size)] for name in names}), names)

    assert used[Kind.HELD] <= 2.5 + 1e-9
    assert sum(used.values()) <= 10 + 1e-9


@pytest.mark.parametrize("expiring", [(), ("b0", "b1")])
def test_everything_together_stays_within_a_brokers_budget(expiring: Collection[str]) -> None:
    names = [f"g{number}" for number in range(300)]
    cluster = Cluster(
        {name: [f"{name}-{n}" for n in range(8)] for name in names}, changed=dict.fromkeys(names[100:200], 0)
    )

    asked = questions(cluster, ["names:1"], names[:100], 1, expiring)
    at_brokers = [pace.every_ms for question, pace in asked.items() if question.kind not in {Kind.ROUTE, Kind.BROKERS}]
    at_names = [pace.every_ms for question, pace in asked.items() if question.kind in {Kind.ROUTE, Kind.BROKERS}]

    assert sum(1000 / every for every in at_brokers) / cluster.brokers <= 20
    assert sum(1000 / every for every in at_names) <= 10


def test_the_rest_is_asked_slowly_who_is_a_member_by_every_broker_also_where_nobody_is() -> None:
    cluster = Cluster({"G": "AB", "empty": ""})
    asked = questions(cluster, ["names:1"], [], 0)

    assert every(cluster, Kind.HELD, "G") == HELD_MS[Rank.REST]
    assert every(cluster, Kind.MEMBERS, "G") == LISTS_MS[Rank.REST]
    who = {Kind.LIST, Kind.MEMBERS, Kind.HELD}
    assert [question.place for question in asked if question.group == "empty" and question.kind in who] == ["b0", "b1"]
    assert not [question for question in asked if question.kind is Kind.LIST]


def test_where_a_heartbeat_is_about_to_expire_producers_are_asked_for_every_second() -> None:
    asked = questions(Cluster({"G": "AB"}), ["names:1"], [], 0, {"b1"})

    paces = {question.place: pace for question, pace in asked.items() if question.kind is Kind.PRODUCERS}
    assert paces == {"b0": Pace(Rank.REST, 60_000), "b1": Pace(Rank.CHANGED, 1_000)}


def test_what_a_group_gave_up_is_asked_more_often_where_somebody_looks_and_not_where_nobody_is() -> None:
    cluster = Cluster({"G": "AB", "empty": ""})
    viewed, rest = (every(cluster, Kind.DEAD, "G", names) for names in (["G"], []))

    assert (viewed, rest) == (20_000, 60_000)
    asked = questions(cluster, ["names:1"], ["G", "empty"], 0)
    assert {question.group for question in asked if question.kind is Kind.DEAD} == {"G"}


def test_how_far_a_group_is_is_asked_also_where_nobody_is_a_member() -> None:
    cluster = Cluster({"G": "AB", "empty": ""})

    assert every(cluster, Kind.PROGRESS, "empty") == every(cluster, Kind.PROGRESS, "G") == 60_000
    assert every(cluster, Kind.PROGRESS, "empty", ["empty"]) == 10_000
    asked = questions(cluster, ["names:1"], [], 0)
    progress = [each.place for each in asked if (each.kind, each.group) == (Kind.PROGRESS, "empty")]
    assert progress == ["b0", "b1"]


def test_groups_without_members_stay_within_the_budget_of_the_rest() -> None:
    names = [f"g{number}" for number in range(200)]
    asked = questions(Cluster(dict.fromkeys(names, "")), ["names:1"], names[:20], 0)
    paces = [pace for question, pace in asked.items() if question.kind is Kind.PROGRESS]

    of_viewed, of_rest = (sum(1000 / pace.every_ms for pace in paces if pace.rank is rank) / 2 for rank in (0, 2))
    assert of_viewed <= 0.35 + 1e-9
    assert of_rest <= 0.25 + 1e-9


def test_a_group_that_changed_comes_before_the_rest_for_a_while() -> None:
    cluster = Cluster({"G": "AB"}, changed={"G": 1_000})

    assert every(cluster, Kind.HELD, "G", at=2_000) == 2_000
    assert every(cluster, Kind.HELD, "G", at=1_000 + CHANGED_FOR_MS) == HELD_MS[Rank.REST]


def take(agenda: Agenda, at: int) -> list[Question]:
    return [question for question, _ in agenda.due(at, lambda _: "east")]


ORDERS = {
    Question(Kind.HELD, "", "rest", "A"): Pace(Rank.REST, 30_000),
    Question(Kind.HELD, "", "viewed", "A"): Pace(Rank.VIEWED, 1_000),
    Question(Kind.HELD, "", "viewed", "B"): Pace(Rank.VIEWED, 1_000),
    Question(Kind.HELD, "", "viewed", "C"): Pace(Rank.VIEWED, 1_000),
    Question(Kind.HELD, "", "changed", "A"): Pace(Rank.CHANGED, 2_000),
}


def test_viewed_groups_come_first_and_nobody_takes_all_places() -> None:
    agenda = Agenda(Random(1))
    agenda.set(ORDERS, 0)

    first = take(agenda, 0)
    agenda.done(first[0], 10)
    second = take(agenda, 10)

    assert [(one.group, one.name) for one in first] == [("viewed", "A"), ("viewed", "B"), ("changed", "A")]
    assert [(one.group, one.name) for one in second] == [("viewed", "C")]
    assert [one.group for one in agenda.waiting] == ["rest"]


def test_a_question_is_due_again_after_its_period_and_not_while_it_is_under_way() -> None:
    question = Question(Kind.LIST, "east", "G")
    agenda = Agenda(Random(1))
    agenda.set({question: Pace(Rank.VIEWED, 1_000)}, 0)

    assert take(agenda, 0) == [question]
    assert take(agenda, 5_000) == []
    agenda.done(question, 5_000)
    assert take(agenda, 5_800) == []
    assert take(agenda, 6_200) == [question]


def test_hurry_and_a_higher_rank_bring_a_question_forward() -> None:
    question = Question(Kind.LIST, "east", "G")
    agenda = Agenda(Random(1))
    agenda.set({question: Pace(Rank.REST, 30_000)}, 0)
    take(agenda, 0)
    agenda.done(question, 0)

    agenda.set({question: Pace(Rank.VIEWED, 1_000)}, 100)
    assert take(agenda, 1_200) == [question]
    agenda.done(question, 1_200)
    agenda.hasten(question, 1_300)
    assert take(agenda, 1_300) == [question]


def test_routes_are_hastened_in_turns_those_of_viewed_groups_first_and_none_is_held_up() -> None:
    agenda = Agenda(Random(1))
    routes = {Question(Kind.ROUTE, place, "", f"t{number}"): number for place in "nm" for number in range(4)}
    paces = {each: Pace(Rank.VIEWED if number == 3 else Rank.REST, 30_000) for each, number in routes.items()}
    agenda.set(paces, 0)
    while asked := take(agenda, 0):
        for question in asked:
            agenda.done(question, 0)

    agenda.hasten_routes("n", 1_000)
    agenda.hasten_routes("n", 1_100)

    told = []
    for at in (1_000, 1_250, 1_500, 1_750, 2_000):
        for question in take(agenda, at):
            told.append((at, question.place, question.name))
            agenda.done(question, at)
    assert told == [(1_000, "n", "t3"), (1_250, "n", "t0"), (1_500, "n", "t1"), (1_750, "n", "t2")]


def test_what_is_no_longer_asked_is_forgotten() -> None:
    agenda = Agenda(Random(1))
    agenda.set(ORDERS, 0)
    agenda.set({}, 0)

    assert take(agenda, 0) == []
    assert agenda.sweep_ms() == 60_000


def test_what_has_no_place_waits() -> None:
    agenda = Agenda(Random(1))
    agenda.set(ORDERS, 0)

    assert list(agenda.due(0, lambda _: "")) == []


TICK_MS, WATCHED_MS = 50, 120_000


def watched(
    cluster: Cluster, takes: Callable[[Question], int], viewed: Collection[str] = ()
) -> dict[tuple[Question, str], list[int]]:
    """Ask for two minutes what an agenda says; ``takes`` is how long an answer is under way. Gives when each was."""
    agenda, turns = Agenda(Random(1)), count()
    asked: dict[tuple[Question, str], list[int]] = defaultdict(list)
    under_way: list[tuple[int, int, Question]] = []
    for at in range(0, WATCHED_MS, TICK_MS):
        while under_way and under_way[0][0] <= at:
            agenda.done(heappop(under_way)[2], at)
        if at % 1_000 == 0:
            agenda.set(questions(cluster, ["names:1"], viewed, at), at)
        for question, place in agenda.due(at, lambda _: f"b{next(turns) % cluster.brokers}"):
            asked[question, place].append(at)
            heappush(under_way, (at + takes(question), next(turns), question))
    return asked


def longest_gaps(asked: Mapping[tuple[Question, str], list[int]], group: str) -> dict[str, int]:
    """Give the longest time between two questions who is a member of a group, by broker."""
    lists: dict[str, list[int]] = {place: [] for question, place in asked if question.kind is Kind.GROUPS}
    for (question, place), times in asked.items():
        if question.group == group and question.kind in {Kind.LIST, Kind.MEMBERS}:
            lists[place] += times
    bounded = {place: sorted([0, *times, WATCHED_MS]) for place, times in lists.items()}
    return {place: max(after - before for before, after in pairwise(times)) for place, times in bounded.items()}


def test_every_broker_is_asked_in_each_period_who_is_a_member_also_where_nobody_is() -> None:
    cluster = Cluster({**{f"g{n}": f"{n}" for n in range(9)}, "empty": "", "empty too": ""}, brokers=3)

    asked = watched(cluster, lambda _: 100)

    gaps = [longest_gaps(asked, group) for group in cluster.groups]
    assert max(max(each.values()) for each in gaps) <= 1.2 * LISTS_MS[Rank.REST]


def test_a_member_that_hangs_delays_no_member_list() -> None:
    cluster = Cluster({f"g{n}": f"{n}" for n in range(15)}, brokers=1)

    asked = watched(cluster, lambda question: 15_000 if question.kind is Kind.HELD else 900)

    assert max(max(longest_gaps(asked, group).values()) for group in cluster.groups) <= 1.5 * LISTS_MS[Rank.REST]


def test_at_a_slow_broker_groups_that_change_all_the_time_do_not_starve_the_rest() -> None:
    names = [f"g{number}" for number in range(12)]
    cluster = Cluster(dict.fromkeys(names, "A"), brokers=1, changed=dict.fromkeys(names[:8], WATCHED_MS))

    asked = watched(cluster, lambda _: 900)

    rest = [max(longest_gaps(asked, group).values()) for group in names[8:]]
    changed = [max(longest_gaps(asked, group).values()) for group in names[:8]]
    assert max(rest) <= 3 * LISTS_MS[Rank.REST]
    assert max(changed) < max(rest)


def test_the_rest_uses_what_groups_that_changed_leave_of_their_half_and_no_more() -> None:
    names = [f"g{number}" for number in range(300)]
    quiet = Cluster({name: [f"{name}-{n}" for n in range(2)] for name in names})
    busy = replace(quiet, changed=dict.fromkeys(names[:100], 0))

    for cluster in (quiet, busy):
        asked = questions(cluster, ["names:1"], [], 1)
        per_second = sum(1000 / pace.every_ms for each, pace in asked.items() if each.group) / cluster.brokers
        assert 9 <= per_second <= 10
    assert every(quiet, Kind.MEMBERS, "g299") < every(busy, Kind.MEMBERS, "g299")
