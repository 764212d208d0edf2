from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster, Command, CommandReceipt
from dashboard.groups.models import Group
from dashboard.people.roles import Role
from tests.dashboard.groups.test_receipts import ordered
from tests.dashboard.persons import person
from tests.dashboard.story import T0


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="billing", added_at=T0)


@pytest.fixture
def viewer(client: Client, group: Group) -> Client:
    assert group.pk
    client.force_login(person(Role.VIEWER))
    return client


def test_the_page_of_a_group_leads_to_its_receipts(viewer: Client, group: Group) -> None:
    row = ordered(group, A="unchanged", B="not asked")
    listed, one = f"/groups/{group.pk}/receipts/", f"/groups/{group.pk}/receipts/{row.pk}/"

    home = viewer.get(f"/groups/{group.pk}/").content.decode()
    part = viewer.get(f"/groups/{group.pk}/orders").content.decode()

    for text in (home, part):
        assert f'href="{listed}"' in text
        assert f'href="{one}"' in text
    assert f'href="{one}"' in viewer.get(listed).content.decode()


def test_a_receipt_says_who_and_why_and_what_it_did_to_each(viewer: Client, group: Group) -> None:
    row = ordered(group, A="unchanged", B="not asked")

    page = viewer.get(f"/groups/{group.pk}/receipts/{row.pk}/").content.decode()

    for words in ("Recompute now", "by ada", "to see", "not asked", "No member is known to have changed", "6.0\u00a0s"):
        assert words in page
    assert 'data-answer="unchanged"' in page and 'data-answer="not asked"' in page
    assert f"?at={T0}" in page
    assert "data-open" not in page


def test_the_receipt_of_an_order_that_failed_tells_of_no_notice_and_no_time_to_settle(
    viewer: Client, group: Group
) -> None:
    row = ordered(group, A="not asked")
    address = f"/groups/{group.pk}/receipts/{row.pk}/"
    done = viewer.get(address).content.decode()
    Command.objects.update(outcome="failed")

    page = viewer.get(address).content.decode()

    assert "with the time in which members settle" in done and "No broker that notified its members" in done
    assert "members settle" not in page and "No broker that notified its members" not in page
    assert "It failed before anything was sent" in page and "It was not notified: nothing was sent." in page


def test_an_order_that_is_open_is_looked_at_again(viewer: Client, group: Group) -> None:
    row = ordered(group)
    Command.objects.update(outcome=None, finished_at=None)

    page = viewer.get(f"/groups/{group.pk}/receipts/{row.pk}/").content.decode()

    assert "data-open" in page
    assert 'data-view="receipt"' in page
    assert "It is not over" in page


def test_of_very_many_members_the_first_are_shown_and_the_table_has_all(viewer: Client, group: Group) -> None:
    row = ordered(group, **{f"c{number:03}": "unchanged" for number in range(501)})

    page = viewer.get(f"/groups/{group.pk}/receipts/{row.pk}/").content.decode()
    table = viewer.get(f"/api/v1/groups/{group.pk}/orders/{row.pk}/receipts?format=csv").content.decode()

    assert "500 of 501 are shown" in page
    assert page.count("data-answer=") == 500
    assert len(table.splitlines()) == 502


def test_a_group_of_which_nothing_was_ordered_says_who_may(viewer: Client, group: Group) -> None:
    assert "for operators" in viewer.get(f"/groups/{group.pk}/receipts/?page=x").content.decode()


def test_an_order_of_another_group_is_not_found(viewer: Client, group: Group) -> None:
    other = Group.objects.create(cluster=group.cluster, name="other", added_at=T0)
    row = ordered(other)

    assert viewer.get(f"/groups/{group.pk}/receipts/{row.pk}/").status_code == 404
    assert viewer.get("/groups/999999/receipts/").status_code == 404
    assert not CommandReceipt.objects.exists()
