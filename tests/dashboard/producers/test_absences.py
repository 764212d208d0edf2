from __future__ import annotations

import pytest

from dashboard.clusters.models import Broker, Cluster
from dashboard.producers.absences import Absence, absences_of
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


def add(cluster: Cluster, name: str, gone_at: int | None = None, number: int = 0, **kept: object) -> None:
    known = {"at": T0, "observed_at": T0, "origin": "admin answer", "address": "a:1"}
    Broker.objects.create(cluster=cluster, name=name, broker_id=number, gone_at=gone_at, **known, **kept)


def test_what_ended_and_what_lasts_is_read_of_masters_alone(cluster: Cluster) -> None:
    other = Cluster.objects.create(name="other", namesrv="b:1", added_at=T0)
    add(cluster, "east", T0 + 50, absences=[[T0 + 1, T0 + 20]])
    add(cluster, "west", absences=[[T0 + 5, T0 + 6]])
    add(cluster, "north")
    add(cluster, "north", T0 + 9, number=1)
    add(other, "south", T0 + 9)

    assert absences_of(clusters=[cluster.pk]) == {
        (cluster.pk, "east"): (Absence(T0 + 1, T0 + 20), Absence(T0 + 50, None)),
        (cluster.pk, "west"): (Absence(T0 + 5, T0 + 6),),
    }


@pytest.mark.parametrize(("at", "is_away"), [(9, False), (10, True), (19, True), (20, False)])
def test_an_absence_begins_when_it_was_seen_and_has_ended_at_its_end(at: int, is_away: bool) -> None:
    assert Absence(10, 20).covers(at) is is_away
    assert Absence(10, None).covers(at) is (at >= 10)
