"""What is said of a queue that nobody had, once it cannot be judged any more."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from dashboard.clusters.models import Cluster
from dashboard.common.sayings import in_words
from dashboard.groups.faults import keep_faults
from dashboard.groups.models import Finding, Group
from dashboard.groups.queries import look_at
from rebalance_engine.events import Fact
from tests.dashboard.groups.test_story import turn
from tests.dashboard.languages import catalogues, compiled  # noqa: F401 - fixtures
from tests.dashboard.story import T0, held, listed, missed, route, seen, told, untold

WAS = "No member consumed orders/east/1 at 22:13:{}; whether one does now is unknown: {}."


@pytest.fixture
def group(cluster: Cluster) -> Group:
    """A group whose second queue nobody has, as A told, 5 s later B, and C."""
    told(
        route(2), *seen("A"), *seen("B"), *seen("C"), listed(0, "A", "B", "C"), listed(0, "A", "B", "C", broker="west")
    )
    told(held("A", 1_000, [0]), held("B", 6_000, []), held("C", 6_000, []))
    turn(6_100)
    assert finding().sentence == "No member consumes orders/east/1: all 3 members answered, and none holds it."
    return Group.objects.get(cluster=cluster)


def finding() -> Finding:
    return Finding.objects.get(kind="orphan queue", cleared_at=None)


def later(*facts: Fact, at: int = 30_000) -> Finding:
    told(*facts)
    turn(at + 100)
    return finding()


@pytest.mark.usefixtures("group")
def test_it_does_not_go_on_to_say_that_all_answered() -> None:
    row = later(missed("A", 30_000), held("B", 30_000, []), held("C", 30_000, []))

    assert row.sentence == WAS.format("26 UTC", "A does not tell what it holds")
    assert row.proof == [
        "A does not tell what it holds; it told last at 22:13:21 UTC",
        "B answered, and does not hold it",
        "C answered, and does not hold it",
    ]


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ([missed("A", 30_000), missed("B", 30_000)], "2 of 3 members do not tell what they hold"),
        ([untold(30_000, broker="west", low=7_000)], "west did not tell who is a member"),
    ],
)
def test_it_says_why_it_is_unknown(facts: list[Fact], why: str) -> None:
    row = later(held("A", 9_000, [0]), held("B", 9_000, []), held("C", 9_000, []), *facts)

    assert row.sentence == WAS.format("27 UTC" if "west" in why else "29 UTC", why)


def test_name_servers_that_disagree_are_told(group: Group) -> None:
    now = look_at(group=group)
    view = replace(now.view, disputed=frozenset({1}))

    keep_faults(group=group, look=replace(now, view=view), found=(), now=T0 + 30_000)

    assert finding().sentence == WAS.format("26 UTC", "NameServers disagree whether it is there")


@pytest.mark.usefixtures("group")
def test_its_time_is_of_when_all_were_known_though_who_is_silent_changes() -> None:
    later(missed("A", 30_000), held("B", 30_000, []), held("C", 30_000, []))
    told(held("B", 40_000, []))
    row = later(held("A", 50_000, [0]), missed("B", 50_000), held("C", 50_000, []), at=50_000)

    assert row.sentence == WAS.format("26 UTC", "B does not tell what it holds")


@pytest.mark.usefixtures("group")
def test_it_says_again_that_all_answer_once_they_do() -> None:
    later(missed("A", 30_000))
    row = later(held("A", 60_000, [0]), held("B", 60_000, []), held("C", 60_000, []), at=60_000)

    assert row.sentence == "No member consumes orders/east/1: all 3 members answered, and none holds it."
    assert row.confirmed_at == T0 + 60_000


@pytest.mark.usefixtures("group")
def test_a_look_that_changes_nothing_of_it_writes_nothing() -> None:
    later(missed("A", 30_000))
    with CaptureQueriesContext(connection) as asked:
        later(held("B", 40_000, []), held("C", 40_000, []), at=40_000)

    assert not [each["sql"] for each in asked if 'UPDATE "groups_finding" SET "sentence"' in each["sql"]]


def test_pages_and_api_say_it_and_that_it_is_no_older_than_its_beginning(group: Group, admin_client: Client) -> None:
    later(missed("A", 60_000), at=60_000)

    [found, *_] = admin_client.get(f"/api/v1/groups/{group.pk}/findings").json()["rows"]
    pages = [admin_client.get(path).content.decode() for path in (f"/groups/{group.pk}/", "/findings/", "/")]

    assert found["sentence"] == WAS.format("26 UTC", "A does not tell what it holds")
    assert (found["suspected_at"], found["seen_at"]) == (T0 + 6_000, T0 + 6_000)
    for page in pages:
        assert "members answered" not in page
        assert re.search("as of [^\n]{0,200}22:13:26", page)


@pytest.mark.usefixtures("group", "catalogues")
def test_it_is_said_in_chinese() -> None:
    rows = [later(missed("A", 30_000)), later(missed("B", 31_000), at=31_000)]

    with override("zh-hans"):
        said = [in_words(text) for row in rows for text in (row.sentence, row.proof[0])]

    assert (
        said[0] == "22:13:26 UTC 时没有成员消费 orders/east/1\uff1b现在是否有人消费未知\uff1aA 没有返回其持有的队列。"
    )
    assert not [text for text in said if re.search(r"[a-z]{2,} [a-z]{2,}", text)]
