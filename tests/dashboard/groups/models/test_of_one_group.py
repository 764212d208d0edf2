"""The database refuses rows that join what is of two groups, or of two clusters, and to give away what they name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.db import DatabaseError, models, transaction

from dashboard.clusters.models import Cluster, Queue, Topic
from dashboard.groups.models import Finding, Group, Holding, Member, Round, RoundCause, Subscription, Target
from tests.dashboard.story import T0, add_cluster
from tests.dashboard.wrong_states import SOURCED, make_group, make_member, make_queue, store


@dataclass(frozen=True)
class Whose:
    """What is of one group, of which everything may be named together."""

    cluster: Cluster
    group: Group
    member: Member
    queue: Queue
    round: Round


def of(cluster: Cluster, name: str) -> Whose:
    group = make_group(cluster, name)
    opened = {"cause": "member joined", "opened_at": T0, "last_cause_at": T0, "wave": 1}
    queue = Queue.objects.filter(topic__cluster=cluster).first() or make_queue(cluster)
    return Whose(cluster, group, make_member(group), queue, store(Round, group=group, number=1, **opened))


@pytest.fixture
def ours(cluster: Cluster) -> Whose:
    return of(cluster, "g")


@pytest.fixture
def neighbours(ours: Whose) -> Whose:
    """Another group of the same cluster."""
    return of(ours.cluster, "h")


@pytest.fixture
def strangers(ours: Whose) -> Whose:
    """A group of another cluster, of the same name."""
    return of(add_cluster("east"), ours.group.name)


def subscription(of: Whose) -> models.Model:
    told = {"topic": "orders", "expression_type": "TAG", "sub_version": 1, **SOURCED}
    return store(Subscription, group=of.group, member=of.member, **told)


def target(of: Whose) -> models.Model:
    return store(Target, group=of.group, queue=of.queue, member=of.member, fence=1)


def holding(of: Whose) -> models.Model:
    return store(Holding, group=of.group, queue=of.queue, member=of.member, **SOURCED)


def cause(of: Whose) -> models.Model:
    return store(RoundCause, group=of.group, round=of.round, cause="manual", evidence="they did", **SOURCED)


def finding(of: Whose) -> models.Model:
    told = {"kind": "storm", "subject": "g", "subject_key": "g", "sentence": "It storms.", "proof": ["it does"]}
    return store(Finding, cluster=of.cluster, group=of.group, origin="derived", suspected_at=T0, **told)


def assert_refused(row: models.Model, refusal: str, **changes: object) -> None:
    """Neither what is stored becomes such a row, nor is such a row stored."""
    rows = type(row)._default_manager
    with pytest.raises(DatabaseError, match=refusal), transaction.atomic():
        rows.filter(pk=row.pk).update(**changes)
    row.delete()
    for name, value in changes.items():
        setattr(row, name, value)
    with pytest.raises(DatabaseError, match=refusal), transaction.atomic():
        rows.bulk_create([row])


@pytest.mark.parametrize("make", [subscription, target, holding])
def test_a_member_is_of_the_group_of_what_names_it(
    ours: Whose, neighbours: Whose, make: Callable[[Whose], models.Model]
) -> None:
    assert_refused(make(ours), "joins what is of one group", member=neighbours.member)
    assert_refused(make(ours), "joins what is of one group", group=neighbours.group)


@pytest.mark.parametrize("make", [target, holding])
def test_a_queue_is_of_the_cluster_of_the_group_that_divides_it(
    ours: Whose, strangers: Whose, make: Callable[[Whose], models.Model]
) -> None:
    assert_refused(make(ours), "joins what is of one cluster", queue=strangers.queue)


def test_a_cause_is_of_the_group_of_its_round(ours: Whose, neighbours: Whose) -> None:
    assert_refused(cause(ours), "joins what is of one group", round=neighbours.round)
    assert_refused(cause(ours), "joins what is of one group", group=neighbours.group)


def test_a_finding_is_of_the_cluster_of_its_group(ours: Whose, strangers: Whose) -> None:
    assert_refused(finding(ours), "joins what is of one cluster", group=strangers.group)
    assert_refused(finding(ours), "joins what is of one cluster", cluster=strangers.cluster)


def test_what_names_nobody_is_taken(ours: Whose, neighbours: Whose) -> None:
    for row in (subscription(ours), target(ours)):
        type(row)._default_manager.filter(pk=row.pk).update(member=None)
    RoundCause.objects.filter(pk=cause(ours).pk).update(round=None)
    Finding.objects.filter(pk=finding(ours).pk).update(group=None)

    Target.objects.update(group=neighbours.group, member=neighbours.member)

    assert Target.objects.get().member == neighbours.member


def test_nothing_that_others_name_is_given_away(ours: Whose, neighbours: Whose, strangers: Whose) -> None:
    gifts: list[tuple[models.Model, str, models.Model]] = [
        (ours.group, "cluster", strangers.cluster),
        (ours.member, "group", neighbours.group),
        (ours.round, "group", neighbours.group),
        (Topic.objects.get(cluster=ours.cluster), "cluster", strangers.cluster),
        (ours.queue, "topic", strangers.queue.topic),
    ]
    for row, column, to in gifts:
        with pytest.raises(DatabaseError, match="is always the same"), transaction.atomic():
            type(row)._default_manager.filter(pk=row.pk).update(**{column: to})
        row.save()


def test_a_round_keeps_its_number(ours: Whose) -> None:
    rounds = Round.objects.filter(pk=ours.round.pk)
    for number in (ours.round.number - 1, ours.round.number + 1):
        with pytest.raises(DatabaseError, match="is always the same"), transaction.atomic():
            rounds.update(number=number)

    assert rounds.get().number == ours.round.number
