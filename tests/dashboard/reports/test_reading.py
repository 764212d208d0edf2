from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dashboard.reports.reading import (
    BEHIND_MS,
    MOST_BYTES,
    MOST_FACTS,
    Foreign,
    Malformed,
    Said,
    TooLarge,
    Unacceptable,
    admit,
    read,
)
from rebalance_engine.events import EXACT, BrokerLatency, Fact, LatencyCount, Origin, SendOutcome, SendTally, Source
from tests.dashboard.reports.facts import body, command, dropped, own, taken
from tests.dashboard.story import T0, route

GOOD = json.loads(body(taken("A", 1)))


def admitted(*facts: Fact, group: str = "g", now: int = T0) -> Said:
    return admit(read(body(*facts, group=group)), cluster="shop", group="g", now=now)


def test_a_report_is_read_with_its_facts_and_gets_the_clusters_name() -> None:
    said = admitted(taken("A", 1), dropped("A", 2))

    assert (said.report, said.group, said.reporter) == ("r1", "g", "A")
    assert [fact.source for fact in said.facts] == [replace(own("A"), cluster="shop")] * 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"v": 2}, "this reads version 1"),
        ({"v": True}, "this reads version 1"),
        ({"report": ""}, "1 to 100 characters"),
        ({"report": "x" * 101}, "1 to 100 characters"),
        ({"report": 7}, "1 to 100 characters"),
        ({"group": ""}, "the group's name"),
        ({"facts": []}, "at least one"),
        ({"facts": {}}, "at least one"),
        ({"facts": [7]}, r"facts\[0\] is no object"),
        ({"facts": [{"v": 1, "event": "QueueTaken"}]}, r"facts\[0\]: QueueTaken without"),
        ({"more": 1}, "needed are v, report, group, facts"),
    ],
    ids=str,
)
def test_what_is_no_report_is_said_with_what_was_needed(change: dict, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        read(json.dumps({**GOOD, **change}).encode())


@pytest.mark.parametrize("text", [b"", b"[]", b"\xff", b"{", b'{"v":NaN}', b'{"v":1,"v":1}', b"[" * 100_000], ids=len)
def test_a_body_that_is_no_json_object_is_refused(text: bytes) -> None:
    with pytest.raises(Malformed, match="the body is no report"):
        read(text)


def test_too_much_is_told_apart_from_wrong() -> None:
    with pytest.raises(TooLarge, match="1,048,576 bytes"):
        read(b" " * (MOST_BYTES + 1))
    with pytest.raises(TooLarge, match="1,000"):
        read(json.dumps({**GOOD, "facts": [{}] * (MOST_FACTS + 1)}).encode())


@pytest.mark.parametrize(
    "facts",
    [
        [taken("A", 1, group="other")],
        [taken("A", 1, source=own("B"))],
        [taken("A", 1, source=Source(origin=Origin.AGENT_REPORT))],
        [taken("A", 1), taken("B", 1)],
        [taken("A", 1, source=replace(own("A"), cluster="elsewhere"))],
        command(group="other"),
    ],
    ids=["another group", "of somebody else", "of nobody", "of two", "another cluster", "another group's command"],
)
def test_what_the_token_says_nothing_of_is_refused(facts: list[Fact]) -> None:
    with pytest.raises(Foreign):
        admitted(*facts)


def test_nobody_reports_as_the_canary_of_evenkeel() -> None:
    with pytest.raises(Foreign, match="Evenkeel's own canary"):
        admitted(taken("evenkeel-canary", 1))


def test_the_whole_report_must_be_of_the_tokens_group() -> None:
    with pytest.raises(Foreign, match="'other'; this token is of group 'g'"):
        admitted(taken("A", 1), group="other")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ([route(4)], "RouteSeen.*is nothing that a report states"),
        ([taken("A", 1, source=Source(origin=Origin.ADMIN_ANSWER, client="A"))], "needed is 'agent report'"),
        ([taken("A", 60_001)], "ahead of this control room's clock"),
        ([taken("A", 1 - BEHIND_MS - 2)], "at most a week"),
        ([replace(taken("A", 1), start_offset=2**48 + 1)], "start_offset 281474976710657; needed is at most"),
        ([replace(dropped("A", 1), committed_offset=2**63 - 1)], "committed_offset 9223372036854775807; needed"),
        (command()[:2], "0 CommandFinished"),
        (command()[1:], "0 CommandOrdered"),
        ([*command(), *command(name="c2")], "2 commands"),
        ([*command(), taken("A", 1)], "a client reports of itself alone"),
    ],
    ids=[
        "kind",
        "origin",
        "future",
        "past",
        "start",
        "committed",
        "unfinished",
        "not ordered",
        "two commands",
        "mixed",
    ],
)
def test_what_no_report_states_is_refused(facts: list[Fact], words: str) -> None:
    with pytest.raises(Unacceptable, match=words):
        admitted(*facts)


def test_a_tally_of_another_time_is_refused() -> None:
    def sent(since: int, until: int) -> Fact:
        return BrokerLatency(
            at=T0,
            source=own("A"),
            exactness=EXACT,
            client="A",
            broker="east",
            latency_ms=5,
            outcome=SendOutcome.OK,
            tally=SendTally(since=T0 + since, until=T0 + until, counts=(LatencyCount(latency_ms=5, count=9),)),
        )

    assert admitted(sent(0, 5)).reporter == "A"
    with pytest.raises(Malformed, match="ahead of this control room's clock"):
        admitted(sent(0, 60_001))
    with pytest.raises(Malformed, match="at most a week"):
        admitted(sent(-BEHIND_MS - 1, 5))


def test_a_command_is_taken_whatever_rocketmq_calls_the_cluster() -> None:
    said = admitted(*command())

    assert {fact.source.cluster for fact in said.facts} == {"shop"}
    assert said.reporter == ""
