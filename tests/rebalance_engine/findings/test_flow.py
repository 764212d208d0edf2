from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.findings.flow import (
    STUCK_MS,
    Returned,
    Standing,
    dead_letters,
    is_growing,
    is_stuck,
    nobody_consumes,
    retry_growing,
    stuck_listeners,
)
from rebalance_engine.group import GroupView, Member

QUEUE = MessageQueue("orders", "east", 0)
ALONE = GroupView.of("g", [QUEUE], [Member(client_id="A", held=(QUEUE,))])
SINCE = 1_000_000


def standing(after_ms: int, waiting: int = 3) -> Standing:
    return Standing(QUEUE, 100, waiting, SINCE, SINCE + after_ms)


@pytest.mark.parametrize(
    ("after_ms", "waiting", "expected"), [(STUCK_MS, 1, True), (STUCK_MS - 1, 1, False), (STUCK_MS, 0, False)]
)
def test_a_queue_is_stuck_after_a_minute_with_messages_waiting(after_ms: int, waiting: int, expected: bool) -> None:
    assert is_stuck(standing(after_ms, waiting)) is expected


def test_a_stuck_listener_is_named_with_both_looks() -> None:
    [fault] = stuck_listeners(ALONE, [standing(STUCK_MS)], {"orders/east/0": 0})

    assert fault.sentence.startswith("A gets nowhere with orders/east/0: 3 messages wait, and it has committed nothing")
    assert fault.proof == (
        "A holds orders/east/0",
        "at 00:16:40 UTC it had committed up to 100, with messages behind that",
        "at 00:17:40 UTC it was 100 still, with 3 behind it",
    )


def test_who_has_taken_the_queue_a_moment_ago_is_not_blamed() -> None:
    assert list(stuck_listeners(ALONE, [standing(STUCK_MS)], {"orders/east/0": SINCE + 1})) == []
    assert list(stuck_listeners(ALONE, [standing(STUCK_MS)], {})) == []


def test_a_queue_without_one_owner_is_another_fault() -> None:
    nobody = GroupView.of("g", [QUEUE], [Member(client_id="A", held=())])
    two = GroupView.of("g", [QUEUE], [Member(client_id=name, held=(QUEUE,)) for name in "AB"])
    elsewhere = GroupView.of("g", [MessageQueue("orders", "west", 0)], [Member(client_id="A", held=())])

    for view in (nobody, two, elsewhere):
        assert list(stuck_listeners(view, [standing(STUCK_MS)], {"orders/east/0": 0})) == []


def test_that_nobody_consumes_is_told_with_what_waits_in_each_queue() -> None:
    other = Standing(MessageQueue("orders", "west", 0), 7, 1, SINCE + 5, SINCE + STUCK_MS + 5)

    [fault] = nobody_consumes("g", [replace(standing(STUCK_MS, 40), waited=3), other], ["west", "east"])

    assert fault.sentence == (
        "Nobody consumes: the group has no member. 41 messages wait in 2 queues, and 37 of these came since"
        " 00:16:40 UTC."
    )
    was = "orders/east/0 was committed up to 100 at 00:16:40 UTC, with 3 behind it;"
    assert fault.proof == (
        "east lists no member",
        "west lists no member",
        f"{was} at 00:17:40 UTC it was there still, and 40 messages wait",
        "orders/west/0 was committed up to 7 at 00:16:40 UTC; at 00:17:40 UTC it was there still, and 1 message waits",
    )


@pytest.mark.parametrize(
    ("failed", "consumed", "expected"),
    [(10, None, True), (9, None, False), (10, 1_000, True), (10, 1_001, False), (0, 0, False)],
)
def test_a_retry_topic_grows_by_more_than_a_few_of_those_consumed(
    failed: int, consumed: int | None, expected: bool
) -> None:
    before = None if consumed is None else 7
    looks = [Returned(0, 5, before), Returned(60_000, 5 + failed, None if consumed is None else 7 + consumed)]

    assert is_growing(looks) is expected


def test_one_look_shows_no_growth() -> None:
    assert not is_growing([Returned(0, 1_000)])
    assert list(dead_letters("g", "east", [Returned(0, 1_000)])) == []


def test_growth_is_told_with_both_ends() -> None:
    [fault] = retry_growing("g", "east", [Returned(0, 5, 0), Returned(60_000, 45, 90)])

    assert fault.sentence == (
        "40 messages failed and came back to %RETRY%g on east since 00:00:00 UTC, while 90 were consumed there."
    )
    assert fault.proof == ("%RETRY%g ended at 5 at 00:00:00 UTC", "it ended at 45 at 00:01:00 UTC")


def test_a_single_message_that_was_given_up_is_told() -> None:
    [fault] = dead_letters("g", "east", [Returned(0, 0), Returned(60_000, 1)])

    assert fault.sentence == "1 message was given up, and put into %DLQ%g on east since 00:00:00 UTC."
