from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.found import KINDS, PAGE, Sought, found, groups_with_any, now_wrong, page_of
from dashboard.groups.models import Finding, Group
from dashboard.groups.young import YOUNG_MS
from dashboard.people.roles import Access, Role, Scope
from rebalance_engine.findings import FindingKind
from tests.dashboard.story import T0

ALL = Access("a", (Scope(Role.VIEWER),))
NARROW = Access("b", (Scope(Role.VIEWER, "*", "g"),))
LATER = T0 + 60_000


@pytest.fixture
def g(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="g", added_at=T0)


@pytest.fixture
def other(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="other", added_at=T0)


def wrong(group: Group, kind: str, subject: str = "x", at: int = 0, confirmed: int | None = None) -> Finding:
    return Finding.objects.create(
        cluster=group.cluster,
        group=group,
        kind=kind,
        subject=subject,
        subject_key=subject,
        sentence=f"{subject} is wrong",
        proof=["p"],
        origin="derived",
        suspected_at=T0 + at,
        confirmed_at=None if confirmed is None else T0 + confirmed,
    )


def kinds_of(**sought: str) -> list[str]:
    return [each.kind for each in found(clusters=list(Cluster.objects.all()), access=ALL, sought=Sought(**sought))]


def test_every_kind_has_its_gravity() -> None:
    assert sorted(KINDS) == sorted(kind.value for kind in FindingKind)
    assert KINDS[:4] == ("nobody consumes", "duplicate client id", "double owner", "orphan queue")


def test_the_gravest_come_first_whatever_their_age(g: Group, other: Group) -> None:
    wrong(g, "idle consumer")
    wrong(other, "orphan queue", at=2)
    wrong(g, "orphan queue", at=3, confirmed=4)
    wrong(g, "double owner", at=5)

    first = now_wrong(clusters=[g.cluster], access=ALL, now=LATER).first

    assert [each.kind for each in first] == ["double owner", "orphan queue", "orphan queue", "idle consumer"]
    assert [each.group for each in first[1:3]] == [g, other]


def test_findings_of_a_kind_are_one_that_says_how_many_more_and_what_is_left_out_is_counted(g: Group) -> None:
    for subject in "abc":
        wrong(g, "orphan queue", subject)
    for kind in KINDS[4:11]:
        wrong(g, kind)

    told = now_wrong(clusters=[g.cluster], access=ALL, now=LATER)

    assert len(told.first) == 6
    assert (told.first[0].kind, told.first[0].others) == ("orphan queue", 2)  # type: ignore[attr-defined] # of this list
    assert (told.count, told.more) == (10, 2)


def test_who_sees_one_group_is_told_of_no_other_and_not_of_the_cluster(g: Group, other: Group) -> None:
    wrong(g, "idle consumer")
    wrong(other, "double owner")
    columns = {"subject": "x", "subject_key": "x", "sentence": "s", "proof": ["p"], "origin": "derived"}
    Finding.objects.create(cluster=g.cluster, kind="different routes", suspected_at=T0, **columns)

    narrow, every = (now_wrong(clusters=[g.cluster], access=each, now=LATER) for each in (NARROW, ALL))

    assert ([each.group for each in narrow.first], narrow.count) == ([g], 1)
    assert (every.count, every.first[-1].group) == (3, None)
    assert groups_with_any(clusters=[g.cluster], now=LATER) == {g.pk, other.pk}


def test_queues_without_owner_are_no_fault_while_the_round_that_explains_them_is_young(g: Group) -> None:
    wrong(g, "orphan queue", at=5_000)
    Group.objects.update(round_number=1, round_cause="member joined", round_opened_at=T0 + 5_000)

    young = now_wrong(clusters=[g.cluster], access=ALL, now=T0 + 6_000)
    old = now_wrong(clusters=[g.cluster], access=ALL, now=T0 + 5_000 + YOUNG_MS)

    assert (young.first, young.rebalancing, young.count) == ([], [g], 0)
    assert ([each.kind for each in old.first], old.rebalancing, old.count) == (["orphan queue"], [], 1)
    assert groups_with_any(clusters=[g.cluster], now=T0 + 6_000) == set()
    Finding.objects.update(confirmed_at=T0 + 6_000)
    assert now_wrong(clusters=[g.cluster], access=ALL, now=T0 + 6_000).count == 1


def test_what_is_on_purpose_is_no_alarm_and_stands_in_the_list(g: Group) -> None:
    wrong(g, FindingKind.ON_PURPOSE.value)

    assert now_wrong(clusters=[g.cluster], access=ALL, now=LATER).count == 0
    assert kinds_of() == [FindingKind.ON_PURPOSE.value]


def test_many_groups_that_rebalance_are_counted(cluster: Cluster) -> None:
    for number in range(9):
        group = Group.objects.create(cluster=cluster, name=f"g{number}", added_at=T0, round_opened_at=LATER)
        wrong(group, "orphan queue", at=60_000)

    told = now_wrong(clusters=[cluster], access=ALL, now=LATER)

    assert (len(told.rebalancing), told.more_rebalancing) == (6, 3)


def test_findings_are_searched_and_filtered(g: Group, other: Group) -> None:
    wrong(g, "idle consumer", "billing-1")
    wrong(other, "double owner", "orders/east/0", confirmed=9)

    assert kinds_of(search="billing-1 IDLE") == ["idle consumer"]
    assert kinds_of(search="other") == ["double owner"]
    assert kinds_of(kind="idle consumer") == ["idle consumer"]
    assert kinds_of(state="confirmed") == ["double owner"]
    assert kinds_of(state="suspected") == ["idle consumer"]
    assert kinds_of(search="nothing like it") == []


def test_findings_come_in_pages(g: Group) -> None:
    for number in range(PAGE + 1):
        wrong(g, "orphan queue", f"q{number:03}", at=number)

    page = page_of(rows=found(clusters=[g.cluster], access=ALL), number=99)

    assert ([each.subject for each in page.rows], page.number, page.pages) == ([f"q{PAGE}"], 2, 2)
    assert page.count == PAGE + 1
