"""Every page about a group, and of the Django admin, where group, topic, broker and clients want to pose as others."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.gate import is_of_djangos_admin, is_open
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, joined, queue, route, seen, subscribes, told
from tests.dashboard.test_access import ALL

GROUP, TOPIC, BROKER = "orders\u202e<b>\u200b", "pay\u202dments", "ea\u2067st"
CLIENTS = ("x\u202e1-gnillib", "10.0.0.1@a\u200bb")
HARMFUL = re.compile("[\u200b-\u200f\u202a-\u202e\u2066\u2067\u2069\ufeff]")


@pytest.fixture
def hostile(cluster: Cluster) -> Group:
    Cluster.objects.update(is_demo=True, is_read_only=False)
    told(route(4, topic=TOPIC, broker=BROKER))
    for number, client in enumerate(CLIENTS):
        holds = replace(held(client, 10, [], group=GROUP), queues=(queue(number, TOPIC, BROKER),))
        told(*seen(client, group=GROUP), subscribes(client, 0, TOPIC, group=GROUP), holds)
    group = Group.objects.get(cluster=cluster)
    rebalance_once(group=group.pk, now=T0 + 20)
    told(joined("y\u202eY", 5_000, GROUP), subscribes("y\u202eY", 5_000, TOPIC, group=GROUP))
    rebalance_once(group=group.pk, now=T0 + 5_100)
    return group


def test_no_page_says_what_turns_or_hides(client: Client, hostile: Group) -> None:
    client.force_login(person(Role.ADMIN))
    said = {}
    for address, each in ALL:
        if is_open(each.callback) or is_of_djangos_admin(each.callback):
            continue
        answer = client.get(address.replace("/groups/1/", f"/groups/{hostile.pk}/"))
        if answer.status_code == 200 and "text/html" in answer["Content-Type"]:
            page = re.sub(
                r'<script[^>]*type="application/json".*?</script>', "", answer.content.decode(), flags=re.DOTALL
            )
            said[address] = sorted({ascii(found) for found in HARMFUL.findall(_without_values(page))})

    assert len(said) >= 7
    assert "⟨U+202E⟩" in client.get(f"/groups/{hostile.pk}/").content.decode()
    assert {address: found for address, found in said.items() if found} == {}


def _without_values(page: str) -> str:
    """Leave out what a form sends back: it has to be the name itself."""
    return re.sub(r'<(option|input)[^>]* value="[^"]*"', r"<\1", page)


@pytest.mark.usefixtures("hostile")
def test_no_page_of_the_admin_says_what_turns_or_hides(client: Client, admin_user: User) -> None:
    client.force_login(admin_user)
    said = {}
    for model in admin.site._registry:
        at = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        row = model._default_manager.first()
        rows = [] if row is None else [reverse(f"{at}_change", args=[row.pk])]
        for address in (reverse(f"{at}_changelist"), *rows):
            page = _without_values(client.get(address).content.decode())
            said[address] = sorted({ascii(found) for found in HARMFUL.findall(page)})

    assert len(said) > 30
    assert {address: found for address, found in said.items() if found} == {}
