from __future__ import annotations

import json
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.clusters.models import Cluster, Watch
from dashboard.common.clock import now_ms
from dashboard.groups.models import Finding, Group, Member, Round
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.roles import Role
from dashboard.push.runs import pack
from rebalance_engine.events import EXACT, ProgressSeen, QueueProgress
from tests.dashboard.persons import person
from tests.dashboard.story import EAST, T0, add_cluster, held, joined, listed, missed, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture
def viewer(client: Client) -> Client:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []))
    turn(5_200)
    client.force_login(person(Role.VIEWER))
    return client


def progress(at: int, waiting: int) -> ProgressSeen:
    queues = (QueueProgress(queue=queue(0), end=9, committed=9 - waiting),)
    return ProgressSeen(at=T0 + at, source=EAST, exactness=EXACT, group="g", broker="east", queues=queues)


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get(name="g").pk, now=T0 + at)


def facts_in(page: str) -> dict[str, object]:
    found = re.search(r'<script id="facts" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    facts: dict[str, object] = json.loads(found[1])
    return facts


def test_the_overview_has_its_rows_before_any_script_runs(viewer: Client) -> None:
    page = viewer.get("/").content.decode()

    assert "3 members, 4 queues" in page
    assert "unknown who holds what since the last change" in page  # nobody was asked since C came
    assert "1: member joined" in page


def test_of_a_broadcasting_group_no_figures_of_owners_are_given(viewer: Client) -> None:
    Group.objects.update(model="BROADCASTING", orphan_count=0, double_count=0)

    page = viewer.get("/").content.decode()

    orphans = re.search(r'data-is="orphans">(.*?)</span>', page, re.DOTALL)
    assert orphans is not None and 'data-mark="none"' in orphans[1] and "n/a" in orphans[1]


def test_a_row_says_how_old_it_is_where_its_cluster_does_not_answer(viewer: Client) -> None:
    def row() -> str:
        return viewer.get("/").content.decode().split('<li data-id="', 2)[1]

    Member.objects.update(held_seen_at=now_ms() - 12_000)
    assert "nothing of its cluster has answered yet" in row()
    Cluster.objects.update(watched_at=now_ms() - 125_000)
    assert "data-stale" in row()
    assert re.search(r"as of 2\xa0min\xa0[0-5]\d\xa0s ago", row())
    Cluster.objects.update(watched_at=now_ms())
    assert "data-stale" not in row()
    assert re.search(r'data-is="age" aria-hidden="true">[1-5]\d\xa0s ago<', row())
    Member.objects.update(held_seen_at=now_ms() - 90_000)
    assert "data-stale" in row()
    assert re.search(r"as of 1\xa0min\xa0[3-5]\d\xa0s ago", row())
    pk = Group.objects.get(name="g").pk
    assert now_ms() - viewer.get(f"/groups/fared?ids={pk}").json()["fared"][str(pk)]["looked_at"] >= 90_000


def test_a_round_that_is_open_counts_the_members_that_are_there_so_far(viewer: Client) -> None:
    group = Group.objects.get(name="g")
    row = Round.objects.get(group=group)
    assert (row.members_after, group.member_count) == (None, 3)

    page = viewer.get(f"/groups/{group.pk}/rounds/").content.decode()

    assert re.search(r"2\s*→\s*3 so far", page)


def test_the_page_of_a_group_that_is_gone_says_since_when_and_keeps_its_history(viewer: Client) -> None:
    group = Group.objects.get(name="g")
    Group.objects.update(gone_at=T0 + 60_000)

    page = viewer.get(f"/groups/{group.pk}/").content.decode()

    assert "This group is gone" in page
    assert "22:14:20" in page
    assert 'data-is="state" class="is-unknown">gone<' in page
    assert "member joined" in page
    assert facts_in(page)["around"]["gone_at"] == T0 + 60_000  # type: ignore[index]
    for part in ("rounds/", "rounds/1/", "?part=side", "receipts/", "plan/", "pauses/"):
        answer = viewer.get(f"/groups/{group.pk}/{part}")
        assert (answer.status_code, "This group is gone" in answer.content.decode()) == (200, True)
    Group.objects.update(gone_at=None)
    assert "This group is gone" not in viewer.get(f"/groups/{group.pk}/").content.decode()


def test_a_page_of_groups_knows_which_there_are_besides(viewer: Client) -> None:
    told(*seen("A", group="another"))

    facts = facts_in(viewer.get("/?q=another").content.decode())

    assert facts["known"] == list(pack(list(Group.objects.values_list("pk", flat=True))))
    assert facts["list"] == {"sort": "state", "number": 1, "is_filtered": True, "is_whole": False}


def test_the_overview_asks_as_often_for_many_groups_as_for_few(viewer: Client) -> None:
    viewer.get("/")
    with CaptureQueriesContext(connection) as few:
        viewer.get("/")
    for number in range(20):
        told(*seen("A", group=f"more-{number}"), *seen("B", group=f"more-{number}"))
        rebalance_once(group=Group.objects.get(name=f"more-{number}").pk, now=T0 + 6_000)

    with CaptureQueriesContext(connection) as many:
        page = viewer.get("/").content.decode()

    assert page.count("<li data-id=") == 21 + 1  # and the one that is cloned
    assert len(many) == len(few) > 5


def test_the_overview_keeps_what_was_asked_for_in_its_links(viewer: Client) -> None:
    page = viewer.get("/?q=g&only=moving&sort=name").content.decode()

    assert 'href="?q=g&amp;only=moving&amp;sort=members"' in page
    assert viewer.get("/?page=x&sort=nonsense&only=nonsense").status_code == 200


def test_a_page_for_somebody_who_is_logged_in_stays_in_no_cache(viewer: Client) -> None:
    assert viewer.get("/")["Cache-Control"] == "no-store"


def test_an_empty_overview_says_what_to_do(client: Client) -> None:
    client.force_login(person(Role.VIEWER, clusters="another"))

    assert "make run NAMESRV=host:9876" in client.get("/").content.decode()


def test_a_groups_page_has_its_map_as_a_table_and_its_state_as_facts(viewer: Client) -> None:
    pk = Group.objects.get().pk

    page = viewer.get(f"/groups/{pk}/").content.decode()
    facts = facts_in(page)

    assert "orders/east 0–1" in page
    assert facts["group"] == pk
    assert facts["snapshot"]["kind"] == "group.snapshot"  # type: ignore[index] # a snapshot
    assert "<html" not in viewer.get(f"/groups/{pk}/?part=side").content.decode()


def test_a_member_that_one_broker_has_over_two_connections_is_one_member_and_no_two_processes(viewer: Client) -> None:
    told(listed(6_000, "A", "A", "B", "C"))
    turn(6_100)

    page = viewer.get(f"/groups/{Group.objects.get().pk}/").content.decode()

    assert "2 connections" in page
    assert "2 processes" not in page
    assert Group.objects.get().member_count == 3


def test_a_group_that_was_never_looked_at_says_so(client: Client) -> None:
    told(*seen("A"))
    client.force_login(person(Role.VIEWER))

    page = client.get(f"/groups/{Group.objects.get().pk}/").content.decode()

    assert "its first look is under way" in page
    assert "not looked at yet" in page


def test_what_a_page_asks_for_later_is_json(viewer: Client) -> None:
    pk = Group.objects.get().pk

    assert viewer.get(f"/groups/{pk}/facts").json().keys() == {"time", "around", "lanes"}
    assert viewer.get(f"/groups/smalls?ids={pk},999,x").json()["smalls"].keys() == {str(pk)}
    owners = viewer.get(f"/groups/{pk}/queue?topic=orders&broker=east&id=3").json()["owners"]
    assert [each["client"] for each in owners] == ["B"]
    assert viewer.get(f"/groups/{pk}/queue?id=-1").status_code == 404


def test_how_far_a_group_is_behind_is_asked_for_alone(viewer: Client) -> None:
    told(progress(6_000, 5))
    pk = Group.objects.get(name="g").pk

    answer = viewer.get(f"/groups/{pk}/lag").json()
    page = facts_in(viewer.get(f"/groups/{pk}/").content.decode())

    assert answer["lag"][0]["queues"] == [["orders", 0, 5, None, 4]]
    assert page["lag"] == answer["lag"]


def test_owners_over_time_are_asked_for_alone_within_what_was(viewer: Client) -> None:
    pk = Group.objects.get(name="g").pk

    answer = viewer.get(f"/groups/{pk}/owners?since={T0}&until={T0 + 20_000}").json()
    longest = viewer.get(f"/groups/{pk}/owners?since=0").json()

    assert [len(each["bars"]) for each in answer["queues"]] == [1, 1, 1, 1]
    assert (answer["since"], answer["until"]) == (T0, T0 + 20_000)
    assert longest["until"] - longest["since"] == 48 * 3_600_000
    assert viewer.get(f"/groups/{pk}/owners?since=x&until=-1").status_code == 200


def test_the_overview_has_the_proof_of_a_finding_and_when_it_must_end(viewer: Client) -> None:
    group = Group.objects.get()
    Finding.objects.create(
        cluster=group.cluster,
        group=group,
        kind="lock refused",
        subject="orders/east/0",
        subject_key="orders/east/0",
        sentence="B was refused the lock of orders/east/0",
        proof=["A had locked it at 22:13:21"],
        origin="derived",
        suspected_at=T0,
        ends_at=T0 + 61_000,
    )

    found = viewer.get("/?part=findings").content.decode()

    assert "A had locked it at 22:13:21" in found
    assert "ends by" in found
    assert "22:14:21" in found
    assert re.search(rf'since <time [^>]+>22:13:20.000</time>, <span [^>]+ data-lasts="{T0}">for \d+\xa0d', found)


def test_members_before_the_first_round_are_unknown_where_none_was_seen(viewer: Client) -> None:
    where = f"/groups/{Group.objects.get().pk}/rounds/"

    known = viewer.get(where).content.decode()
    Round.objects.update(members_before=None)
    unknown = viewer.get(where).content.decode()

    assert re.search(r">\s*2\s*→", known)
    assert re.search(r">\s*–\s*→", unknown)


def test_rounds_have_a_list_and_a_page_each(viewer: Client) -> None:
    pk = Group.objects.get().pk

    assert "member joined" in viewer.get(f"/groups/{pk}/rounds/").content.decode()
    assert "C joined. 1 queue is to change owner" in viewer.get(f"/groups/{pk}/rounds/1/").content.decode()
    assert viewer.get(f"/groups/{pk}/rounds/2/").status_code == 404


def test_a_hostile_name_is_text_wherever_it_stands(client: Client) -> None:
    name = "</script><img src=x onerror=alert(1)>"
    told(route(4), *seen(name, group=name), held(name, 10, [0, 1, 2, 3], group=name))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    client.force_login(person(Role.VIEWER))

    for address in ("/", f"/groups/{group.pk}/", f"/groups/{group.pk}/rounds/"):
        assert "<img" not in client.get(address).content.decode()


def test_a_page_asks_the_database_as_often_for_many_groups_as_for_one(
    viewer: Client, django_assert_max_num_queries: object
) -> None:
    Group.objects.bulk_create(
        Group(cluster=Group.objects.get(name="g").cluster, name=f"more {n}", added_at=T0) for n in range(300)
    )

    with django_assert_max_num_queries(31):  # type: ignore[operator] # pytest-django's
        assert viewer.get("/").status_code == 200


def test_a_row_says_how_its_group_fared_lately_before_any_script_runs(viewer: Client) -> None:
    told(progress(6_000, 5))
    page = viewer.get("/?sort=lag&q=B+orders/east").content.decode()

    row = " ".join(re.sub(r"<[^>]*>", " ", page.split("<li data-id=")[1]).split())
    assert "lag: 5" in row
    assert "queue-time without owner in the last 10 min:" in row
    assert "queue-time without owner, in 10 min" in page
    assert facts_in(page)["smalls"]


def test_how_groups_fared_is_asked_for_alone_by_those_who_may_see_them(viewer: Client) -> None:
    told(progress(6_000, 5))
    pk = Group.objects.get(name="g").pk

    answer = viewer.get(f"/groups/fared?ids={pk},999").json()

    assert list(answer["fared"]) == [str(pk)]
    assert answer["fared"][str(pk)]["cells"]["lag"]["text"] == "5"
    assert answer["fared"][str(pk)]["lag"] == 5


def test_what_the_overview_adds_up_is_asked_for_alone(viewer: Client) -> None:
    whole, part = (viewer.get(f"/?sort=name{more}").content.decode() for more in ("", "&part=counts"))

    found = re.findall(r'<(?:p|nav)[^>]*data-part="(?:sums|filters)".*?</(?:p|nav)>', part, re.DOTALL)
    assert len(found) == 2
    assert all(" ".join(each.split()) in " ".join(whole.split()) for each in found)
    assert "part=" not in part.replace("data-part=", "")


def test_the_overview_does_not_say_that_nothing_is_wrong_above_groups_whose_queues_nobody_has(client: Client) -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    turn(20)
    client.force_login(person(Role.VIEWER))
    fine = client.get("/?part=findings").content.decode()
    Group.objects.create(
        cluster=Cluster.objects.get(), name="left", added_at=T0, rebalanced_at=T0, member_count=0, queue_count=10
    )
    lone = client.get("/?part=findings&q=other").content.decode()
    page = client.get("/").content.decode()

    assert "Nothing is found wrong in what is known." in fine
    assert "data-unowned" not in fine
    for each in (lone, page):
        words = " ".join(each.split())
        assert "Nothing is found wrong" not in words
        assert "1 group has queues without owner, or with two:" in words
        assert "Nothing else is found wrong in what is known." in words
        assert 'href="?only=owners#groups-title"' in words
    assert re.search(r"No owner or two\s+1\b", page)


def test_the_overview_names_the_servers_that_do_not_answer(viewer: Client) -> None:
    cluster = Cluster.objects.get()
    Cluster.objects.update(lease_holder="here:1", lease_epoch=1, lease_until=now_ms() + 60_000)
    mute = {"server": "127.0.0.1:1", "broker": "", "since": T0, "answered_at": None, "why": "refused"}
    Watch.objects.create(cluster=cluster, at=T0, silent=[mute, mute | {"server": "127.0.0.1:2", "broker": "east"}])

    page = viewer.get("/?part=findings").content.decode()

    assert "NameServer 127.0.0.1:1 of shop has never answered." in page
    assert "Broker east (127.0.0.1:2) of shop does not answer." in page


def test_what_is_added_up_is_a_bound_while_one_of_several_clusters_has_never_answered(client: Client) -> None:
    client.force_login(person(Role.VIEWER))
    Cluster.objects.update(watched_at=T0)
    exact = client.get("/?part=counts").content.decode()
    add_cluster("bank")
    bound = client.get("/?part=counts").content.decode()

    assert "at least:" in bound and "<b>0</b> groups" in bound and ">All 0<" in bound
    assert "at least:" not in exact and "<b>0</b> groups" in exact


def test_an_overview_without_groups_promises_nothing_while_nothing_answers(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    page = client.get("/").content.decode()

    assert "No group is known: nothing of this cluster answers." in page
    assert "evenkeel doctor --namesrv 127.0.0.1:9876" in page
    assert "groups, members and queues: unknown" in page and "<b>0</b> groups" not in page
    assert re.search(r">All 0<|>Unknown 0<", page) is None and ">All –<" in page
    assert "Nobody is known to watch the cluster shop" in page


def test_of_who_does_not_answer_it_is_unknown_what_it_has_not_taken(viewer: Client) -> None:
    told(missed("A", 6_000))
    turn(6_100)

    page = viewer.get(f"/groups/{Group.objects.get().pk}/").content.decode()

    table = page[page.index("wanted, not yet taken</th>") :]
    row = table[table.index("unknown: no answer") :]
    row = row[: row.index("</tr>")]
    assert row.count('data-mark="unknown"') == 2
    assert "orders" not in row
