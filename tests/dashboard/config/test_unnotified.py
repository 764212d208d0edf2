"""Brokers that notify nobody, from their own word to who would order a recompute: what the API and the page say."""

from __future__ import annotations

import html
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from redis import Redis

from dashboard.clusters.models import Command
from dashboard.groups.models import Group
from dashboard.people.roles import Role
from rebalance_engine.embedded.cluster import Cluster as Embedded
from rebalance_engine.embedded.cluster import ClusterSettings
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.membership.profiles import BrokerSettings
from tests.dashboard.config.watchers import added, consumer, rows, watched
from tests.dashboard.persons import person
from tests.rebalance_engine.network.loop import on_a_loop

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "Notification is switched off for the group (notifyConsumerIdsChangedEnable) at every broker that has it"


def ordered() -> tuple[int, dict[str, Any], str]:
    """Order a recompute by the API; give the answer's status and body, and the group's page."""
    client, group = Client(), Group.objects.get(name="G")
    client.force_login(person(Role.OPERATOR, name="ops"))
    answer = client.post(f"/api/v1/groups/{group.pk}/orders", {"reason": "stuck"}, content_type="application/json")
    page = client.get(f"/groups/{group.pk}/").content.decode()
    return answer.status_code, answer.json(), html.unescape(page)


@on_a_loop
async def test_where_brokers_notify_nobody_a_recompute_is_refused_and_its_button_is_closed(
    redis: Redis, redis_server: str, settings: Settings
) -> None:
    settings.REDIS_URL = redis_server
    silent = EmbeddedSettings(membership=BrokerSettings(notifies=False))
    async with Embedded(ClusterSettings(brokers=2, topics={"orders": 2}, broker=silent)) as east, rows() as looked:
        await added(looked, east, redis)
        async with watched(), consumer(east, "A"):
            known = Group.objects.filter(name="G", is_notified=False)
            await looked.until(known.exists)
            said = await looked.of(ordered)
        is_ordered = await looked.of(Command.objects.exists)

    assert isinstance(said, tuple)
    status, refusal, page = said
    assert status == 409
    assert WORDS in str(refusal)
    assert not is_ordered
    button = page[: page.index(WORDS)].rpartition("<button")[2]
    assert "disabled" in button
    assert f"{WORDS}: members rebalance by themselves every 20\u00a0s." in page
