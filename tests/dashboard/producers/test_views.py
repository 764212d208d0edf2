from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.audit.models import AuditEntry
from dashboard.clusters.leases import put_aside
from dashboard.clusters.models import Canary, Cluster, Producer
from dashboard.common.clock import now_ms
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from dashboard.producers import queries
from rebalance_engine.events import SendOutcome
from tests.dashboard.persons import person
from tests.dashboard.producers.conftest import Teller, both, stock
from tests.dashboard.producers.test_canaries import sang
from tests.dashboard.story import told


@pytest.fixture
def viewer(client: Client, cluster: Cluster) -> Client:
    assert cluster.pk
    client.force_login(person(Role.VIEWER))
    return client


def test_without_reports_everything_is_unknown_and_says_what_to_do(viewer: Client, cluster: Cluster) -> None:
    Cluster.objects.update(watched_at=now_ms())
    assert "No producer is known to any broker" in viewer.get("/producers/").content.decode()

    stock(cluster, "S")

    page = viewer.get("/producers/").content.decode()
    assert "Stock producers tell nobody" in page and "--report URL" in page
    assert "reports nothing" in page and 'data-mark="unknown"' in page
    assert "What it would pick" not in page


def test_producers_of_a_cluster_that_does_not_answer_are_unknown_not_none(viewer: Client) -> None:
    never = viewer.get("/producers/").content.decode()
    Cluster.objects.update(watched_at=now_ms() - 61_000)
    silent = viewer.get("/producers/").content.decode()

    assert "Nothing of shop has answered yet: which producers it has is unknown" in never
    assert "evenkeel doctor --namesrv 127.0.0.1:9876" in never
    assert "shop answered last 1\u00a0min\u00a001\u00a0s ago: which producers it has is unknown" in silent
    assert "No producer is known" not in never + silent


def test_a_cluster_that_is_not_there_is_said_not_to_be_and_one_put_aside_is_shown(
    viewer: Client, cluster: Cluster
) -> None:
    put_aside(clusters=Cluster.objects.all())

    aside = viewer.get("/producers/", {"cluster": cluster.name})
    absent = viewer.get("/producers/", {"cluster": "nowhere"})

    assert (aside.status_code, absent.status_code) == (200, 404)
    assert aside.context["chosen"] == cluster.name
    page = aside.content.decode()
    assert "The cluster shop is put aside" in page and "Nobody is known to watch" not in page
    assert 'data-mode="stale"' in page and f'data-aside="[&quot;producers-{cluster.pk}&quot;]"' in page
    assert "evenkeel doctor" not in page
    assert "There is no cluster nowhere" in absent.content.decode()


def test_where_all_clusters_are_put_aside_nothing_is_said_of_producers(viewer: Client) -> None:
    Cluster.objects.update(watched_at=now_ms())
    put_aside(clusters=Cluster.objects.all())

    page = viewer.get("/producers/").content.decode()

    assert "Nothing is watched now: all clusters that you may see are put aside." in page
    assert "The cluster shop is put aside" in page and '<a href="?cluster=shop">What was known of it</a>' in page
    assert "No producer" not in page
    assert re.search(r'id="as-of"[^>]* hidden', page)


def test_a_producer_that_reports_is_shown_with_steps_history_and_picks(viewer: Client) -> None:
    p = Teller(now_ms() - 2_000, "P<b>")
    told(both(), p.sent(0, 6), p.sent(10, 7, "west"), p.backs_off(100, 10_000))

    page = viewer.get("/producers/", {"cluster": "shop", "client": "P<b>"}).content.decode()

    assert "P&lt;b&gt; leaves east alone" in page and "<b>\n" not in page.replace("<b>", "x")
    assert "stage 6 of 7" in page
    assert '<span class="broker-here mono">west</span>' in page, "on a phone no head of a column says it"
    assert "which is assumed" in page
    assert "4 of the next 4" in page
    assert "it is left alone" in page


def test_a_producer_that_avoids_no_broker_is_said_to_in_place_of_stages(viewer: Client) -> None:
    Cluster.objects.update(watched_at=now_ms())
    p = Teller(now_ms() - 40_000)
    failed = [p.sent(at, 20, outcome=SendOutcome.REMOTING_ERROR) for at in (0, 10)]
    told(both(), *failed, p.sent(30_000, 6))

    page = viewer.get("/producers/").content.decode()

    assert "as it does not avoid slow brokers, if it picks by no key" in page and "if it avoids faults" not in page
    assert "next in turn</dd>" in page
    assert "does not avoid slow brokers" in page and "sendLatencyFaultEnable" in page
    assert 'class="stages"' not in page


def test_who_may_see_some_groups_sees_no_producer(viewer: Client) -> None:
    told(Teller(now_ms() - 2_000).sent(0, 6))
    Grant.objects.update(groups="orders-*")

    assert viewer.get("/api/v1/producers").status_code == 403
    assert "You may not see the producers of shop" in viewer.get("/producers/").content.decode()


def test_a_past_instant_is_said_to_be_one_and_leads_on_and_back(viewer: Client) -> None:
    start = now_ms() - 60_000
    p = Teller(start)
    told(both(), p.sent(0, 6), p.backs_off(100, 10_000), p.sent(20_000, 7, "west"))

    then = viewer.get("/producers/", {"client": "P", "at": str(start + 5_000)}).content.decode()
    before = viewer.get("/producers/", {"at": start + 50}).content.decode()
    live = viewer.get("/producers/").content.decode()

    assert 'data-mode="past"' in then and "data-past" in then and "data-until=" not in then
    assert "P leaves east alone" in then and "5.1\u00a0s" in then
    assert f'href="?at={start + 100}&amp;client=P"' in then and f'href="?at={start + 10_100}&amp;client=P"' in then
    assert "Whether it reached each broker then is not kept" in then
    assert 'class="playhead"' in then
    assert "left a broker alone" in before and "P leaves" not in before
    assert "data-past" not in live and f'href="?at={start + 10_100}"' in live


@pytest.mark.parametrize(("at", "words"), [("soon", "is no instant"), ("2999-01-01", "is still to come")])
def test_an_instant_of_producers_that_cannot_be_shown_is_refused_in_words(viewer: Client, at: str, words: str) -> None:
    answer = viewer.get("/producers/", {"at": at})

    assert answer.status_code == 400
    assert words in answer.content.decode()
    problem = viewer.get("/api/v1/producers", {"at": at})
    assert (problem.status_code, words in problem.json()["problem"]) == (400, True)


def test_of_an_instant_of_which_nothing_is_kept_that_is_said(viewer: Client, cluster: Cluster) -> None:
    told(Teller(now_ms() - 2_000).sent(0, 6))
    stock(cluster, "S")

    page = viewer.get("/producers/", {"at": "5"}).content.decode()
    later = viewer.get("/producers/", {"at": now_ms() - 10_000}).content.decode()

    assert "No producer of then is known" in page
    assert "Nothing that a producer reported up to then is kept" in later and "S" in later


LABEL = "estimated by a canary of Evenkeel's own, not by your producers"
ON = {"is_on": "yes", "reason": "producers say that it is slow"}


def test_what_a_canary_estimates_is_labelled_so_beside_what_is_unknown(viewer: Client, cluster: Cluster) -> None:
    stock(cluster, "S")
    Canary.objects.create(cluster=cluster, is_on=True, reason="x", changed_by="ada", changed_at=1)
    now = now_ms()
    told(sang(now - 2_000, 7), sang(now - 1_000, 900, "west"))

    page = viewer.get("/producers/").content.decode()
    then = viewer.get("/producers/", {"at": now - 1_500}).content.decode()

    assert page.count(LABEL) == 4  # of the section, of each broker, of the producer
    assert "~&nbsp;7\u00a0ms" in page and "by Evenkeel's canary" in page
    assert "goes on sending to it" in page and "leaves it alone for" in page
    assert "reports nothing" in page and "evenkeel-canary" not in page
    assert "~&nbsp;7\u00a0ms" in then and "~&nbsp;900\u00a0ms" not in then and "Switch the canary" not in then


def test_a_canary_is_switched_by_an_admin_with_a_reason(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))
    off = client.get("/producers/").content.decode()

    without = client.post(f"/producers/canary/{cluster.pk}", {"is_on": "yes"}, follow=True).content.decode()
    answer = client.post(f"/producers/canary/{cluster.pk}", ON)

    assert "Off: nothing is sent" in off and "is only looked at" in off
    assert "It needs a reason" in without
    assert (answer.status_code, answer["Location"]) == (302, "/producers/#canary")
    row = Canary.objects.get()
    assert (row.is_on, row.may_create, AuditEntry.objects.count()) == (True, False, 1)
    page = client.get("/producers/").content.decode()
    assert "Switched on by ada" in page and "has not told of it yet" in page
    Canary.objects.update(told_at=row.changed_at, troubles={"east": ["no topic", ""]})
    page = client.get("/producers/").content.decode()
    assert "its topic EVENKEEL_CANARY does not exist there, and may not be made" in page


def test_who_is_no_admin_sees_a_canary_and_no_switch(viewer: Client, cluster: Cluster) -> None:
    page = viewer.get("/producers/").content.decode()

    assert "needs the role admin for all groups of this cluster; you have viewer" in page
    assert "producers/canary" not in page
    assert viewer.post(f"/producers/canary/{cluster.pk}", ON).status_code == 403
    assert viewer.get(f"/producers/canary/{cluster.pk}").status_code in {403, 405}
    assert not Canary.objects.exists()


def test_an_admin_of_some_groups_is_refused_with_a_word(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.ADMIN, name="ada", groups="orders-*"))

    answer = client.post(f"/producers/canary/{cluster.pk}", ON)

    assert answer.status_code == 403
    assert "needs the role admin for all groups of this cluster" in answer.content.decode()
    assert not Canary.objects.exists()


def test_an_admin_of_other_clusters_finds_none_to_switch(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.ADMIN, name="ada", clusters="elsewhere"))

    assert client.post(f"/producers/canary/{cluster.pk}", ON).status_code == 404


def test_a_past_minute_that_is_not_kept_is_unknown_and_says_since_when_sends_are(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MOST_SENDS", 2)
    start = now_ms() - 200_000
    p = Teller(start)
    told(both(), p.backs_off(100, 10_000), p.sent(150_000, 600), p.sent(151_000, 6))

    page = viewer.get("/producers/", {"client": "P", "at": str(start + 5_000)}).content.decode()

    assert "its sends of then are not kept" in page
    assert "Sends to east are kept since" in page and "sends are kept since" in page
    assert '<td class="num">0</td>' not in "".join(page.split("\n"))


def test_where_reports_count_all_sends_the_page_has_figures_not_bounds(viewer: Client) -> None:
    Cluster.objects.update(watched_at=now_ms())
    start = now_ms() - 30_000
    p = Teller(start)
    told(both(), p.counted(1_000, 20_000, {6: 30}), p.counted(1_000, 20_000, {7: 10}, "west"))

    page = " ".join(viewer.get("/producers/").content.decode().split("<footer")[0].split())

    exact = re.findall(r'data-mark="exact" title="all its sends are counted"[^>]*>([^<]*)<', page)
    assert "6 ms" in exact and "75 % of its 40 sends" in exact
    assert any(re.fullmatch(r"30 sends in \d+\.\d s", each) for each in exact)
    assert "sends/s" in page and "≥" not in page and "≤" not in page


def test_a_rate_of_the_history_says_of_which_time_it_is_as_that_of_the_table_does(viewer: Client) -> None:
    Cluster.objects.update(watched_at=now_ms())
    p = Teller(now_ms() - 130_000)
    told(both(), p.counted(1_000, 100_000, {6: 30}), p.counted(1_000, 100_000, {7: 10}, "west"))

    history = viewer.get("/producers/", {"client": "P"}).content.decode().split('class="producer-history"')[1:]

    words = [" ".join(re.sub("<[^>]+>", " ", each.split("</p>")[0]).split()) for each in history]
    assert len(words) == 2
    assert all(re.search(r"sends/s in \d+( min \d\d|\.\d) s", each.replace("\u00a0", " ")) for each in words), words


def test_the_page_leads_to_every_producer_and_names_brokers_without_a_column(client: Client, cluster: Cluster) -> None:
    for number in range(130):
        stock(cluster, f"S{number:03}", broker=f"b-{number % 30:02}")
    client.force_login(person(Role.VIEWER))

    first = " ".join(client.get("/producers/").content.decode().split())
    second = " ".join(client.get("/producers/?q=S&page=2").content.decode().split())

    assert "18 more brokers have no column here:" in first
    assert 'rel="next" href="?page=2"' in first
    assert ("S099" in first, "S129" in first) == (True, False)
    assert ("S099" in second, "S129" in second) == (False, True)
    assert 'href="?q=S&amp;page=1"' in second
    assert "Page 1 of 2, 130 producers" in first
    assert "No producer fits." in client.get("/producers/?q=nobody").content.decode()


def test_the_steps_are_named_by_the_language_of_the_producer(viewer: Client, cluster: Cluster) -> None:
    for language in ("PYTHON", "GO", "CPP", "JAVA"):
        told(Teller(now_ms() - 2_000, language).sent(0, 6))
        stock(cluster, language, version="V5_1_4")
        Producer.objects.filter(client_id=language).update(language=language)

    def says(words: str) -> list[str]:
        pages = {name: viewer.get("/producers/", {"client": name}) for name in ("PYTHON", "GO", "CPP", "JAVA")}
        return [name for name, page in pages.items() if words in page.content.decode()]

    assert says("the Python client has those of Java 5.1.4, unless") == ["PYTHON"]
    assert says("as in Java 5.1.4, unless") == ["JAVA"]
    assert says("A failure counts as") == ["PYTHON", "JAVA"]
    assert says("Go producers leave no broker alone") == ["GO"]
    assert says("In active mode, which is off by default") == ["CPP"]


def test_the_row_of_the_producer_that_is_told_of_is_marked(viewer: Client) -> None:
    told(Teller(now_ms() - 2_000, "A").sent(0, 6), Teller(now_ms() - 2_000, "B").sent(0, 6))

    page = viewer.get("/producers/", {"client": "B"}).content.decode()

    [row] = re.findall(r"<tr data-chosen>.*?</tr>", page, re.DOTALL)
    assert ">B</bdi>" in row and 'data-client="B"' in page


def test_who_may_see_some_groups_alone_is_not_told_that_there_are_no_producers(
    client: Client, cluster: Cluster
) -> None:
    stock(cluster, "S")
    Cluster.objects.update(watched_at=now_ms())
    client.force_login(person(Role.VIEWER, name="vic", groups="sea*"))

    page = client.get("/producers/").content.decode()

    assert "You may not see the producers of shop" in page
    assert "No producer" not in page
