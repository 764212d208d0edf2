from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.allocation.fair_flow import Ints, fair_flow
from tests.rebalance_engine.allocation.exact import fairest_then_stickiest


class Question(NamedTuple):
    supply: Ints
    topic: Ints
    member: Ints
    kept: Ints
    members: int

    def loads(self, shared: Ints) -> Ints:
        return np.bincount(self.member, shared, self.members).astype(np.int64)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Give small groups, with anything from one common subscription to hardly any, and any start."""
    topics, members = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    subscribers = st.sets(st.integers(0, members - 1), min_size=1)
    pairs = [(t, m) for t in range(topics) for m in sorted(draw(subscribers))]
    kept = [draw(st.integers(0, 4) if draw(st.booleans()) else st.just(0)) for _ in pairs]
    topic, member = np.array(pairs, dtype=np.int64).T
    loose = np.array([draw(st.integers(0, 4)) for _ in range(topics)])
    supply = np.bincount(topic, kept, topics).astype(np.int64) + loose
    return Question(supply, topic, member, np.array(kept, dtype=np.int64), members)


@given(questions())
def test_every_queue_is_shared_out(question: Question) -> None:
    shared = fair_flow(*question)

    assert shared.min() >= 0
    assert np.bincount(question.topic, shared, len(question.supply)).tolist() == question.supply.tolist()


@given(questions())
def test_no_loads_are_fairer_and_none_as_fair_keep_more(question: Question) -> None:
    shared = fair_flow(*question)

    squares = int((question.loads(shared) ** 2).sum())
    kept = int(np.minimum(shared, question.kept).sum())
    assert (squares, kept) == fairest_then_stickiest(*question)


@given(questions())
def test_what_is_fair_stays(question: Question) -> None:
    shared = fair_flow(*question)

    again = fair_flow(*question._replace(kept=shared))

    assert again.tolist() == shared.tolist()


def test_one_queue_goes_where_the_other_topic_leaves_room() -> None:
    # A subscribes to X, B to X and Y; A has the four queues of X, B the two of Y.
    x_to_a, x_to_b, y_to_b = fair_flow(
        np.array([4, 2]), np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([4, 0, 2]), 2
    ).tolist()

    assert (x_to_a, x_to_b, y_to_b) == (3, 1, 2)


def test_a_surplus_travels_along_a_chain_of_topics() -> None:
    # Topic i is read by members i and i + 1 alone; all four queues of each are with its first member.
    topic = np.repeat(np.arange(20), 2)
    member = topic + np.tile([0, 1], 20)
    kept = np.tile([4, 0], 20)

    shared = fair_flow(np.full(20, 4), topic, member, kept, 21)

    loads = np.bincount(member, shared, 21)
    assert sorted(set(loads.tolist())) == [3, 4]


def test_levels_that_differ_are_each_even() -> None:
    # 9 queues that only A and B may have, 4 of C and D, 1 of E.
    topic, member = np.array([0, 0, 1, 1, 2]), np.arange(5)

    shared = fair_flow(np.array([9, 4, 1]), topic, member, np.zeros(5, dtype=np.int64), 5)

    assert shared.tolist() == [5, 4, 2, 2, 1]
