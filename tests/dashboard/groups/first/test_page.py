from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.groups.first.page import looked_until, owners_room, painted
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.roles import Role
from tests.dashboard.groups.first.test_map import AROUND, TWO, cell, state
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, route, seen, told

TIME = {"since": 0, "until": 100_000, "rounds": [], "none": [], "two": [], "told_until": None}


def test_all_are_looked_at_since_the_one_who_told_first() -> None:
    seen_at = {"seen": [{"client": "A", "at": 5}, {"client": "B", "at": 3}], "watched_at": 9}

    assert looked_until(state(*TWO), seen_at) == 3
    assert looked_until(state(TWO[0], cell("B", None, [])), seen_at) == 5
    assert (looked_until(state(), seen_at), looked_until(None, {"watched_at": None})) == (9, None)


def test_a_group_that_was_never_shown_has_a_bar_and_no_map() -> None:
    found = painted(None, {"time": TIME, "around": {**AROUND, "watched_at": None}, "lag": []}, zoom="")

    assert found["first"] is None
    assert found["bar"] is not None


def test_owners_over_time_have_room_for_a_lane_a_queue_and_a_title_a_broker() -> None:
    two = state(*TWO)

    assert owners_room(two, AROUND) == 20 + 15 * 4 + 20
    assert owners_room(None, AROUND) == owners_room(state(model="BROADCASTING"), AROUND) == 0


@pytest.mark.usefixtures("cluster")
def test_the_page_says_who_holds_what_without_a_script(client: Client) -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    client.force_login(person(Role.VIEWER))

    page = client.get(f"/groups/{group.pk}/").content.decode()

    start = page.index('<div id="map">')
    drawing = page[start : page.index('id="says"', start)]
    assert drawing.count('class="own"') == 2
    looks = set(re.findall(r'<path class="([a-z-]+)"', drawing))
    assert looks >= {"cell-ok", "cell-ground", "cell-want", "column-none", "sign-none"}
    assert "style=" not in drawing
    assert 'class="band-ground"' in page
    past = client.get(f"/groups/{group.pk}/?at={T0 + 30}").content.decode()
    assert 'class="cell-ok"' in past[past.index('<div id="map">') :]
