"""Lists that pages cut say how much they leave out, or lead to the rest."""

from __future__ import annotations

import re

import pytest
from django.template.loader import render_to_string
from django.test import Client, RequestFactory

from dashboard.groups import story
from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.table import InWords, QueueRow
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, joined, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get(name="g").pk, now=T0 + at)


@pytest.fixture
def viewer(client: Client) -> Client:
    """Somebody who looks at a group in which C took two queues, one from A and one from B."""
    told(route(6), *seen("A"), *seen("B"), held("A", 10, [0, 1, 2]), held("B", 10, [3, 4, 5]))
    turn(20)
    told(joined("C", 5_000, low=4_000), *seen("C", 5_000)[1:], held("C", 5_100, []))
    turn(5_200)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]), held("C", 6_100, [4, 5]))
    turn(6_200)
    client.force_login(person(Role.VIEWER))
    return client


def test_all_handoffs_of_a_round_are_on_its_pages(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "MOST_LANES", 2)
    pk = Group.objects.get().pk

    pages = [viewer.get(f"/groups/{pk}/rounds/1/?handoffs={number}").content.decode() for number in (1, 2)]

    assert "2 of 3 are shown." in pages[0]
    assert 'href="?handoffs=2#handoffs"' in pages[0]
    assert 'href="?handoffs=1#handoffs"' in pages[1]
    named = [{f"orders/east/{number}" for number in (2, 4, 5) if f"orders/east/{number}<" in page} for page in pages]
    assert [len(each) for each in named] == [2, 1]
    assert named[0] | named[1] == {f"orders/east/{number}" for number in (2, 4, 5)}
    assert f'href="/groups/{pk}/rounds/1/#handoffs"' in viewer.get(f"/groups/{pk}/").content.decode()


def test_all_evidence_of_a_round_is_on_its_page(viewer: Client) -> None:
    row = Round.objects.get()
    for number in range(60):
        RoundCause.objects.create(
            group=row.group, round=row, cause="member joined", at=T0 + 5_000, observed_at=T0, origin="derived",
            evidence=f"D{number} joined", client_id=f"D{number}",
        )  # fmt: skip

    page = viewer.get(f"/groups/{row.group_id}/rounds/1/").content.decode()

    assert "53 more changes" in page
    assert all(f"D{number} joined" in page for number in range(60))


def test_changes_that_a_paragraph_only_counts_are_a_link_away(viewer: Client) -> None:
    row = Round.objects.get()
    address, link = f"/groups/{row.group_id}/rounds/1/", re.compile(r'<a href="#causes">([^<]*)</a>')
    before = viewer.get(address).content.decode()
    for number in range(3):
        RoundCause.objects.create(
            group=row.group, round=row, cause="route changed", at=T0 + 5_000, observed_at=T0, origin="derived",
            evidence=f"orders has {number + 5} queues",
        )  # fmt: skip

    page = viewer.get(address).content.decode()
    of_group = viewer.get(f"/groups/{row.group_id}/").content.decode()

    count = row.causes.count()
    assert "And 3 more changes." in page
    assert (link.findall(before), link.findall(page)) == ([], [f"All {count} changes, each with its evidence"])
    assert page.count('id="causes"') == of_group.count('id="causes"') == 1


def test_a_round_says_what_its_target_moved_beside_how_few_would_have_done(viewer: Client) -> None:
    page = viewer.get(f"/groups/{Group.objects.get().pk}/rounds/1/").content.decode()

    assert "moved by the target" in page
    assert "fewest possible" in page


def test_a_queue_in_words_says_how_many_more_hold_and_want_it() -> None:
    clients = tuple(f"M{number}" for number in range(9))
    row = QueueRow("orders", "east", 0, "ok", "broadcasting: every member has it", clients, clients[:6])
    told_of = {
        "held_by": [],
        "in_words": InWords((row,), 0),
        "group": Group(pk=1),
        "request": RequestFactory().get("/"),
    }

    page = render_to_string("groups/_table.html", told_of)

    assert page.count("and 3 more") == 1
    assert "M5" in page
    assert "M6" not in page


@pytest.mark.parametrize("template", ["groups/_members.html", "groups/_past_members.html"])
def test_members_of_whom_a_page_has_no_room_are_on_the_next_ones(template: str) -> None:
    unknown = dict.fromkeys(("at", "at_low", "since", "since_low", "held_seen_at", "held", "missing"))
    members = [
        {"member": {**unknown, "client_id": f"M{number}", "client": f"M{number}", "registrations": 1}}
        for number in range(302)
    ]
    asked = [RequestFactory().get("/groups/1/", {"members": str(number)}) for number in range(1, 14)]

    pages = [render_to_string(template, {"members": members, "group": Group(pk=1), "request": each}) for each in asked]

    assert "Members 1–25 of 302" in pages[0]
    assert 'href="/groups/1/?members=2#members"' in pages[0]
    assert [f"M{number}" for number in range(302) if not any(f">M{number}<" in page for page in pages)] == []


def test_a_round_tells_the_handoff_of_one_queue_and_keeps_it_in_the_address(viewer: Client) -> None:
    pk = Group.objects.get().pk

    page = viewer.get(f"/groups/{pk}/rounds/1/?queue=orders/east/2").content.decode()
    none = viewer.get(f"/groups/{pk}/rounds/1/?queue=orders/west/").content.decode()

    assert [f"orders/east/{number}<" in page for number in (2, 4, 5)] == [True, False, False]
    assert 'value="orders/east/2"' in page
    assert "all 3 handoffs" in page
    assert "No handoff of it is in this round." in none
