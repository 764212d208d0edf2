"""Histories of every kind of event: all that a page shows, put together from the steps, is what the database says.

The same histories each time; ``test_histories.py`` has others each time, of fewer kinds, and compares less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Finding, Group, Holding, Member, Round, Target
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.showing import row_of
from dashboard.push.group_diffs import apply
from dashboard.push.messages import GroupDiff, GroupSnapshot, GroupState, OverviewDiff, Row, decode
from dashboard.push.models import Step
from dashboard.push.runs import unpack
from rebalance_engine.events import EXACT, Departure, DropReason, Fact, Missing, QueueDropped, QueueTaken
from tests.dashboard.luck import examples
from tests.dashboard.story import (
    REPORT,
    T0,
    add_cluster,
    held,
    joined,
    left,
    listed,
    missed,
    queue,
    route,
    seen,
    subscribes,
    told,
    untold,
    uses,
)

NAMES = ("queue__topic__name", "queue__broker", "queue__queue_id")
FAULT = ("kind", "subject", "sentence", "suspected_at", "confirmed_at", "ends_at")
ROUND = ("number", "state", "cause", "opened_at", "opened_low", "closed_at", "wave", "waits_for")
clients = st.sampled_from("ABCD")
brokers = st.sampled_from(["east", "west"])
topics = st.sampled_from(["orders", "bills"])
numbers = st.integers(0, 6)
happenings = st.one_of(
    st.tuples(st.just("joined"), clients),
    st.tuples(st.just("left"), clients, st.sampled_from(Departure)),
    st.tuples(st.just("held"), clients, st.sets(numbers), topics),
    st.tuples(st.just("taken"), clients, numbers),
    st.tuples(st.just("dropped"), clients, numbers),
    st.tuples(st.just("missed"), clients, st.sampled_from([Missing.TIMEOUT, Missing.NOT_ONLINE, Missing.REFUSED])),
    st.tuples(st.just("listed"), brokers, st.sets(clients)),
    st.tuples(st.just("untold"), brokers),
    st.tuples(st.just("uses"), clients, st.sampled_from(["AVG", "AVG_BY_CIRCLE"])),
    st.tuples(st.just("subscribes"), clients, st.sets(topics, min_size=1)),
    st.tuples(st.just("route"), numbers, topics, brokers),
    st.tuples(st.just("nothing")),
)
gaps = st.sampled_from([500, 2_000, 5_000, 21_000, 130_000])


def facts_of(happening: tuple, at: int) -> list[Fact]:
    """Give what a watcher or a report states of a happening; nothing where only time goes by."""
    kind, *of = happening
    return MADE[kind](at, *of) if kind in MADE else []


def reported(at: int, client: str, number: int) -> dict[str, Any]:
    """Give what is the same of whatever a member reports of a queue."""
    whose = {"group": "g", "client": client, "queue": queue(number)}
    return {"at": T0 + at, "source": REPORT, "exactness": EXACT, **whose}


MADE: dict[str, Callable[..., list[Fact]]] = {
    "joined": lambda at, client: [joined(client, at, low=at - 100), *seen(client, at)[1:]],
    "left": lambda at, client, departure: [left(client, at, departure)],
    "held": lambda at, client, queues, topic: [held(client, at, sorted(queues), topic=topic)],
    "taken": lambda at, client, number: [QueueTaken(**reported(at, client, number))],
    "dropped": lambda at, client, number: [
        QueueDropped(reason=DropReason.NOT_IN_TARGET, **reported(at, client, number))
    ],
    "missed": lambda at, client, missing: [missed(client, at, missing=missing)],
    "listed": lambda at, broker, told_of: [listed(at, *sorted(told_of), broker=broker)],
    "untold": lambda at, broker: [untold(at, broker=broker)],
    "uses": lambda at, client, strategy: [uses(client, at, strategy)],
    "subscribes": lambda at, client, named: [subscribes(client, at, *sorted(named))],
    "route": lambda at, size, topic, broker: [route(size, at, topic=topic, broker=broker)],
}


@pytest.mark.django_db
@settings(
    max_examples=examples(10),
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(happenings, gaps), min_size=1, max_size=14))
def test_all_that_a_page_shows_is_what_the_database_says(history: list[tuple[tuple, int]]) -> None:
    Cluster.objects.all().delete()
    Step.objects.all().delete()
    add_cluster()
    told(route(4), *seen("A"), held("A", 1, [0, 1, 2, 3]))
    group, at = Group.objects.get(), 2
    rebalance_once(group=group.pk, now=T0 + at)

    for happening, gap in history:
        at += gap
        told(*facts_of(happening, at), at=at)
        rebalance_once(group=group.pk, now=T0 + at)

    shown: GroupState | None = None
    bodies = Step.objects.filter(stream__name=f"group-{group.pk}").order_by("seq").values_list("seq", "body")
    for number, (seq, body) in enumerate(bodies, 1):
        message = decode(bytes(body))
        assert isinstance(message, GroupSnapshot | GroupDiff)
        assert seq == message.seq == number
        shown = apply(shown, message)
    assert shown is not None
    group.refresh_from_db()
    check_against_rows(shown, group)
    check_head(shown, group)
    check_overview(group)
    numbers = list(Round.objects.filter(group=group).order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))


def check_against_rows(shown: GroupState, group: Group) -> None:
    """Hold the members, with what each has and should have, and the findings against their rows."""
    queues = [(part.topic, part.broker, number) for part in shown.queues for number in unpack(part.ids).tolist()]
    members = {row.client_id: row for row in Member.objects.filter(group=group, left_at=None)}
    assert [cell.client for cell in shown.members] == sorted(members)
    strays = {(stray.client, stray.topic, stray.broker, stray.queue_id) for stray in shown.strays}
    for cell in shown.members:
        row = members[cell.client]
        for name in ("registrations", "language", "version", "strategy", "is_orderly", "missing"):
            assert getattr(cell, name) == getattr(row, name), name
        assert (cell.since, cell.since_low) == (row.at, row.at_low)
        assert (cell.held is None) == row.is_silent
        if cell.held is not None:
            rows = set(Holding.objects.filter(member=row, until=None).values_list(*NAMES))
            mine = {queues[number] for number in unpack(cell.held).tolist()}
            assert mine == rows & set(queues)
            assert {stray[1:] for stray in strays if stray[0] == cell.client} == rows - set(queues)
        wanted = set(Target.objects.filter(group=group, member=row).values_list(*NAMES))
        assert {queues[number] for number in unpack(cell.target).tolist()} == wanted
    faults = Finding.objects.filter(group=group, cleared_at=None).values_list(*FAULT)
    assert sorted(tuple(getattr(each, name) for name in FAULT) for each in shown.faults) == sorted(faults)


def check_head(shown: GroupState, group: Group) -> None:
    """Hold what stands once for the group against its row, its latest round, and queues counted by who holds them."""
    head = shown.head
    assert (head.model, head.strategy, head.is_strategy_assumed) == (
        group.model,
        group.strategy,
        group.is_strategy_assumed,
    )
    assert (head.is_converged, head.orphans, head.doubles) == (
        group.is_converged,
        group.orphan_count,
        group.double_count,
    )
    assert (len(head.untold), head.fault_count) == (group.untold_count, len(shown.faults))
    assert not shown.members or head.are_members_known == (group.untold_count == 0)
    assert group.silent_count == sum(cell.held is None for cell in shown.members)
    owned = Counter(number for cell in shown.members for number in unpack(cell.held or ()).tolist())
    every = sum(len(unpack(part.ids)) for part in shown.queues)
    is_all_told = shown.members and head.are_members_known and not group.silent_count
    if is_all_told and head.orphans is not None:
        assert head.orphans == every - len(owned)
    if not is_all_told:
        assert head.orphans is None or not shown.members
    perhaps = len(unpack(head.perhaps_twice))
    assert perhaps == group.perhaps_twice_count
    if head.doubles is not None:
        assert head.doubles + perhaps == sum(owners > 1 for owners in owned.values())
    latest = Round.objects.filter(group=group).order_by("-number").first()
    assert (head.round is None) == (latest is None)
    if latest is not None and head.round is not None:
        for name in ROUND:
            assert getattr(head.round, name) == getattr(latest, name), name
        assert head.round.moves == latest.move_count
        evidence = latest.causes.order_by("at", "pk").values_list("evidence", flat=True)
        assert list(head.round.evidence) == list(evidence[:20])
        silent = [cell.client for cell in shown.members if cell.held is None]
        assert latest.closed_at is not None or list(head.round.unknown_members) == silent


def check_overview(group: Group) -> None:
    """Hold the row that the overview's steps come to against the group's."""
    rows: dict[int, Row] = {}
    bodies = Step.objects.filter(stream__name=f"overview-{group.cluster_id}").order_by("seq").values_list("body")
    for (body,) in bodies:
        message = decode(bytes(body))
        assert isinstance(message, OverviewDiff)
        rows |= {row.id: row for row in message.put}
        for gone in message.gone:
            del rows[gone]
    assert rows == {group.pk: row_of(group, is_behind=False)}
