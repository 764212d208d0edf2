import pytest
from django.db import transaction

from dashboard.groups.models import Group, RoundCause
from dashboard.groups.rebalancing import is_due, rebalance_once
from dashboard.groups.telling import note_told
from rebalance_engine.events import Cause, Origin
from tests.dashboard.story import T0, held, left, route, seen, told, uses

pytestmark = pytest.mark.usefixtures("cluster")


def a_group(strategy: str) -> Group:
    told(route(4), *seen("A"), uses("A", 5, strategy), held("A", 10, [0, 1, 2, 3]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    RoundCause.objects.all().delete()
    return group


def note(group: Group) -> None:
    with transaction.atomic():
        note_told(group=group, evidence="version 2 by ada", author="ada", now=T0 + 5_000)


def test_members_that_do_as_they_were_told_are_a_cause_and_are_due() -> None:
    group = a_group("CONFIG")

    note(group)

    cause = RoundCause.objects.get()
    assert (cause.cause, cause.evidence, cause.at, cause.observed_by) == (
        Cause.CONFIG_CHANGED.value,
        "version 2 by ada",
        T0 + 5_000,
        "ada",
    )
    assert cause.origin == Origin.OPERATOR.value
    assert is_due(group=group.pk, now=T0 + 5_001)


def test_others_are_not() -> None:
    group = a_group("AVG")

    note(group)

    assert not RoundCause.objects.exists()
    assert not is_due(group=group.pk, now=T0 + 5_001)


def test_who_left_does_not_count() -> None:
    group = a_group("CONFIG")
    told(left("A", 4_000))
    RoundCause.objects.all().delete()

    note(group)

    assert not RoundCause.objects.exists()
