from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client

from dashboard.groups.models import Group
from dashboard.groups.past import shown_at
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.showing import row_of, row_shown
from dashboard.people.roles import Role
from dashboard.push.messages import GroupState
from dashboard.push.models import Step
from dashboard.push.shapes import to_json
from tests.dashboard.groups.test_past import group  # noqa: F401 - a fixture
from tests.dashboard.groups.test_views import facts_in
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, left, missed, told


@pytest.fixture
def viewer(client: Client, group: Group) -> Client:  # noqa: F811
    assert group.name == "g"
    client.force_login(person(Role.VIEWER))
    return client


def page(viewer: Client, **asked: str | int) -> str:
    answer = viewer.get(f"/groups/{Group.objects.get().pk}/", asked)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_a_past_instant_is_marked_as_past_with_what_was_then(viewer: Client) -> None:
    found = page(viewer, at=T0 + 61_000)

    assert 'data-view="past"' in found
    assert 'datetime="2023-11-14T22:14:21.000Z"' in found
    assert " ago" in found
    assert "during round 2: member left" in found
    assert "This round 2" in found
    assert '<b class="is-none">open</b>: members have not been looked at since the last change' in found
    assert "Recompute now" not in found
    facts = facts_in(found)
    state = facts["state"]
    assert isinstance(state, dict)
    assert [cell["client"] for cell in state["members"]] == ["B", "C"]
    assert facts["at"] == T0 + 61_000


def test_of_who_had_answered_at_a_past_instant_it_is_told_by_when(viewer: Client) -> None:
    told(held("B", 200_000, [0, 1]), held("C", 200_000, [2, 3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 200_010)

    members = page(viewer, at=T0 + 260_000).partition('id="members"')[2]

    assert " ".join(members.split()).count('yes, by <time datetime="2023-11-14T22:16:40.010Z"') == 2


def test_findings_of_a_past_instant_are_shown(viewer: Client) -> None:
    for at in (200_000, 330_000):
        told(held("B", at, [2]), held("C", at, [3]))
        rebalance_once(group=Group.objects.get().pk, now=T0 + at + 10)

    assert "No member consumes orders/east/0" in page(viewer, at=T0 + 330_010)


def test_the_head_says_of_a_past_instant_what_it_said_then(viewer: Client) -> None:
    told(held("B", 200_000, [0, 1]), held("C", 200_100, [1, 2]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 200_110)
    told(held("B", 200_200, [0, 1]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 200_210)
    words = "1 of 4 queues with two owners, 1 without owner"

    live, past = viewer.get(f"/groups/{Group.objects.get().pk}/").content.decode(), page(viewer, at=T0 + 200_210)

    said = f'<span data-is="state" class="is-two">{words}</span>'
    assert said in live
    assert said in past


def test_what_was_not_known_then_is_not_said_to_be_right(viewer: Client) -> None:
    told(held("B", 200_000, [0, 1]), held("C", 200_000, [2, 3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 200_010)
    told(held("C", 205_000, [2, 3]))
    told(missed("C", 210_000))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 210_010)

    silent, known = page(viewer, at=T0 + 210_010), page(viewer, at=T0 + 200_010)

    words = "Not all is known: 1 of 2 members does not answer. In what is known, nothing is found wrong."
    assert words in silent
    assert "Nothing is found wrong." in known
    assert words not in known


@pytest.mark.usefixtures("viewer")
def test_a_group_stood_then_as_the_overview_said() -> None:
    pk = Group.objects.get().pk
    for at, fact in (
        (200_000, held("B", 200_000, [0])),
        (210_000, missed("C", 210_000)),
        (230_000, left("C", 230_000)),
    ):
        told(fact)
        rebalance_once(group=pk, now=T0 + at + 10)
        now = row_of(Group.objects.get())
        shown = shown_at(group=Group.objects.get(), at=T0 + at + 10)
        assert shown is not None

        then = row_shown(shown.state, group=Group.objects.get(), at=now.rebalanced_at or 0)

        assert replace(then, round_moves=now.round_moves) == now


def test_the_page_shows_the_state_that_the_stream_had(viewer: Client) -> None:
    shown = shown_at(group=Group.objects.get(), at=T0 + 30_000)
    assert shown is not None
    assert isinstance(shown.state, GroupState)

    assert facts_in(page(viewer, at=T0 + 30_000))["state"] == to_json(shown.state)


def test_an_instant_may_be_asked_for_in_iso_8601(viewer: Client) -> None:
    assert facts_in(page(viewer, at="2023-11-14T22:13:50Z"))["at"] == T0 + 30_000


def test_keys_lead_to_the_changes_and_rounds_beside_and_back_to_live(viewer: Client) -> None:
    pk = Group.objects.get().pk
    found = page(viewer, at=T0 + 30_000, window="1h")

    for does, to in (
        ("previous round", T0 + 5_000),
        ("previous change", T0 + 6_000),
        ("next change", T0 + 60_000),
        ("next round", T0 + 60_000),
    ):
        assert f'href="/groups/{pk}/?at={to}&amp;window=1h" data-does="{does}"' in found
    assert f'href="/groups/{pk}/?window=1h" data-does="live"' in found
    assert 'data-does="previous change"' not in page(viewer, at=T0 + 20)


def test_the_live_page_leads_into_the_past(viewer: Client) -> None:
    pk = Group.objects.get().pk
    live = page(viewer)

    assert 'href="?at=last-round" data-does="previous round"' in live
    assert viewer.get(f"/groups/{pk}/?at=last-round").headers["Location"] == f"/groups/{pk}/?at={T0 + 60_000}"
    assert viewer.get(f"/groups/{pk}/?at=last-change&window=1h").headers["Location"] == (
        f"/groups/{pk}/?at={T0 + 62_000}&window=1h"
    )


def test_a_bad_instant_is_refused_with_clear_words(viewer: Client) -> None:
    answer = viewer.get(f"/groups/{Group.objects.get().pk}/?at=<b>soon")

    assert answer.status_code == 400
    assert "“&lt;b&gt;soon” is no instant. Needed are ms since 1970" in answer.content.decode()
    assert 'data-does="live"' in answer.content.decode()


def test_the_future_says_so(viewer: Client) -> None:
    answer = viewer.get(f"/groups/{Group.objects.get().pk}/?at=2999-01-01")

    assert answer.status_code == 400
    assert "2999-01-01T00:00:00.000Z is still to come" in answer.content.decode()


def test_of_what_nothing_is_kept_nothing_is_shown(viewer: Client) -> None:
    answer = viewer.get(f"/groups/{Group.objects.get().pk}/?at={T0}")

    assert answer.status_code == 404
    assert "Nothing that was seen of this group at 2023-11-14T22:13:20.000Z is kept." in answer.content.decode()


def test_what_is_put_together_says_so(viewer: Client) -> None:
    assert "is not kept any more" not in page(viewer, at=T0 + 30_000)
    Step.objects.all().delete()

    assert "What the page showed then is not kept any more." in page(viewer, at=T0 + 30_000)


def test_whoever_may_not_see_the_group_does_not_see_its_past(client: Client, group: Group) -> None:  # noqa: F811
    address = f"/groups/{group.pk}/?at={T0 + 30_000}"
    assert client.get(address).status_code == 302

    client.force_login(person(Role.VIEWER, clusters="elsewhere"))

    assert client.get(address).status_code == 404
    assert client.get(f"/groups/{group.pk}/?at=soon").status_code == 404
