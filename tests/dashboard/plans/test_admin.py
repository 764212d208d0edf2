"""By-config assignments in the Django admin: added by the same operation as on the page, and never changed."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.audit.models import AuditEntry
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.plans import assignments
from dashboard.plans.models import ByConfig
from tests.dashboard.story import T0, held, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
ADD = "admin:plans_byconfig_add"
GOOD = '{"A": ["orders/east/0-3"]}'


@pytest.fixture
def group() -> Group:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    return group


def add(client: Client, group: Group, **given: str) -> tuple[int, str]:
    values = {"group": str(group.pk), "base": "0", "document": GOOD, "reason": "x"} | given
    answer = client.post(reverse(ADD), values)
    return answer.status_code, answer.content.decode()


def add_as_read(client: Client, group: Group, **given: str) -> int:
    """Tick what the page lists beside the tick."""
    listed = re.search(r'name="listed" value="([^"]+)"', add(client, group, **given)[1])
    assert listed is not None
    return add(client, group, **given, is_read="on", listed=listed[1])[0]


def test_a_version_is_added_as_on_the_page(admin_client: Client, group: Group) -> None:
    assert add(admin_client, group)[0] == 302

    row = ByConfig.objects.get()
    assert (row.version, row.author, row.queue_count) == (1, "admin", 4)
    assert AuditEntry.objects.get().verb == "by-config.publish"
    opened = admin_client.get(reverse("admin:plans_byconfig_change", args=[row.pk]))
    assert "orders/east/0-3" in opened.content.decode()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"document": "{"}, "This is no JSON"),
        ({"document": '{"A": ["orders/east/0-1"]}'}, "would wait: orders/east/2, orders/east/3<"),
        ({"document": '{"A": ["orders/east/0-1"]}', "is_read": "on"}, "would wait: orders/east/2, orders/east/3<"),
        ({"document": '{"A": ["orders/east/0-3", "orders/east/0"]}', "is_read": "on"}, "is listed twice"),
        ({"base": "7"}, "there is no version yet"),
        ({"reason": ""}, "This field is required"),
    ],
)
def test_what_cannot_be_kept_is_refused_there_too(
    admin_client: Client, group: Group, given: dict[str, str], why: str
) -> None:
    status, page = add(admin_client, group, **given)

    assert status == 200
    assert why in page
    assert not ByConfig.objects.exists()


def test_what_is_risky_needs_its_tick_and_the_latest_version_as_its_base(admin_client: Client, group: Group) -> None:
    risky = {"document": '{"A": ["orders/east/0-1"]}', "is_read": "on"}
    listed = re.search(r'name="listed" value="([^"]+)"', add(admin_client, group, **risky)[1])
    assert listed is not None

    other = {**risky, "document": '{"A": ["orders/east/0-2"]}', "listed": listed[1]}
    assert "would wait: orders/east/3<" in add(admin_client, group, **other)[1], "that was not listed"
    assert add(admin_client, group, **risky, listed=listed[1])[0] == 302
    assert "version 1 by admin is there" in add(admin_client, group)[1]
    assert add(admin_client, group, base="1")[0] == 302


def test_a_version_is_not_changed_or_deleted(admin_client: Client, group: Group) -> None:
    add(admin_client, group)
    row = ByConfig.objects.get()

    changed = admin_client.post(reverse("admin:plans_byconfig_change", args=[row.pk]), {"document": "{}"})
    deleted = admin_client.post(reverse("admin:plans_byconfig_delete", args=[row.pk]), {"post": "yes"})

    assert (changed.status_code, deleted.status_code) == (403, 403)
    assert ByConfig.objects.get().document == row.document


def test_the_form_asks_for_the_group_and_begins_with_its_latest_version(admin_client: Client, group: Group) -> None:
    def document(**asked: str) -> str:
        page = admin_client.get(reverse(ADD), asked).content.decode()
        found = re.search(r'<textarea name="document"[^>]*>(.*?)</textarea>', page, re.DOTALL)
        return unescape(found[1]).strip() if found else page

    assert 'value="Continue"' in document() and 'value="Continue"' in document(group="77")
    to = admin_client.post(reverse(ADD), {"group": str(group.pk)})
    assert to.headers["Location"] == f"{reverse(ADD)}?group={group.pk}"
    assert document(group=str(group.pk)) == assignments.write(assignments.read(GOOD)).strip(), "what is held"
    assert add_as_read(admin_client, group, document='{"A": ["orders/east/0-1"], "B": ["orders/east/2-3"]}') == 302
    assert document(group=str(group.pk)) == ByConfig.objects.get().document.strip()
