from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.diff import diff
from rebalance_engine.group import GroupView, Member
from rebalance_engine.measures import count_moves, fewest_handoffs, skew, skew_by_topic
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.generators import of_pairs, orders_east, ownerships, owning

LETTERS = st.text("ABC-", max_size=6)


def slow_gini(loads: list[int]) -> float:
    """Average the difference of every two members, the definition."""
    count, total = len(loads), sum(loads)
    return sum(abs(a - b) for a in loads for b in loads) / (2 * count * total)


def loaded(**loads: int) -> Ownership:
    return owning("".join(name * load for name, load in loads.items()), "".join(loads))


def test_an_even_group_has_no_skew() -> None:
    figures = skew(loaded(A=2, B=2, C=2))

    assert (figures.max_over_mean, figures.gini, figures.idle) == (1.0, 0.0, ())
    assert (figures.members, figures.queues, figures.most, figures.least) == (3, 6, 2, 2)


def test_figures_by_hand() -> None:
    figures = skew(loaded(A=4, B=1, C=1))

    assert figures.max_over_mean == 2.0
    assert figures.gini == pytest.approx(1 / 3)  # differences 3, 3, 0, each twice: 12 / (2 * 3 * 6)
    assert (figures.most, figures.least) == (4, 1)


def test_one_member_with_everything_is_most_uneven() -> None:
    figures = skew(loaded(A=6, B=0, C=0))

    assert figures.max_over_mean == 3.0
    assert figures.gini == pytest.approx(2 / 3)
    assert figures.idle == ("B", "C")


@pytest.mark.parametrize("ownership", [owning("--", "AB"), owning("", "AB"), owning("--", ""), owning("", "")])
def test_where_nothing_is_shared_there_is_no_figure(ownership: Ownership) -> None:
    figures = skew(ownership)

    assert figures.max_over_mean is None
    assert figures.gini is None
    assert (figures.queues, figures.most, figures.least) == (0, 0, 0)
    assert figures.idle == ownership.clients.ids


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8))
def test_gini_is_the_mean_difference(loads: list[int]) -> None:
    ownership = loaded(**dict(zip("ABCDEFGH", loads, strict=False)))

    figures = skew(ownership)

    if sum(loads):
        assert figures.gini == pytest.approx(slow_gini(loads))
        assert figures.max_over_mean == pytest.approx(max(loads) * len(loads) / sum(loads))
    assert (figures.most, figures.least, figures.queues) == (max(loads), min(loads), sum(loads))
    assert figures.idle == tuple(name for name, load in zip("ABCDEFGH", loads, strict=False) if not load)


def test_a_silent_member_is_unknown_not_idle() -> None:
    figures = skew(loaded(A=2, B=0, C=2), silent=frozenset("B"))

    assert figures.unknown == ("B",)
    assert figures.idle == ()
    assert (figures.members, figures.max_over_mean) == (2, 1.0)


def test_where_all_are_silent_there_is_no_figure() -> None:
    figures = skew(loaded(A=0, B=0), silent=frozenset("AB"))

    assert (figures.members, figures.max_over_mean, figures.gini) == (0, None, None)
    assert figures.unknown == ("A", "B")


def test_what_a_silent_member_is_known_to_hold_does_not_count() -> None:
    figures = skew(loaded(A=2, B=7), silent=frozenset("B"))

    assert (figures.queues, figures.most) == (2, 2)


def test_a_queue_of_two_owners_counts_for_both() -> None:
    ownership = of_pairs(orders_east(0), ClientTable.of("AB"), [(0, 0), (0, 1)])

    assert (skew(ownership).queues, skew(ownership).max_over_mean) == (2, 1.0)


def test_two_processes_of_one_id_are_one_owner() -> None:
    assert skew(owning("AB", "AAB")).members == 2


def test_former_members_are_not_measured() -> None:
    figures = skew(owning("AAAB", "B"))

    assert (figures.members, figures.queues, figures.most, figures.idle) == (1, 1, 1, ())


def test_each_topic_is_measured_over_its_subscribers() -> None:
    queues = [MessageQueue(topic, "east", i) for topic in ("orders", "payments") for i in (0, 1)]
    members = [Member(client_id=name, held=()) for name in "AB"] + [
        Member(client_id="C", topics=frozenset({"orders"}), held=())
    ]
    view = GroupView.of("g", queues, members)
    ownership = Ownership.from_lists(view.queues, view.clients, {"A": queues[:2], "B": queues[2:]})

    by_topic = skew_by_topic(view, ownership, silent=frozenset("B"))

    assert by_topic.keys() == {"orders", "payments"}
    assert (by_topic["orders"].members, by_topic["orders"].idle, by_topic["orders"].unknown) == (2, ("C",), ("B",))
    assert (by_topic["payments"].members, by_topic["payments"].idle) == (1, ("A",))


@given(ownerships(most_owners=3))
def test_the_topics_sum_to_the_whole(ownership: Ownership) -> None:
    view = GroupView("g", ownership.queues, ownership.clients)

    by_topic = skew_by_topic(view, ownership)

    assert by_topic.keys() == set(ownership.queues.topics)
    assert sum(figures.queues for figures in by_topic.values()) == skew(ownership).queues
    for topic, figures in by_topic.items():
        held = [queue for name in ownership.clients.distinct for queue in ownership.queues_of(name)]
        assert figures.queues == sum(queue.topic == topic for queue in held)


def brute_force(before: Ownership, after: Ownership) -> int:
    """Try every assignment that owns the same queues with loads of the same sizes, members being exchangeable."""
    members = range(len(after.clients.names))
    sizes = sorted(Counter(after.owner[after.owner != UNOWNED].tolist()).values())
    owned = [number for number, owner in enumerate(after.owner.tolist()) if owner != UNOWNED]
    handoffs = []
    for owners in product(members, repeat=len(owned)):
        if sorted(Counter(owners).values()) == sizes:
            was = [before.owner[number] for number in owned]
            handoffs.append(sum(a not in (UNOWNED, b) for a, b in zip(was, owners, strict=True)))
    return min(handoffs)


@given(LETTERS, st.data())
def test_the_fewest_handoffs_are_those_of_the_best_assignment(owners: str, data: st.DataObject) -> None:
    others = data.draw(st.text("ABC-", min_size=len(owners), max_size=len(owners)))
    before, after = owning(owners, "ABC"), owning(others, "ABC")

    assert fewest_handoffs(before, after) == brute_force(before, after)


def test_fewest_handoffs_by_hand() -> None:
    before, after = owning("AAABBB", "ABC"), owning("BBAACC", "ABC")

    count = count_moves(diff(before, after), before, after)

    assert (count.total, count.handoffs, count.fewest, count.above_fewest) == (5, 5, 2, 3)


def test_topics_are_matched_one_by_one() -> None:
    queues = QueueTable.of(MessageQueue(topic, "east", i) for topic in ("orders", "payments") for i in (0, 1))
    clients = ClientTable.of("AB")
    before = of_pairs(queues, clients, [(0, 0), (1, 0), (2, 1), (3, 1)])
    after = of_pairs(queues, clients, [(0, 0), (1, 1), (2, 0), (3, 1)])

    assert fewest_handoffs(before, after) == 2


def test_every_kind_of_move_is_counted() -> None:
    before, after = owning("AB-A", "AB"), owning("BBA-C", "ABC")

    count = count_moves(diff(before, after), before, after)

    assert (count.total, count.handoffs, count.taken_up, count.given_up) == (4, 1, 2, 1)


def test_a_removed_queue_is_given_up() -> None:
    before, after = owning("AAB"), owning("AA", "AB")

    count = count_moves(diff(before, after), before, after)

    assert (count.total, count.given_up, count.handoffs, count.fewest) == (1, 1, 0, 0)


def test_what_a_former_member_had_must_move() -> None:
    before = owning("AABB")
    with_names = before.renumbered(before.clients.left("B"))
    after = owning("AAAA", "A")

    for old in (before, with_names):
        count = count_moves(diff(old, after), old, after)
        assert (count.handoffs, count.fewest, count.above_fewest) == (2, 2, 0)


@given(ownerships(most_owners=3), ownerships(most_owners=3))
def test_nothing_is_ever_saved_beyond_what_was_moved(before: Ownership, after: Ownership) -> None:
    count = count_moves(diff(before, after), before, after)

    assert 0 <= count.above_fewest <= count.handoffs
    assert count.fewest + count.above_fewest == count.handoffs
    assert count.handoffs + count.taken_up + count.given_up == count.total


@given(ownerships(most_owners=1), ownerships(most_owners=1))
def test_no_target_takes_fewer_handoffs_than_the_fewest(before: Ownership, after: Ownership) -> None:
    assume(set(after.owner.tolist()) <= {UNOWNED, *after.clients.members.tolist()})

    assert 0 <= fewest_handoffs(before, after) <= diff(before, after).handoffs
