from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.allocation import sticky
from rebalance_engine.allocation.starting_point import Subscribers, subscribers_of
from rebalance_engine.model import MessageQueue
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import ClientTable, Int32s, QueueTable
from tests.rebalance_engine.allocation.exact import fairest_then_stickiest, most_kept
from tests.rebalance_engine.generators import client_tables, names, ownerships, queue_tables

Strategy = Callable[..., Int32s]
both = pytest.mark.parametrize("strategy", [sticky.owners, sticky.owners_across_topics])


@pytest.fixture(scope="module", autouse=True, params=[(300, 2**24), (0, 2**24), (300, 0)])
def sizes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run all tests with each branch for few and for many queues, since groups here are small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sticky, "FEW", request.param[0])
        patch.setattr(sticky, "LARGE", request.param[1])
        yield


@dataclass
class Group:
    queues: QueueTable
    clients: ClientTable
    previous: Ownership | None
    topics: dict[str, set[str]] | None  # of each client; None is all of them

    def after(self, strategy: Strategy, previous: Ownership | None = None) -> Ownership:
        previous = self.previous if previous is None else previous
        owner = strategy(self.queues, self.clients, previous=previous, subscribers=self.subscribers(self.clients))
        return Ownership(self.queues, self.clients, owner)

    def subscribers(self, clients: ClientTable) -> Subscribers | None:
        if self.topics is None:
            return None
        return subscribers_of(self.queues, clients, {name: self.topics[name] for name in clients.names})

    def eligible(self, topic: str) -> list[str]:
        return [name for name in self.clients.distinct if self.topics is None or topic in self.topics[name]]

    def before(self) -> list[str | None]:
        """Name who had each queue of today's table."""
        if self.previous is None:
            return [None] * len(self.queues)
        names = {queue: self.previous.owners_of(number) for number, queue in enumerate(self.previous.queues)}
        return [(*names.get(queue, ()), None)[0] for queue in self.queues]


@st.composite
def groups(draw: st.DrawFn, everything: bool | None = None) -> Group:
    """Give groups that start, that go on from any tables and owners, and that were even until one came or went."""
    queues, earlier, name = draw(queue_tables), draw(client_tables()), draw(names)
    clients = earlier.left(name) if name in earlier.ids else earlier.joined(name)
    everything = draw(st.booleans()) if everything is None else everything
    some = st.sets(st.sampled_from(queues.topics)) if queues.topics else st.just(set())
    group = Group(queues, clients, None, None if everything else {name: draw(some) for name in clients.names})
    match draw(st.sampled_from(["a start", "anything", "one change"])):
        case "anything":
            any_clients = draw(st.sampled_from([clients, None]))
            group.previous = draw(ownerships(draw(st.sampled_from([queues, None])), any_clients))
        case "one change":
            strategy = draw(st.sampled_from([sticky.owners, sticky.owners_across_topics]))
            owner = strategy(queues, earlier, subscribers=group.subscribers(earlier))
            owner[draw(st.lists(st.sampled_from(range(len(queues))), max_size=1)) if len(queues) else []] = UNOWNED
            group.previous = Ownership(queues, earlier, owner)
    return group


def owner_names(ownership: Ownership) -> list[str | None]:
    return [None if number == UNOWNED else ownership.clients.names[number] for number in ownership.owner.tolist()]


def moved(before: list[str | None], after: list[str | None]) -> int:
    return sum(old is not None and old != new for old, new in zip(before, after, strict=True))


@both
@given(group=groups())
def test_every_queue_has_an_owner_who_subscribes_where_anybody_does(strategy: Strategy, group: Group) -> None:
    owners = owner_names(group.after(strategy))

    for queue, owner in zip(group.queues, owners, strict=True):
        eligible = group.eligible(queue.topic)
        assert owner in eligible if eligible else owner is None


@given(groups())
def test_each_topic_is_even_with_the_fewest_moves(group: Group) -> None:
    before, after = group.before(), owner_names(group.after(sticky.owners))

    for topic, (start, end) in zip(group.queues.topics, pairwise(group.queues.starts), strict=True):
        members = group.eligible(topic)
        if members:
            loads = [after[start:end].count(name) for name in members]
            held = [before[start:end].count(name) for name in members]
            owned = end - start - before[start:end].count(None)
            assert max(loads) - min(loads) <= 1
            assert moved(before[start:end], after[start:end]) == owned - most_kept(held, end - start)


@given(groups(everything=True))
def test_the_sum_of_the_topics_is_even_with_the_fewest_moves(group: Group) -> None:
    before, after = group.before(), owner_names(group.after(sticky.owners_across_topics))

    members = group.clients.distinct
    if members:
        loads = [after.count(name) for name in members]
        held = [before.count(name) for name in members]
        assert max(loads) - min(loads) <= 1
        assert moved(before, after) == len(before) - before.count(None) - most_kept(held, len(before))


@given(groups(everything=False))
def test_the_sum_is_as_fair_as_subscriptions_let_it_be_with_the_fewest_moves(group: Group) -> None:
    _insist_on_the_best(group)


def _insist_on_the_best(group: Group) -> None:
    before, after = group.before(), owner_names(group.after(sticky.owners_across_topics))

    members, topics = group.clients.distinct, group.queues.topics
    pairs = [
        (t, m) for t, topic in enumerate(topics) for m, name in enumerate(members) if name in group.eligible(topic)
    ]
    if pairs:
        topic, member = np.array(pairs).T
        starts = group.queues.starts
        supply = np.where(np.isin(np.arange(len(topics)), topic), np.diff(starts), 0)
        kept = np.array([before[starts[t] : starts[t + 1]].count(members[m]) for t, m in pairs])
        squares = sum(after.count(name) ** 2 for name in members)
        stayed = sum(old is not None and old == new for old, new in zip(before, after, strict=True))
        assert (squares, stayed) == fairest_then_stickiest(supply, topic, member, kept, len(members))


@st.composite
def joins(draw: st.DrawFn) -> Group:
    """Give groups with different subscriptions that were as fair as can be, or nearly, until somebody joined."""
    counts = draw(st.lists(st.integers(1, 6), min_size=2, max_size=4))
    queues = QueueTable.from_routes([(f"topic{i}", "east", count) for i, count in enumerate(counts)])
    everybody = "ABCDE"[: draw(st.integers(2, 5))]
    newcomer = draw(st.sampled_from(everybody))
    earlier = ClientTable.of(set(everybody) - {newcomer})
    topics = {name: draw(st.sets(st.sampled_from(queues.topics), min_size=1)) for name in everybody}
    group = Group(queues, earlier.joined(newcomer), None, topics)
    owner = sticky.owners_across_topics(queues, earlier, subscribers=group.subscribers(earlier))
    for number in draw(st.lists(st.sampled_from(range(len(queues))), max_size=3)):
        able = [i for i, name in enumerate(earlier.names) if queues[number].topic in topics[name]]
        owner[number] = draw(st.sampled_from(able)) if able else UNOWNED
    group.previous = Ownership(queues, earlier, owner)
    return group


@given(joins())
def test_a_join_too_is_as_fair_as_subscriptions_let_it_be_with_the_fewest_moves(group: Group) -> None:
    _insist_on_the_best(group)


@both
@given(group=groups())
def test_what_was_made_even_stays(strategy: Strategy, group: Group) -> None:
    once = group.after(strategy)

    assert group.after(strategy, previous=once).owner.tolist() == once.owner.tolist()


@both
@given(group=groups(), luck=st.randoms())
def test_the_order_of_the_input_does_not_matter(strategy: Strategy, group: Group, luck: random.Random) -> None:
    names, ids = list(group.clients.names), list(group.clients.ids)
    luck.shuffle(names)
    luck.shuffle(ids)
    former = ClientTable.of(names).names
    members = np.array([former.index(name) for name in ClientTable.of(ids).ids], dtype=np.int32)
    other = Group(group.queues, ClientTable(group.clients.order, former, members), group.previous, group.topics)

    assert owner_names(other.after(strategy)) == owner_names(group.after(strategy))


@both
@given(queues=queue_tables, clients=client_tables(), newcomer=st.sampled_from("ABCDE"))
def test_a_join_moves_only_to_the_newcomer_and_a_leave_only_from_who_left(
    strategy: Strategy, queues: QueueTable, clients: ClientTable, newcomer: str
) -> None:
    if newcomer in clients.ids:
        clients = ClientTable.of(set(clients.ids) - {newcomer})
    joined = clients.joined(newcomer)
    number = joined.number(newcomer)
    alone = Ownership(queues, clients, strategy(queues, clients))

    together = Ownership(queues, joined, strategy(queues, joined, previous=alone))
    after = strategy(queues, joined.left(newcomer), previous=together)

    assert set(together.owner[together.owner != alone.owner].tolist()) <= {number}
    assert set(together.owner[together.owner != after].tolist()) <= {number}


@given(ownerships(), st.sets(st.sampled_from(range(6)), min_size=1, max_size=5))
def test_the_fewest_moves_are_counted_without_making_them(previous: Ownership, members: set[int]) -> None:
    owner = previous.owner.tolist()
    shared = np.array(sorted(members), dtype=np.int32)

    fewest = sticky.fewest_moves(previous.owner, shared)

    held = [owner.count(number) for number in shared.tolist()]
    assert fewest == len(owner) - owner.count(UNOWNED) - most_kept(held, len(owner))


def test_the_fewest_moves_among_nobody_are_no_question() -> None:
    with pytest.raises(ValueError, match="3 queues cannot be shared out among 0 members"):
        sticky.fewest_moves(np.zeros(3, dtype=np.int32), np.empty(0, dtype=np.int32))


def test_a_third_member_gets_the_last_queue_of_each() -> None:
    queues, ab = QueueTable.from_routes([("orders", "east", 8)]), ClientTable.of(["A", "B"])
    lists = {"A": queues.take(slice(0, 4)), "B": queues.take(slice(4, 8))}

    after = sticky.owners(queues, ab.joined("C"), previous=Ownership.from_lists(queues, ab, lists))

    assert after.tolist() == [0, 0, 0, 2, 1, 1, 1, 2]


def test_single_queues_of_many_topics_do_not_pile_up_across_topics() -> None:
    queues, clients = QueueTable.from_routes([("X", "east", 1), ("Y", "east", 1)]), ClientTable.of(["A", "B"])

    by_topic, by_sum = sticky.owners(queues, clients), sticky.owners_across_topics(queues, clients)

    assert by_topic.tolist() == [0, 0]
    assert by_sum.tolist() == [0, 1]


def test_what_is_free_is_dealt_out_in_circles_so_that_each_topic_is_even_too() -> None:
    queues = QueueTable.from_routes([("X", "east", 4), ("Y", "east", 4)])

    owner = sticky.owners_across_topics(queues, ClientTable.of("ABC"))

    assert owner.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]


def test_a_long_deal_goes_in_circles_too() -> None:
    queues = QueueTable.from_routes([("orders", "east", 3000)])

    owner = sticky.owners(queues, ClientTable.of("ABC"))

    assert owner.tolist() == [0, 1, 2] * 1000


@both
def test_without_members_all_is_unowned(strategy: Strategy) -> None:
    queues = QueueTable.of([MessageQueue("orders", "east", 0)])
    previous = Ownership(queues, ClientTable.of("A"), np.zeros(1, dtype=np.int32))

    assert strategy(queues, previous.clients.left("A"), previous=previous).tolist() == [UNOWNED]


def test_large_topics_with_different_subscribers_are_all_shared_out() -> None:
    queues, clients = QueueTable.from_routes([("X", "east", 10_000), ("Y", "east", 10_000)]), ClientTable.of("AB")
    subscribers = subscribers_of(queues, clients, {"A": ["X"], "B": ["X", "Y"]})

    owner = sticky.owners_across_topics(queues, clients, subscribers=subscribers)

    assert owner.tolist() == [0] * 10_000 + [1] * 10_000


def test_who_cannot_give_straight_to_the_newcomer_gives_to_a_third_who_can() -> None:
    # C subscribes to Y alone. A has both queues of X, B has Y: all three can have one.
    after = _joined_by_c([("X", "east", 2), ("Y", "east", 1)], "AAB", {"A": ["X"], "B": ["X", "Y"], "C": ["Y"]})

    assert after == "ABC"


def test_a_newcomer_gets_no_more_than_it_must_where_another_is_nearer() -> None:
    # A has X0 to X2 and Y0, B has Y1. To give C a second queue of Y would take two moves, to give B one of X one.
    after = _joined_by_c([("X", "east", 3), ("Y", "east", 2)], "AAAAB", {"A": ["X", "Y"], "B": ["X", "Y"], "C": ["Y"]})

    assert after == "AABCB"


def _joined_by_c(routes: list[tuple[str, str, int]], before: str, topics: dict[str, list[str]]) -> str:
    queues, ab = QueueTable.from_routes(routes), ClientTable.of("AB")
    previous = Ownership(queues, ab, np.array(["AB".index(name) for name in before], dtype=np.int32))
    abc = ab.joined("C")
    owner = sticky.owners_across_topics(queues, abc, previous=previous, subscribers=subscribers_of(queues, abc, topics))
    return "".join(abc.names[number] for number in owner.tolist())


def test_a_newcomer_gets_the_last_of_many_queues_of_each() -> None:
    queues, clients = QueueTable.from_routes([("orders", "east", 900)]), ClientTable.of("AB")
    alone = Ownership(queues, clients, np.repeat(np.array([0, 1], dtype=np.int32), 450))

    owner = sticky.owners(queues, clients.joined("C"), previous=alone)

    assert owner.tolist() == [0] * 300 + [2] * 150 + [1] * 300 + [2] * 150
