"""Thousands of random groups, asked of RocketMQ's released strategy classes and of the engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import AllocationError, allocate, strategy
from rebalance_engine.allocation.contract import IllegalArgument, MemberFailure, NullPointer
from rebalance_engine.model import Order, sort_queues, utf16
from tests.peers.maven import Unavailable
from tests.peers.random_groups import PARAMETERS, Group, group, several_topics
from tests.peers.rocketmq import RELEASES, Answer, Answers, RocketMQ, Thrown, config, nearby

pytestmark = pytest.mark.java

GROUPS = 1000  # of each strategy, for each release
GROUPS_OF_SEVERAL_TOPICS = 100
Lists = dict[str, list[MessageQueue]]
FAILURES: dict[type[MemberFailure], str] = {
    IllegalArgument: "IllegalArgumentException",
    NullPointer: "NullPointerException",
}


@pytest.fixture(scope="module", params=RELEASES)
def java(request: pytest.FixtureRequest) -> Iterator[RocketMQ]:
    try:
        peer = RocketMQ(request.param, "-Xmx512m")
    except Unavailable as reason:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(reason))
    with peer:
        yield peer


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_member_and_the_whole_group_get_what_java_gives(java: RocketMQ, name: str) -> None:
    for number in range(GROUPS):
        given = group(name, number)

        answers = java.allocate(given.wire, given.queues, given.clients, given.asked)

        assert sort_queues(given.queues) == answers.queues, given
        assert Order.JAVA.sort(given.clients) == answers.clients, given
        assert _by_members(given, answers) == answers.of, given
        assert _by_group([given]) in _expected([answers]), given


@pytest.mark.parametrize("name", PARAMETERS)
def test_several_topics_are_allocated_topic_by_topic(java: RocketMQ, name: str) -> None:
    for number in range(GROUPS_OF_SEVERAL_TOPICS):
        topics = several_topics(name, number)

        answers = [java.allocate(given.wire, given.queues, given.clients, given.asked) for given in topics]

        assert _each_once(_by_group(topics)) in map(_each_once, _expected(answers)), topics


def test_a_member_without_a_list_fails_inside_of_a_room(java: RocketMQ) -> None:
    queues = [MessageQueue("TopicTest", "broker-a", 0)]
    wire = nearby({"broker-a": "east"}, {"A": "east"}, config({}))
    params = {"inner": "CONFIG", "broker_room": lambda _: "east", "client_room": lambda _: "east", "config": {}}
    given = Group("MACHINE_ROOM_NEARBY", params, wire, queues, ["A"])

    answers = java.allocate(given.wire, given.queues, given.clients, ["A"])

    assert isinstance(answers.of["A"], Thrown)
    assert _by_members(given, answers)["A"] == answers.of["A"]


def _by_members(given: Group, sorted_by_java: Answers) -> dict[str | None, Any]:
    chosen = strategy(given.name, **given.params)
    assert chosen.member is not None
    answered: dict[str | None, Answer] = {}
    for name in sorted_by_java.of:
        try:
            answered[name] = chosen.member(name, sorted_by_java.queues, sorted_by_java.clients)
        except MemberFailure as failure:
            answered[name] = _as_thrown(failure, sorted_by_java.of[name])
    return answered


def _as_thrown(failure: MemberFailure, java: Answer) -> Answer:
    """Say a failure in Java's words; the text of a NullPointerException is the virtual machine's, not RocketMQ's."""
    kind = next(name for ours, name in FAILURES.items() if isinstance(failure, ours))
    if kind == "NullPointerException" and isinstance(java, Thrown):
        return Thrown(kind, java.message)
    return Thrown(kind, str(failure))


def _by_group(topics: list[Group]) -> Lists | None:
    """Let the engine compute all members at once; None where it refuses to."""
    queues = [queue for given in topics for queue in given.queues]
    try:
        return allocate(topics[0].name, queues, topics[0].clients, **topics[0].params)
    except (AllocationError, MemberFailure):
        return None


def _expected(topics: list[Answers]) -> list[Lists | None]:
    """Tell what the whole group may be given: Java's answers, topic by topic, in Java's order.

    Refusing is expected where there is nothing to allocate or every member throws, and allowed where one does.
    """
    if not all(answers.queues and answers.clients for answers in topics):
        return [None]
    together: Lists = {name: [] for name in topics[0].clients}
    threw = set()
    for answers in sorted(topics, key=lambda answers: utf16(answers.queues[0].topic)):
        for name, so_far in together.items():
            answer = answers.of[name]
            if isinstance(answer, Thrown):
                threw.add(name)
            elif answer:
                so_far.extend(answer)
    if len(threw) == len(together):
        return [None]
    return [together, None] if threw else [together]


def _each_once(lists: Lists | None) -> Lists | None:
    """Put each client's queues into a set, as the Java client does: CONFIG gives its list for every topic."""
    return lists and {name: list(dict.fromkeys(queues)) for name, queues in lists.items()}
