from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.clusters.leases import put_aside
from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.models import Finding, Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from tests.dashboard.groups.test_found import wrong
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, route, seen, told


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="g", added_at=T0)


@pytest.fixture
def viewer(client: Client, group: Group) -> Client:
    assert group.pk
    client.force_login(person(Role.VIEWER))
    return client


def text(client: Client, address: str) -> str:
    return " ".join(client.get(address).content.decode().split())


def test_the_overview_says_how_many_more_there_are_and_leads_to_all(viewer: Client, group: Group) -> None:
    for kind in (
        *("double owner", "orphan queue", "idle consumer", "strategy mismatch"),
        *("lock refused", "storm", "flapping", "stuck listener"),
    ):
        wrong(group, kind)

    part = text(viewer, "/?part=findings")
    page = text(viewer, "/findings/")

    assert "And 2 more findings." in part
    assert 'href="/findings/">All findings</a>' in part
    assert page.count("x is wrong") == 8
    assert page.index("double owner</td>") < page.index("storm</td>")


def test_the_page_of_findings_keeps_what_is_asked_for_in_its_ways(viewer: Client, group: Group) -> None:
    for number in range(101):
        wrong(group, "orphan queue", f"orders/east/{number}")

    page = text(viewer, "/findings/?q=orders&kind=orphan+queue&cluster=shop&state=suspected")

    for way in (
        'href="?q=orders&amp;kind=orphan+queue&amp;cluster=shop&amp;state=suspected&amp;page=2"',
        'href="/api/v1/findings?format=csv&amp;q=orders&amp;kind=orphan+queue&amp;cluster=shop&amp;state=suspected"',
    ):
        assert way in page.replace("&amp;amp;", "&amp;"), way
    rows = viewer.get("/api/v1/findings?q=orders&kind=orphan+queue&cluster=shop&state=suspected").json()
    assert rows["count"] == 101
    assert viewer.get("/api/v1/findings?state=confirmed").json()["count"] == 0
    assert "No finding fits." in text(viewer, "/findings/?kind=storm")


def test_a_long_proof_says_how_many_more_lines_it_has(viewer: Client, group: Group) -> None:
    wrong(group, "orphan queue")
    Finding.objects.update(proof=[f"C-{number} does not hold it" for number in range(50)])

    for address in ("/?part=findings", "/findings/"):
        part = text(viewer, address)
        assert "<summary>and 46 more</summary>" in part
        assert "C-49 does not hold it" in part


def test_findings_of_groups_that_are_not_theirs_are_on_nobodys_page(viewer: Client, group: Group) -> None:
    Cluster.objects.update(watched_at=now_ms())
    wrong(group, "orphan queue")
    Grant.objects.update(groups="another")

    page = text(viewer, "/findings/")

    assert "Nothing is found wrong in what is known." in page
    assert "x is wrong" not in page


def test_findings_have_a_place_in_the_head_and_files_on_the_page_of_their_group(viewer: Client, group: Group) -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2]))
    rebalance_once(group=group.pk, now=T0 + 20)
    rebalance_once(group=group.pk, now=T0 + 40_000)

    page = text(viewer, f"/groups/{group.pk}/")

    assert 'href="/findings/"' in page.partition("</nav>")[0]
    assert f'href="/api/v1/groups/{group.pk}/findings?format=csv"' in page
    assert f'href="/api/v1/groups/{group.pk}/findings?format=all"' in page
    then = text(viewer, f"/groups/{group.pk}/?at={T0 + 41_000}")
    assert f'href="/api/v1/groups/{group.pk}/findings?format=csv&amp;at={T0 + 41_000}"' in then


def test_a_finding_stands_with_its_proof_and_when_it_ends_in_one_row(viewer: Client, group: Group) -> None:
    wrong(group, "lock refused")
    Finding.objects.update(proof=["B holds the lock"], ends_at=T0 + 60_000)

    row = text(viewer, "/findings/").partition("<tbody>")[2]

    assert row.index("x is wrong") < row.index("B holds the lock") < row.index("ends by") < row.index("</tr>")


def test_the_overview_calls_rebalancing_what_its_filter_counts_and_no_part_of_it(viewer: Client) -> None:
    now, shop = now_ms(), Cluster.objects.get(name="shop")
    before = Group.objects.filter(round_opened_at__isnull=False, round_closed_at=None).count()
    for name in ("faultless", "young"):
        fields = {"round_number": 1, "round_cause": "member joined", "round_opened_at": now - 1_000}
        Group.objects.create(cluster=shop, name=name, added_at=T0, **fields)
    columns = {"subject": "x", "subject_key": "x", "sentence": "s", "proof": ["p"], "origin": "derived"}
    young = Group.objects.get(name="young")
    Finding.objects.create(cluster=shop, group=young, kind="orphan queue", suspected_at=now, **columns)

    page = " ".join(text(viewer, "/").split())

    assert re.search(rf"Rebalancing.{{0,60}}\b{before + 2}\b", page)
    assert "Rebalancing:" not in page
    assert re.search(r"No fault so far, as their rounds are young: <a[^>]*>young</a>", page)


def test_what_is_searched_for_changes_no_sum_of_the_overview(viewer: Client) -> None:
    whole, searched = (viewer.get(f"/?part=counts{more}").content.decode() for more in ("", "&q=none-is-called-so"))

    sums = [re.findall(r'<p[^>]*data-part="sums".*?</p>', each, re.DOTALL) for each in (whole, searched)]
    assert len(sums[0]) == 1
    assert sums[0] == sums[1]


def test_since_when_a_finding_is_stands_in_the_order_of_the_language(viewer: Client, group: Group) -> None:
    wrong(group, "double owner")

    answers = [viewer.get(each, headers={"accept-language": "zh-CN"}) for each in ("/?part=findings", "/findings/")]

    plain = [" ".join(re.sub(r"<[^>]+>", " ", each.content.decode()).split()) for each in answers]
    assert re.search(r"疑似\uff0c自 [\d:.]+ 起\uff0c 已持续 \d+", plain[0])
    assert re.search(r"\d{4}-\d\d-\d\d [\d:.]+ 起\uff0c 已持续 \d+", plain[1])


def test_findings_of_a_cluster_that_is_put_aside_lasted_until_its_last_answer(viewer: Client, group: Group) -> None:
    wrong(group, "double owner")
    since = Finding.objects.get().suspected_at
    Cluster.objects.update(watched_at=since + 61_000)
    put_aside(clusters=Cluster.objects.all())

    page = text(viewer, "/findings/?cluster=shop")

    assert "The cluster shop is put aside" in page and "Nobody is known to watch" not in page
    assert f'data-lasts="{since}">for 1 min 01 s</span>' in page


def test_where_nothing_is_known_no_number_of_findings_is_told(viewer: Client) -> None:
    never = [text(viewer, address) for address in ("/findings/", "/findings/?cluster=shop")]
    put_aside(clusters=Cluster.objects.all())
    aside = text(viewer, "/findings/")

    for page in (*never, aside):
        assert "<b>0</b> findings" not in page and "Nothing is found wrong" not in page
    for page in never:
        assert "Nothing of shop has answered yet: what is wrong there is unknown." in page
    assert "Nothing is watched now: all clusters that you may see are put aside." in aside
    assert '<a href="?cluster=shop">What was known of it</a>' in aside
