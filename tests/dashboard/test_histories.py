"""Random histories: whatever happens, what a browser puts together from the steps is what the database says."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group, Holding, Member, Round, Target
from dashboard.groups.rebalancing import rebalance_once
from dashboard.push.group_diffs import apply
from dashboard.push.messages import GroupDiff, GroupSnapshot, GroupState, decode
from dashboard.push.models import Step
from dashboard.push.runs import unpack
from rebalance_engine.events import Departure, Fact
from tests.dashboard.luck import examples
from tests.dashboard.story import T0, add_cluster, held, joined, left, missed, route, seen, told

clients = st.sampled_from("ABCD")
happenings = st.one_of(
    st.tuples(st.just("joined"), clients),
    st.tuples(st.just("left"), clients),
    st.tuples(st.just("held"), clients, st.sets(st.integers(0, 6))),
    st.tuples(st.just("missed"), clients),
    st.tuples(st.just("route"), st.integers(0, 6)),
)
gaps = st.sampled_from([500, 2_000, 5_000, 130_000])


def fact_of(happening: tuple, at: int) -> Fact:
    match happening:
        case ("joined", client):
            return joined(client, at)
        case ("left", client):
            return left(client, at, Departure.UNKNOWN)
        case ("held", client, queues):
            return held(client, at, sorted(queues))
        case ("missed", client):
            return missed(client, at)
        case _:
            return route(happening[1], at)


@pytest.mark.django_db
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(happenings, gaps), min_size=1, max_size=14))
def test_the_steps_of_any_history_lead_to_what_the_database_says(history: list[tuple[tuple, int]]) -> None:
    Cluster.objects.all().delete()
    Step.objects.all().delete()
    add_cluster()
    told(route(4), *seen("A"), held("A", 1, [0, 1, 2, 3]))
    group, at = Group.objects.get(), 2
    rebalance_once(group=group.pk, now=T0 + at)

    for happening, gap in history:
        at += gap
        told(fact_of(happening, at))
        rebalance_once(group=group.pk, now=T0 + at)

    shown: GroupState | None = None
    bodies = Step.objects.filter(stream__name=f"group-{group.pk}").order_by("seq").values_list("seq", "body")
    for number, (seq, body) in enumerate(bodies, 1):
        message = decode(bytes(body))
        assert isinstance(message, GroupSnapshot | GroupDiff)
        assert seq == message.seq == number
        shown = apply(shown, message)
    assert shown is not None
    check_against_rows(shown, group)
    numbers = list(Round.objects.filter(group=group).order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))


def check_against_rows(shown: GroupState, group: Group) -> None:
    queues = [(part.topic, part.broker, number) for part in shown.queues for number in unpack(part.ids).tolist()]
    members = {row.client_id: row for row in Member.objects.filter(group=group, left_at=None)}
    assert [cell.client for cell in shown.members] == sorted(members)
    names = ("queue__topic__name", "queue__broker", "queue__queue_id")
    strays = {(stray.client, stray.topic, stray.broker, stray.queue_id) for stray in shown.strays}
    for cell in shown.members:
        rows = set(Holding.objects.filter(member=members[cell.client], until=None).values_list(*names))
        if cell.held is None:
            assert members[cell.client].is_silent
        else:
            mine = {queues[number] for number in unpack(cell.held).tolist()}
            assert mine | {stray[1:] for stray in strays if stray[0] == cell.client} == rows
        wanted = set(Target.objects.filter(group=group, member=members[cell.client]).values_list(*names))
        assert {queues[number] for number in unpack(cell.target).tolist()} == wanted
    latest = Round.objects.filter(group=group).order_by("-number").first()
    assert (shown.head.round is None) == (latest is None)
    if latest is not None and shown.head.round is not None:
        assert (shown.head.round.number, shown.head.round.state) == (latest.number, latest.state)
