from __future__ import annotations

import pytest

from dashboard.audit.operations import append
from dashboard.auditing.queries import A_PAGE, Receipt, actions, may_read, page_of, pairs_of, read_filter
from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.people.roles import Access, Role, Scope
from tests.dashboard.groups.test_receipts import ordered
from tests.dashboard.story import T0

DAY_MS = 86_400_000


@pytest.fixture
def log(db: None) -> None:  # noqa: ARG001 - it opens the database
    append(at=T0, author="ada", verb="group.recompute", subject="shop billing", detail={"reason": "lag"})
    append(at=T0 + DAY_MS, author="bo", verb="grant a role", subject="ada")
    append(at=T0 + 2 * DAY_MS, author="Ada (reported)", verb="group.recompute", subject="shop orders")


def found(**given: str) -> list[int]:
    return [row.number for row, *_rest in page_of(wanted=read_filter(given), number=1).rows]


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ({}, [3, 2, 1]),
        ({"person": "ada"}, [3, 1]),
        ({"action": "grant a role"}, [2]),
        ({"object": "BILLING"}, [1]),
        ({"since": "2023-11-15"}, [3, 2]),
        ({"until": "2023-11-15"}, [2, 1]),
        ({"since": "2023-11-15", "until": "2023-11-15"}, [2]),
        ({"person": "ada", "object": "orders"}, [3]),
        ({"person": "nobody"}, []),
    ],
    ids=str,
)
def test_the_log_is_cut_down_to_what_is_looked_for(given: dict[str, str], numbers: list[int]) -> None:
    assert found(**given) == numbers


@pytest.mark.parametrize("text", ["yesterday", "2023-13-01", "0001-01-01", "9999-12-31"])
def test_a_day_that_is_none_is_named_and_left_out(text: str) -> None:
    wanted = read_filter({"since": text})

    assert (wanted.since, wanted.problem) == ("", text)


@pytest.mark.usefixtures("log")
def test_all_actions_can_be_chosen() -> None:
    assert actions() == ["grant a role", "group.recompute"]


@pytest.mark.django_db
def test_a_long_log_has_pages_and_one_that_is_not_there_is_the_nearest() -> None:
    for number in range(A_PAGE + 1):
        append(at=T0 + number, author="ada", verb="x")

    first, last = (page_of(wanted=read_filter({}), number=number) for number in (1, 77))

    assert (first.number, first.pages, first.count, len(first.rows)) == (1, 2, A_PAGE + 1, A_PAGE)
    assert (last.number, [row.number for row, *_rest in last.rows]) == (2, [1])


def test_a_detail_is_told_in_pairs_without_what_is_empty() -> None:
    text = '{"command": 7, "group": "g", "parameters": {}, "reason": "", "target": null}'

    assert pairs_of(text) == [("command", 7), ("group", "g")]
    assert pairs_of("[1]") == [("", "[1]")]
    assert pairs_of("{") == [("", "{")]


def test_only_an_admin_of_everything_reads_it() -> None:
    assert may_read(Access("ada", (Scope(Role.ADMIN),)))
    for scope in (Scope(Role.OPERATOR), Scope(Role.ADMIN, groups="g*"), Scope(Role.ADMIN, clusters="shop")):
        assert not may_read(Access("bo", (scope,)))


def test_an_order_of_a_group_leads_to_its_receipt_and_nothing_else_does(cluster: Cluster) -> None:
    group = Group.objects.create(cluster=cluster, name="billing", added_at=T0)
    order = ordered(group).pk
    for verb, detail in (
        ("group.recompute", {"command": order, "group": "billing"}),
        ("grant a role", {"command": order}),
        ("group.recompute", {"command": order + 1}),
        ("group.recompute", {"command": "1 OR 1"}),
        ("group.recompute", {"command": 10**30}),
        ("group.recompute", {"command": True}),
    ):
        append(at=T0, author="ada", verb=verb, subject="shop billing", detail=detail)

    rows = page_of(wanted=read_filter({}), number=1).rows

    assert [(row.number, receipt) for row, _pairs, receipt in rows if receipt is not None] == [
        (1, Receipt(group.pk, order))
    ]
