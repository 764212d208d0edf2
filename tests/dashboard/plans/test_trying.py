from __future__ import annotations

import random
from dataclasses import replace

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.told import Told
from dashboard.plans import trying
from dashboard.plans.queries import read_group
from dashboard.plans.questions import BadQuestion, Question
from dashboard.plans.trying import COMPARED, Known, Trial, try_out
from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.diff import MoveCause
from rebalance_engine.events import Fact
from rebalance_engine.findings import spell
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.ownership import Ownership
from tests.dashboard.story import T0, add_cluster, held, joined, left, route, seen, subscribes, told, uses

ALONE = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
QUEUES = [MessageQueue("orders", "east", number) for number in range(6)]


def view(
    *held_by: list[MessageQueue] | None, strategy: str | None = "AVG", model: MessageModel = MessageModel.CLUSTERING
) -> GroupView:
    members = [
        Member(client_id="ABCDEF"[n], strategy=strategy, held=None if mine is None else tuple(mine))
        for n, mine in enumerate(held_by)
    ]
    return GroupView.of("g", QUEUES, members, model)


TWO = view(QUEUES[:3], QUEUES[3:])
NOBODY_KNOWS = Known({})


def owners(trial: Trial) -> dict[str, list[int]]:
    assert trial.chosen.outcome is not None
    return {name: [q.queue_id for q in mine] for name, mine in trial.chosen.outcome.target.as_lists().items()}


def moves(trial: Trial) -> list[tuple[int, str | None, str | None]]:
    assert trial.chosen.outcome is not None
    return [(move.queue.queue_id, move.from_client, move.to_client) for move in trial.chosen.outcome.moves]


def test_a_newcomer_is_as_the_others_are_and_gets_its_share() -> None:
    trial = try_out(TWO, Question(add=("C",)), NOBODY_KNOWS)

    assert owners(trial) == {"A": [0, 1], "B": [2, 3], "C": [4, 5]}
    assert moves(trial) == [(2, "A", "B"), (4, "B", "C"), (5, "B", "C")]
    assert (trial.chosen.is_own, trial.chosen.strategy, trial.is_held) == (True, "AVG", True)
    assert trial.after.strategies == {"A": "AVG", "B": "AVG", "C": "AVG"}


def test_a_member_that_leaves_leaves_its_queues() -> None:
    assert moves(try_out(TWO, Question(remove=("A",)), NOBODY_KNOWS)) == [(n, "A", "B") for n in range(3)]


def test_a_member_that_comes_back_under_another_id_sorts_elsewhere() -> None:
    trial = try_out(TWO, Question(rename=("A>Z",)), NOBODY_KNOWS)

    assert owners(trial) == {"B": [0, 1, 2], "Z": [3, 4, 5]}


def test_every_strategy_there_is_stands_beside_the_groups_own() -> None:
    trial = try_out(TWO, Question(add=("C",), strategy="STICKY"), NOBODY_KNOWS)

    assert sorted(option.strategy for option in trial.options) == sorted(STRATEGIES)  # its own is one of them
    assert [option.strategy for option in trial.options][: len(COMPARED)] == list(COMPARED)
    counts = {option.strategy: option.outcome.move_count.total for option in trial.options if option.outcome}
    assert counts.keys() > {*COMPARED, "CPP_AVG", "GO_AVG", "GO_AVG_BY_CIRCLE"}
    assert counts["STICKY"] == min(counts.values()) == 2
    assert trial.chosen.strategy == "STICKY"
    assert trial.chosen.is_followed


def test_strategies_by_which_everybody_would_have_the_same_say_so() -> None:
    trial = try_out(TWO, Question(add=("C",)), NOBODY_KNOWS)

    same = {option.strategy: option.same_as for option in trial.options}
    assert (same["AVG"], same["AVG_BY_CIRCLE"]) == ("", "")
    assert (same["CPP_AVG"], same["GO_AVG"], same["GO_AVG_BY_CIRCLE"]) == ("AVG", "AVG", "AVG_BY_CIRCLE")


def test_what_cannot_be_compared_says_what_it_lacks() -> None:
    trial = try_out(TWO, Question(), NOBODY_KNOWS)

    why = {option.strategy: option.why for option in trial.options if option.outcome is None}
    assert why.keys() == {
        "CONFIG",
        "GO_CONFIG",
        "MACHINE_ROOM",
        "MACHINE_ROOM_NEARBY",
        "GO_MACHINE_ROOM",
        "GO_CONSISTENT_HASH",
    }
    assert why["CONFIG"] == "nobody has said by hand who is to have which queue"
    assert "needs the parameter 'consumer_idcs'" in why["MACHINE_ROOM"]


def test_given_rooms_all_are_compared_that_need_just_these() -> None:
    params = {"consumer_idcs": frozenset({"x"})}

    trial = try_out(TWO, Question(strategy="MACHINE_ROOM"), NOBODY_KNOWS, params=params)

    tried = {option.strategy for option in trial.options if option.outcome is not None}
    assert {"AVG", "MACHINE_ROOM", "GO_MACHINE_ROOM"} <= tried
    assert not {"MACHINE_ROOM_NEARBY", "GO_CONSISTENT_HASH"} & tried


def test_of_a_very_large_group_the_slow_ones_wait_until_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "MOST_SLOW", 11)

    trial = try_out(TWO, Question(strategy="STICKY"), NOBODY_KNOWS)

    why = {option.strategy: option.why for option in trial.options if option.is_followed}
    assert why["STICKY"] == "" and trial.chosen.outcome is not None
    assert why["WEIGHTED"] == "6 queues times 2 members take long: tried when asked for"


def test_of_a_large_group_those_of_other_languages_wait_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "MOST_OTHERS", 11)

    trial = try_out(TWO, Question(strategy="GO_AVG"), NOBODY_KNOWS)

    tried = {option.strategy for option in trial.options if option.outcome is not None}
    assert tried == {*COMPARED, "GO_AVG"}


def test_what_would_take_minutes_is_not_tried_even_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = {"consumer_idcs": frozenset({"x"})}
    monkeypatch.setattr(trying, "MOST_ALONE", 12)
    assert try_out(TWO, Question(strategy="GO_MACHINE_ROOM"), NOBODY_KNOWS, params=rooms).chosen.outcome is not None

    monkeypatch.setattr(trying, "MOST_ALONE", 11)
    trial = try_out(TWO, Question(strategy="GO_MACHINE_ROOM"), NOBODY_KNOWS, params=rooms)

    assert trial.chosen.outcome is None
    assert trial.chosen.why == "6 queues times 2 members are too many to ask each: at most 11 are tried"
    assert trial.options[0].outcome is not None  # the others are
    assert try_out(TWO, Question(strategy="CPP_AVG"), NOBODY_KNOWS).chosen.outcome is not None


def test_a_strategy_that_lacks_something_says_what() -> None:
    trial = try_out(TWO, Question(strategy="MACHINE_ROOM"), NOBODY_KNOWS)

    assert trial.chosen.outcome is None
    assert "needs the parameter 'consumer_idcs'" in trial.chosen.why
    given = try_out(TWO, Question(strategy="MACHINE_ROOM"), NOBODY_KNOWS, params={"consumer_idcs": frozenset({"x"})})
    assert given.chosen.outcome is not None


def test_a_strategy_that_there_is_not_makes_no_sense() -> None:
    with pytest.raises(BadQuestion) as bad:
        try_out(TWO, Question(strategy="nonsense"), NOBODY_KNOWS)

    assert bad.value.problems[0].startswith("there is no strategy 'nonsense'; there are AVG, ")


def test_parameters_are_for_the_strategy_that_is_asked_for() -> None:
    trial = try_out(TWO, Question(strategy="AVG"), NOBODY_KNOWS, params={"virtual_nodes": 3})

    assert "AVG has no parameter 'virtual_nodes'" in trial.chosen.why
    assert not trial.chosen.is_own


def test_what_was_told_by_hand_is_the_groups_own_and_can_be_asked_for() -> None:
    hand = Told(3, {"A": QUEUES[:1], "B": QUEUES[1:]}, "ada", "because")

    own = try_out(view([], [], strategy="CONFIG"), Question(), Known({}, hand)).chosen
    asked = try_out(TWO, Question(strategy="CONFIG"), Known({}, hand)).chosen

    assert own.outcome is not None and asked.outcome is not None
    assert own.is_own and not asked.is_own
    assert own.outcome.target.same_owners(asked.outcome.target)
    unknown = try_out(view([], [], strategy="CONFIG"), Question(), NOBODY_KNOWS).chosen
    assert (unknown.strategy, unknown.outcome) == ("CONFIG", None)
    assert "members' programs say" in unknown.why


@pytest.mark.parametrize("name", ["CONFIG", "GO_CONFIG"])
def test_what_nobody_said_by_hand_moves_nothing_though_it_is_asked_for(name: str) -> None:
    trial = try_out(TWO, Question(strategy=name), NOBODY_KNOWS)

    assert (trial.chosen.strategy, trial.chosen.is_own, trial.chosen.outcome) == (name, False, None)
    assert trial.chosen.why == "nobody has said by hand who is to have which queue"


def test_where_somebody_does_not_answer_what_should_be_is_the_base() -> None:
    silent = view(QUEUES[:3], None)
    shown = Ownership.from_lists(silent.queues, silent.clients, {"A": QUEUES[:2], "B": QUEUES[2:]})

    trial = try_out(silent, Question(), Known({}, shown=shown))

    assert not trial.is_held
    assert moves(trial) == [(2, "B", "A")]
    assert try_out(silent, Question(), NOBODY_KNOWS).base.loads().tolist() == [0, 0]


def test_members_that_differ_end_up_with_what_they_would() -> None:
    members = [Member(client_id=name, strategy=strategy) for name, strategy in (("A", "AVG"), ("B", "AVG_BY_CIRCLE"))]

    trial = try_out(GroupView.of("g", QUEUES[:4], members), Question(), NOBODY_KNOWS)

    assert trial.chosen.strategy == "mixed: AVG, AVG_BY_CIRCLE"
    assert trial.chosen.outcome is not None
    assert trial.chosen.outcome.target.owned_twice().tolist() == [1]


def test_languages_divide_in_their_own_way() -> None:
    assert try_out(TWO, Question(add=("C",)), Known({"A": "GO", "B": "GO"})).chosen.strategy == "GO_AVG"


def test_a_queue_that_comes_and_one_that_goes_are_moves_too() -> None:
    more = try_out(TWO, Question(queues=("orders/east/8",)), NOBODY_KNOWS)
    fewer = try_out(TWO, Question(queues=("orders/east/4",)), NOBODY_KNOWS)

    assert more.chosen.outcome is not None and fewer.chosen.outcome is not None
    assert [m.cause for m in more.chosen.outcome.moves].count(MoveCause.QUEUE_ADDED) == 2
    assert [m.cause for m in fewer.chosen.outcome.moves].count(MoveCause.QUEUE_REMOVED) == 2


def test_a_group_without_members_or_queues_can_be_asked_about() -> None:
    empty = GroupView.of("g", QUEUES, [])

    assert owners(try_out(empty, Question(add=("A",)), NOBODY_KNOWS)) == {"A": list(range(6))}
    assert owners(try_out(GroupView.of("g", [], []), Question(), NOBODY_KNOWS)) == {}


def test_what_makes_no_sense_for_this_group_is_refused() -> None:
    with pytest.raises(BadQuestion, match="'Z' is no member"):
        try_out(TWO, Question(remove=("Z",)), NOBODY_KNOWS)


# ---- what then happens ----


@pytest.fixture
def shop(db: None) -> Cluster:  # noqa: ARG001 - it opens the database
    return add_cluster()


class Story:
    """A random group that has settled, a question about it, and what then happens."""

    def __init__(self, seed: int) -> None:
        luck = random.Random(seed)
        self.topics = ("orders", "pay")[: luck.randint(1, 2)]
        self.sizes = {topic: luck.randint(1, 8) for topic in self.topics}
        self.brokers = ["east", "west"][: luck.randint(1, 2)]
        self.strategy = luck.choice(ALONE)
        names = [f"c{number:02}" for number in range(20)]
        luck.shuffle(names)
        self.members = names[: luck.randint(1, 6)]
        self.leaving = luck.sample(self.members, luck.randint(0, len(self.members) - 1))
        stay = [name for name in self.members if name not in self.leaving]
        self.renaming = dict.fromkeys(luck.sample(stay, luck.randint(0, 1)), names[19])
        self.joining = names[6 : 6 + luck.randint(0, 3)]
        topic = luck.choice(self.topics)
        self.new_sizes = self.sizes | {topic: max(1, self.sizes[topic] + luck.randint(-1, 4))}
        self.new_brokers = luck.choice([[], [], ["north"]])
        self.new_strategy = luck.choice([self.strategy, *ALONE])

    @property
    def question(self) -> Question:
        return Question(
            add=tuple(self.joining),
            remove=tuple(self.leaving),
            rename=tuple(f"{old}>{new}" for old, new in self.renaming.items()),
            queues=tuple(f"{topic}/*/{size}" for topic, size in self.new_sizes.items() if size != self.sizes[topic]),
            broker=tuple(self.new_brokers),
            strategy=self.new_strategy if self.new_strategy != self.strategy else "",
        )

    def settle(self) -> Group:
        """Let the group come to hold its target."""
        for name in self.members:
            told(*self._seen(name, 0, self.strategy), held(name, 2, []))
        told(*self._routes(self.sizes, self.brokers, 0))
        group = Group.objects.get()
        first = rebalance_once(group=group.pk, now=T0 + 10)
        assert first is not None
        mine = first.target.as_lists()
        told(*(replace(held(name, 20, []), queues=tuple(mine[name])) for name in self.members))
        rebalance_once(group=group.pk, now=T0 + 30)
        return group

    def happen(self) -> list[Fact]:
        """Tell the facts of which the question asked."""
        gone = [*self.leaving, *self.renaming]
        came = [*self.joining, *self.renaming.values()]
        facts: list[Fact] = [left(name, 5_000) for name in gone]
        for name in came:
            facts += [joined(name, 5_000), *self._seen(name, 5_000, self.new_strategy)]
        facts += [uses(name, 5_001, self.new_strategy) for name in self.members if name not in gone]
        return [*facts, *self._routes(self.new_sizes, [*self.brokers, *self.new_brokers], 5_002)]

    def _seen(self, name: str, at: int, strategy: str) -> list[Fact]:
        return [*seen(name, at), subscribes(name, at + 1, *self.topics), uses(name, at + 1, strategy)]

    def _routes(self, sizes: dict[str, int], brokers: list[str], at: int) -> list[Fact]:
        whole = []
        for topic, size in sizes.items():
            parts = [route(size, at, topic=topic, broker=broker) for broker in brokers]
            whole.append(replace(parts[0], brokers=tuple(part.brokers[0] for part in parts)))
        return [*whole]


@pytest.mark.parametrize("seed", range(25))
def test_the_dry_run_is_what_then_happens(shop: Cluster, seed: int) -> None:
    assert shop.pk
    story = Story(seed)
    group = story.settle()
    trial = try_out(*_of(group, story.question))

    told(*story.happen(), at=6_000)
    decision = rebalance_once(group=group.pk, now=T0 + 6_000)

    outcome = trial.chosen.outcome
    if decision is None:  # nothing became otherwise
        assert story.question.is_empty
        assert outcome is not None and not len(outcome.moves)
        return
    assert decision.outcome is not None and outcome is not None
    assert trial.is_held
    assert {name: mine for name, mine in outcome.target.as_lists().items() if mine} == {
        name: mine for name, mine in decision.target.as_lists().items() if mine
    }
    assert said(outcome.moves) == said(decision.outcome.moves)
    assert outcome.skew.idle == decision.outcome.skew.idle


def said(moves: object) -> list[tuple[str, str | None, str | None, str]]:
    return sorted(
        (spell(move.queue), move.from_client, move.to_client, move.cause.value)
        for move in moves  # type: ignore[attr-defined] # of a diff
    )


def _of(group: Group, question: Question) -> tuple[GroupView, Question, Known]:
    view, known = read_group(group=group)
    return view, question, known


def test_all_that_is_wrong_with_a_question_is_said_at_once() -> None:
    question = Question(remove=("Z",), queues=("orders",), strategy="nonsense", params='{"virtual_nodes": "many"}')
    with pytest.raises(BadQuestion) as bad:
        try_out(TWO, question, NOBODY_KNOWS)
    said = " ".join(bad.value.problems)
    for part in ("'Z' is no member", "'orders' is no TOPIC", "virtual_nodes is '\"many\"'", "nonsense"):
        assert part in said


def test_a_question_brings_its_parameters() -> None:
    few = try_out(TWO, Question(strategy="CONSISTENT_HASH", params='{"virtual_nodes": 1}'), NOBODY_KNOWS)
    many = try_out(TWO, Question(strategy="CONSISTENT_HASH", params='{"virtual_nodes": 500}'), NOBODY_KNOWS)
    assert owners(few) != owners(many)
