from __future__ import annotations

import csv
import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from dashboard.api import site
from dashboard.audit.models import AuditEntry
from dashboard.clusters.models import Broker, Cluster
from dashboard.groups.models import Group, Member
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people import operations
from dashboard.people.roles import Role
from dashboard.plans import views
from dashboard.plans.earlier import Earlier
from dashboard.plans.models import ByConfig
from dashboard.plans.tables import TABLES
from dashboard.push.publish import group_state
from rebalance_engine.events import EXACT, Cause, ConsumeType, MemberSeen, ProgressSeen, QueueProgress
from tests.dashboard.persons import person
from tests.dashboard.plans.test_costs import a_round, hand
from tests.dashboard.story import EAST, T0, held, missed, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture
def address(client: Client) -> str:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    client.force_login(person(Role.VIEWER))
    return f"/groups/{group.pk}/plan/"


def facts_in(page: str) -> Any:  # noqa: ANN401 - JSON as it comes
    found = re.search(r'<script id="facts" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_without_a_question_the_group_is_shown_as_it_is_by_every_strategy(client: Client, address: str) -> None:
    page = client.get(address).content.decode()

    assert "nothing is asked yet" in page
    assert "Nothing moves." in page
    assert page.count('class="card"') >= 4  # those that differ, and by config
    assert re.search(r"<li>the same as AVG: .*>GO_AVG</a>", page)
    assert page.count("the same as AVG:") == 1
    assert "6 strategies are not compared, and why" in page
    assert re.search(r">MACHINE_ROOM</a>: MACHINE_ROOM needs the parameter", page)
    assert facts_in(page)["picture"]["head"] == {"model": "CLUSTERING", "is_target_known": True}


def test_of_queues_without_owners_a_dry_run_says_that_it_has_none(client: Client, address: str) -> None:
    assert "Only queues with owners are divided" not in client.get(address).content.decode()
    Member.objects.filter(client_id="A").update(consume_type="CONSUME_POP")
    Group.objects.update(popped_by={"east": ["clicks"]})

    page = client.get(address, {"add": "3"}).content.decode()
    answer = client.get(address, {"format": "json"}).json()

    assert (
        "POP: 1 member takes messages from queues that nobody owns" in page and "Set to POP for clicks on east" in page
    )
    assert (
        "Only queues with owners are divided" in page and "Of the queues with owners nothing would be left for" in page
    )
    assert answer["without_owners"] == {
        "popping_members": 1,
        "members_by_pop": ["A"],
        "members_through_proxies": [],
        "set_to_pop": {"east": ["clicks"]},
    }


def test_a_dry_run_of_members_of_both_kinds_says_who_has_queues_and_gives_none_to_who_pops(client: Client) -> None:
    pops = MemberSeen(at=T0 + 5, source=EAST, exactness=EXACT, group="g", client="B", consume_type=ConsumeType.POP)
    told(route(4), *seen("A"), *seen("B"), pops, held("A", 10, [0, 1]), held("B", 10, []))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    client.force_login(person(Role.VIEWER))
    address = f"/groups/{group.pk}/plan/"

    page = client.get(address, {"add": "C"}).content.decode()
    answer = client.get(address, {"add": "C", "format": "json"}).json()

    with_owners = re.search(r'data-part="with-owners">(.*?)</dl>', page, re.DOTALL)
    assert with_owners is not None
    assert re.findall(r"<d[td]>(.*?)</d[td]>", with_owners[1]) == [
        "queues are divided among",
        "A",
        "own none: POP",
        "B",
    ]
    assert {each["client_id"]: each["after"] for each in answer["members"]} == {"A": 2, "B": 0, "C": 1}
    assert answer["unowned"] == ["orders/east/2"]  # the share of who pops
    assert (answer["skew"]["members"], answer["skew"]["idle"]) == (2, [])
    state = group_state(group=group.pk)
    assert state is not None
    assert [(cell.client, cell.target) for cell in state.members] == [("A", (0, 2)), ("B", ())]


def test_a_dry_run_says_which_brokers_are_away_and_how_far_behind_each_queue_is(client: Client, address: str) -> None:
    assert "away: its queues" not in client.get(address).content.decode()
    known = {"at": T0, "observed_at": T0, "origin": "admin answer"}
    Broker.objects.create(cluster=Cluster.objects.get(), name="west", broker_id=0, address="a:1", gone_at=T0, **known)
    behind = QueueProgress(queue=queue(0), end=12, committed=5)
    told(ProgressSeen(at=T0, source=EAST, exactness=EXACT, group="g", broker="east", queues=(behind,)))

    page = client.get(address, {"remove": "A"}).content.decode()

    assert "west is away: its queues are not in this dry run" in page
    assert re.search(r'data-mark="exact" title="as of [0-9:]+" tabindex="0">7<', page)


def test_what_two_have_and_one_keeps_is_not_said_to_go_to_nobody(client: Client, address: str) -> None:
    told(held("A", 8_000, [0, 1]), held("B", 8_000, [1, 2, 3]))

    page = client.get(address).content.decode()

    assert "others keep it" in page and "nobody is to have it" not in page
    assert '<span class="is-none">nobody</span>' not in page


def test_a_question_stands_in_the_url_and_in_the_form(client: Client, address: str) -> None:
    page = client.get(address, {"add": "C", "remove": "A", "strategy": "STICKY"}).content.decode()

    assert ">C</textarea>" in page
    assert 'value="STICKY"' in page
    assert "?add=C&amp;remove=A&amp;strategy=AVG_BY_CIRCLE" in page  # the next card keeps the question
    assert "?add=C&amp;remove=A&amp;strategy=STICKY&amp;format=csv" in page
    assert "A leaves" in page and "C joins" in page


def test_that_no_message_may_have_come_twice_is_said_in_words(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "earlier_of", lambda *, group: Earlier(0 if group else None, 3, None, 0))

    page = client.get(address, {"remove": "A"}).content.decode()

    assert "≥ ~ 0" not in page
    assert page.count("0 or more</span>") == 3  # of two moves, and of all


def test_moves_are_shown_with_what_they_are_likely_to_cost(client: Client, address: str) -> None:
    page = client.get(address, {"remove": "A"}).content.decode()

    assert "2 moves" in page
    assert "its owner leaves:" in page and "no such handoff of this group is known" in page
    row = a_round(Group.objects.get(), 9, (Cause.MEMBER_LEFT, "A"))
    hand(row, range(3), "A", "B", unowned_low=0, unowned_high=900)

    page = client.get(address, {"remove": "A"}).content.decode()

    estimates = re.findall(r'data-mark="estimate" title="an estimate, from this [^"]*"[^>]*>([^<]*)<', page)
    assert [unescape(each) for each in estimates] == ["≤\u00a0~\u00a0900\u00a0ms"] * 3  # for each move, and what it is
    assert "the median time without owner of this group's last 3 such handoffs; pauses are unknown" in unescape(page)
    assert "in between" not in page


def test_the_same_is_there_as_json_and_as_a_table(client: Client, address: str) -> None:
    told_json = client.get(address, {"remove": "A", "format": "json"}).json()
    table = client.get(address, {"remove": "A", "format": "csv"})
    page = client.get(address, {"remove": "A"}).content.decode()

    assert [(move["queue"], move["to"]) for move in told_json["moves"]] == [
        ("orders/east/0", "B"),
        ("orders/east/1", "B"),
    ]
    assert [row[3:5] for row in csv.reader(table.content.decode().splitlines())][1:] == [["A", "B"], ["A", "B"]]
    assert table["Content-Disposition"] == 'attachment; filename="dry-run-g.csv"'
    for name in TABLES:
        assert f"?remove=A&amp;format=csv&amp;table={name}" in page
        assert f"?remove=A&amp;format=json&amp;table={name}" in page
    loads = client.get(address, {"remove": "A", "format": "csv", "table": "loads"})
    assert loads.content.decode().splitlines() == [
        "client_id,before,after,is_new,is_gone",
        "A,2,,false,true",
        "B,2,4,false,false",
    ]
    assert loads["Content-Disposition"] == 'attachment; filename="dry-run-loads-g.csv"'
    part = client.get(address, {"remove": "A", "format": "json", "table": "strategies"}).json()
    assert (part["strategies"], "moves" in part) == (told_json["strategies"], False)
    assert client.get(address, {"format": "csv", "table": "nonsense"}).status_code == 400


def test_a_bad_question_is_answered_with_what_is_wrong_and_the_group_as_it_is(client: Client, address: str) -> None:
    answer = client.get(address, {"remove": "Z", "add": "A"})

    assert answer.status_code == 400
    page = answer.content.decode()
    assert "&#x27;Z&#x27; is no member, so it cannot leave." in page and "&#x27;A&#x27; is a member already." in page
    assert facts_in(page)["picture"]["members"] != []
    refused = client.get(address, {"remove": "Z", "format": "json"})
    assert (refused.status_code, refused.json()) == (400, {"problems": ["'Z' is no member, so it cannot leave."]})
    assert client.get(address, {"params": "{"}).status_code == 400


def test_nothing_is_written(client: Client, address: str) -> None:
    before = Group.objects.values().get()

    client.get(address, {"add": "50", "queues": "orders/east/40", "strategy": "WEIGHTED"})

    assert Group.objects.values().get() == before
    assert not AuditEntry.objects.exists() and not ByConfig.objects.exists()
    assert client.post(address).status_code == 405


def test_where_somebody_does_not_answer_the_target_is_the_base(client: Client, address: str) -> None:
    told(missed("A", 5_000))

    assert "against the target" in client.get(address).content.decode()


def test_a_hostile_name_is_text_wherever_it_stands(client: Client, address: str) -> None:
    name = "</script><img/src=x/onerror=alert(1)>"

    page = client.get(address, {"add": name}).content.decode()

    assert "<img" not in page
    assert "&lt;img" in page


def test_a_name_that_turns_its_line_is_written_out(client: Client, address: str) -> None:
    name = "x\u202e1-gnillib"
    told(*seen(name), held(name, 40, []))

    pages = [
        client.get(address, {"remove": name}).content.decode(),
        client.get(address, {"remove": f"{name}-nobody"}).content.decode().replace(f">{name}-nobody</textarea>", ""),
    ]

    assert all("⟨U+202E⟩" in page for page in pages)
    assert [page.replace(f">{name}</textarea>", "").count("\u202e") for page in pages] == [0, 0]


def test_a_large_group_is_drawn_and_a_very_large_one_left_to_tables(client: Client, address: str) -> None:
    large = client.get(address, {"queues": "orders/east/5000"}).content.decode()
    very_large = client.get(address, {"queues": "orders/east/41000"}).content.decode()

    assert facts_in(large)["picture"]["queues"] == [{"topic": "orders", "broker": "east", "ids": [0, 5_000]}]
    assert facts_in(very_large) == {"picture": None}
    assert all("are shown; the others are in the CSV" in page for page in (large, very_large))


def test_the_page_asks_the_database_as_often_for_much_as_for_little(
    client: Client, address: str, django_assert_max_num_queries: object
) -> None:
    client.get(address)  # what was read once is kept
    with django_assert_max_num_queries(34):  # type: ignore[operator] # pytest-django's; five count it
        client.get(address)
    with django_assert_max_num_queries(34):  # type: ignore[operator]
        client.get(address, {"add": "100", "queues": "orders/east/400"})


def test_a_dry_run_is_there_for_a_terminal_and_says_what_earlier_moves_did(client: Client, address: str) -> None:
    page = unescape(client.get(address, {"remove": "it's", "add": "it's>D"}).content.decode())
    fine = unescape(client.get(address, {"add": "it's>D"}).content.decode())

    where = f"http://testserver/api/v1{address.rstrip('/')}"
    curl = 'curl -H "Authorization: Bearer $EVENKEEL_API_TOKEN"'
    assert f"{curl} '{where}?add=it%27s%3ED&remove=it%27s'" in page
    assert f"{curl} '{where}?add=it%27s%3ED'" in fine
    assert "Too few rounds of this group are known" in fine
    assert "Too few handoffs of this group are known" in fine


def test_dry_runs_of_one_person_are_bounded_those_by_the_api_with_them(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "TRIALS_A_MINUTE", 2)
    monkeypatch.setattr(views, "now_ms", lambda: T0)
    monkeypatch.setattr(site, "now_ms", lambda: T0)

    answers = [client.get(each, {"add": "C"}) for each in (address, f"/api/v1{address.rstrip('/')}", address)]
    as_json = client.get(address, {"add": "C", "format": "json"})

    assert [(each.status_code, each.get("Retry-After")) for each in answers] == [(200, None), (200, None), (429, "60")]
    page = answers[-1].content.decode()
    words = "Those were 2 dry runs within a minute, the most of one person. Wait 60 s."
    assert words in page and f'href="{address}?add=C"' in page
    assert (as_json.status_code, as_json["Retry-After"], as_json.json()) == (429, "60", {"problems": [words]})
    client.force_login(person(Role.VIEWER, name="bob"))
    assert client.get(address).status_code == 200


def test_of_a_group_that_broadcasts_nothing_moves_and_no_strategy_is_compared(client: Client, address: str) -> None:
    Group.objects.update(model="BROADCASTING")

    page = client.get(f"{address}?add=C").content.decode()

    assert "every member has every queue, by any strategy, also one that joins" in page
    assert "Nothing moves." in page
    assert "AVG_BY_CIRCLE" not in page


def test_a_question_that_changes_nothing_is_not_said_to_be_none(client: Client, address: str) -> None:
    changes_nothing = client.get(f"{address}?params=%7B%7D").content.decode()
    makes_no_sense = client.get(f"{address}?add=0").content.decode()

    assert "what is asked changes nothing" in changes_nothing
    assert "needed are 1 or more members" in makes_no_sense
    assert "nothing is asked yet" not in changes_nothing + makes_no_sense
