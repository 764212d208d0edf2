"""Pages say of when the last answer is, and who does not answer."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.common.spans import clock
from dashboard.groups.models import Group
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0


@pytest.fixture
def viewer(client: Client, cluster: Cluster) -> Client:
    Group.objects.create(cluster=cluster, name="g", added_at=T0)
    client.force_login(person(Role.VIEWER))
    return client


def test_pages_are_as_of_the_last_answer(viewer: Client) -> None:
    def as_of(address: str) -> str:
        found = re.search(r'data-is="now">(.*?)<', viewer.get(address).content.decode())
        assert found is not None
        return found[1]

    addresses = ("/", f"/groups/{Group.objects.get().pk}/")
    assert [as_of(each) for each in addresses] == ["–", "–"]
    Cluster.objects.update(watched_at=T0)
    assert [as_of(each) for each in addresses] == [clock(T0, millis=False)] * 2
