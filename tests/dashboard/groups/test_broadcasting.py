"""The page of a broadcasting group: every member has every queue, so that a changed route makes no round."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.groups.models import Group
from dashboard.people.roles import Role
from tests.dashboard.groups.test_story import settle
from tests.dashboard.persons import person

pytestmark = pytest.mark.usefixtures("cluster")


def test_a_broadcasting_group_without_a_round_does_not_say_that_no_route_changed(client: Client) -> None:
    address = f"/groups/{settle().pk}/"
    client.force_login(person(Role.VIEWER))

    assert "and no route changed, since this group is watched" in client.get(address).content.decode()

    Group.objects.update(model="BROADCASTING")
    page = client.get(address).content.decode()
    assert "so that a changed route makes no round" in page
    assert "no route changed" not in page
