"""Every page in Chinese, from the routing tables: what is still English is found, whoever wrote it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.conf import settings as current
from django.test import Client

from dashboard.api.tokens import make
from dashboard.clusters import orders
from dashboard.clusters.models import Cluster, Command
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.gate import is_of_djangos_admin, is_open
from dashboard.people.roles import Role
from dashboard.plans.checks import check, to_acknowledge
from dashboard.plans.operations import Draft, publish
from dashboard.plans.queries import former_members, read_group
from rebalance_engine.events import CommandOutcome, Departure, ReceiptAnswer
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, joined, left, missed, queue, route, seen, told, uses
from tests.dashboard.test_access import ALL

CHINESE = "zh-CN,zh;q=0.9,en;q=0.5"
READ = frozenset({"title", "aria-label", "placeholder", "alt"})
SILENT = frozenset({"script", "style", "kbd", "code", "pre"})
# The same in both languages: names of RocketMQ, of formats, units and roles, and what is typed as it stands.
NAMES = frozenset(
    re.findall(
        r"\S+",
        """
    API AVG AVG_BY_CIRCLE AllocateMessageQueueByConfig Apache BROKER Broker CONFIG CONSISTENT_HASH COUNT CPP_AVG CSV
    Enter Esc English Evenkeel EVENKEEL_CANARY EVENKEEL_LOGS EVENKEEL_REPORT_TOKEN GET GO_AVG GO_AVG_BY_CIRCLE
    GO_CONFIG GO_CONSISTENT_HASH GO_MACHINE_ROOM GO_MACHINE_ROOM_NEARBY ID JAVA JSON Java MACHINE_ROOM
    MACHINE_ROOM_NEARBY NAME NEW NameServer OLD OpenAPI POP Python
    RETRY RocketMQ STICKY STICKY_ACROSS_TOPICS TOPIC URL UTC WEIGHTED admin as at broker_room consumer_idcs csv evenkeel
    format id java json latest manage min ms operator orders produce py report report_url staff viewer virtual_nodes
    whatif
    """,
    )
)
# What this story and the demo call their people and things.
STORY = frozenset(
    re.findall(
        r"\S+",
        """
    ada broker catalogue check display east eka_ fraud index invoices ledger monthly never payment price
    recommendations report search shop topic warehouse billing NO
    """,
    )
)
WORD = re.compile(r"[A-Za-z][A-Za-z_]+")
CALL = re.compile(r"\b(GET|POST|DELETE) /[\w/{}-]+")  # of the API: its address is no word


class Texts(HTMLParser):
    """All that a person reads of a page, without what is to be typed as it stands."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        is_silent = tag in SILENT or values.get("translate") == "no" or "id" in (values.get("class") or "").split()
        if not is_silent and not self._open:
            self.texts += [value or "" for name, value in attrs if name in READ]
        if (is_silent or self._open) and tag not in {"input", "img", "br", "meta", "link", "path", "rect", "circle"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._open:
            self.texts.append(data)


def english_in(page: str) -> list[str]:
    """Give the texts of a page that have a word which is no name."""
    parser = Texts()
    parser.feed(re.sub(r"<wbr>|/tmp/\S+", "", page))
    parser.close()
    assert parser._open == []
    return [
        " ".join(text.split())
        for text in parser.texts
        if any(word not in NAMES and word not in STORY for word in WORD.findall(CALL.sub("", text)))
    ]


@pytest.fixture
def group(cluster: Cluster) -> Group:
    """A group with nearly everything that there is to say: rounds, findings, members that are silent or have left."""
    Cluster.objects.update(is_demo=True, is_read_only=False, watched_at=now_ms())
    told(route(6), *seen("A"), *seen("B"), *seen("C"), held("A", 10, [0, 1]), held("B", 10, [1, 2]), held("C", 10, []))
    group = Group.objects.get(cluster=cluster)
    rebalance_once(group=group.pk, now=T0 + 20)
    told(joined("D", 5_000), left("C", 6_000, Departure.CONNECTION_CLOSED), uses("B", 6_100, "AVG_BY_CIRCLE"), at=6_200)
    rebalance_once(group=group.pk, now=T0 + 6_300)
    told(held("A", 30_000, [0]), held("B", 30_000, [0, 2]), missed("D", 30_000), at=30_000)
    rebalance_once(group=group.pk, now=T0 + 30_100)
    return group


@pytest.fixture
def reader(client: Client, group: Group) -> Client:
    """An admin who reads Chinese, has a token, and ordered something; there is a by-config assignment too."""
    ada = person(Role.ADMIN, name="ada")
    client.force_login(ada)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = CHINESE
    make(user=ada, is_read_only=True, days=3, note="", now=now_ms())
    told_by_hand = {"A": (queue(0), queue(1)), "B": ()}
    checks = check(told_by_hand, read_group(group=group)[0], former_members(group=group))
    read = [each.key for each in to_acknowledge(checks)]
    draft = Draft(assignment=told_by_hand, base=0, reason="上线", acknowledged=read)
    publish(group=group, draft=draft, author="ada", now=now_ms())
    client.post(f"/groups/{group.pk}/order", {"verb": "group.recompute", "reason": "通知丢失"})
    [order] = Command.objects.all()
    Command.objects.update(taken_at=now_ms(), taken_epoch=1)
    done = orders.Done(CommandOutcome.DONE, "1 broker notified 3 members", {"A": ReceiptAnswer.CHANGED})
    assert orders.finish(order=order.pk, epoch=1, done=done, now=now_ms())
    return client


def pages(reader: Client, group: Group) -> dict[str, str]:
    """Open every page of ours, and those that a person gets when something is wrong."""
    found = dict[str, str]()
    ours = [address for address, each in ALL if not is_open(each.callback) and not is_of_djangos_admin(each.callback)]
    wrong = "add=A&remove=Z&rename=q&queues=x/y/z&broker=-q&strategy=NO&params=no"
    about = f"/groups/{group.pk}"
    more = [f"{about}/plan/?{wrong}", f"{about}/plan/?add=Z&strategy=STICKY", f"{about}/plan/?strategy=MACHINE_ROOM"]
    more += ["/groups/77/", "/?q=nothing-like-it", "/audit/?since=never&person=nobody"]
    for address in (*ours, *more):
        address = address.replace("/groups/1/", f"{about}/").replace("/demo/1/", f"/demo/{group.cluster_id}/")  # noqa: PLW2901
        answer = reader.get(address)
        if answer["Content-Type"].startswith("text/html"):
            found[address] = answer.content.decode()
    return found


@pytest.mark.usefixtures("catalogues")
def test_no_page_in_chinese_has_english_words(reader: Client, group: Group) -> None:
    found = pages(reader, group)

    english = {address: english_in(page) for address, page in found.items()}

    assert len(found) >= 20
    assert {address: texts for address, texts in english.items() if texts} == {}
    languages = {found for page in found.values() for found in re.findall("<html lang=[^>]*>", page)}
    assert languages == {'<html lang="zh-hans">'}


@pytest.mark.usefixtures("catalogues")
def test_the_log_in_and_what_is_wrong_about_it_are_chinese(client: Client, cluster: Cluster) -> None:  # noqa: ARG001 - there is one
    answer = client.post("/login/", {"username": "ada", "password": "no"}, HTTP_ACCEPT_LANGUAGE=CHINESE)

    page = answer.content.decode()
    assert english_in(page) == []
    assert "登录" in page


def test_english_words_are_found() -> None:
    page = '<p title="late">准时</p><p>Broker <b>late</b></p><code>late</code><bdi class="id">late</bdi><p>AVG</p>'

    assert english_in(page) == ["late", "late"]


@pytest.mark.usefixtures("catalogues")
def test_findings_causes_and_receipts_are_said_in_the_readers_language(reader: Client, group: Group) -> None:
    page = reader.get(f"/groups/{group.pk}/").content.decode()

    assert "2 个成员持有 orders/east/0" in page
    assert "C 离开" in reader.get(f"/groups/{group.pk}/rounds/1/").content.decode() + page
    assert "1 个 Broker 通知了 3 个成员" in page
    english = reader.get(f"/groups/{group.pk}/", HTTP_ACCEPT_LANGUAGE="en").content.decode()
    assert "2 members hold orders/east/0" in english


@pytest.mark.usefixtures("catalogues")
@pytest.mark.parametrize(
    ("accepted", "language"),
    [("zh-CN", "zh-hans"), ("zh-Hans", "zh-hans"), ("zh", "zh-hans"), ("en-GB", "en"), ("de", "en")],
)
@pytest.mark.django_db
def test_the_browsers_languages_decide(client: Client, accepted: str, language: str) -> None:
    page = client.get("/login/", HTTP_ACCEPT_LANGUAGE=accepted).content.decode()

    assert f'<html lang="{language}">' in page


@pytest.mark.usefixtures("catalogues")
@pytest.mark.django_db
def test_whoever_chooses_a_language_keeps_it_and_stays_on_the_page() -> None:
    client = Client(enforce_csrf_checks=True)
    page = client.get("/login/?next=/audit/").content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token is not None
    assert '<input type="hidden" name="next" value="/login/?next=/audit/">' in page
    choice = {"language": "zh-hans", "next": "/login/?next=/audit/"}

    refused = client.post("/language/", choice)
    answer = client.post("/language/", {**choice, "csrfmiddlewaretoken": token[1]})

    assert refused.status_code == 403
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=/audit/")
    cookie = client.cookies[current.LANGUAGE_COOKIE_NAME]
    assert (cookie.value, cookie["httponly"], cookie["samesite"]) == ("zh-hans", True, "Lax")
    assert '<html lang="zh-hans">' in client.get("/login/", HTTP_ACCEPT_LANGUAGE="en").content.decode()


@pytest.mark.django_db
def test_nobody_is_led_to_another_site_by_it(client: Client) -> None:
    answer = client.post("/language/", {"language": "zh-hans", "next": "https://elsewhere.example/"})

    assert answer["Location"] == "/"


@pytest.mark.usefixtures("catalogues")
@pytest.mark.django_db
def test_scripts_get_the_same_words_from_a_script_of_the_servers(client: Client) -> None:
    chinese = client.get("/words.js?language=zh-hans", HTTP_ACCEPT_LANGUAGE="zh-CN")
    english = client.get("/words.js?language=en", HTTP_ACCEPT_LANGUAGE="en")

    assert "javascript" in chinese["Content-Type"]
    assert '"member joined": "\\u6210\\u5458\\u52a0\\u5165"' in chinese.content.decode()
    assert "member joined" not in english.content.decode()


def test_both_languages_are_offered_each_in_its_own_words() -> None:
    assert dict(current.LANGUAGES) == {"en": "English", "zh-hans": "简体中文"}
