from dataclasses import replace

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.faults import AGAIN_MS, keep_faults, subject_key
from dashboard.groups.models import Finding, Group
from dashboard.groups.queries import look_at
from rebalance_engine.events import Fact
from rebalance_engine.findings import CONFIRM_AFTER_MS, FindingKind
from rebalance_engine.findings import Finding as Found
from tests.dashboard.story import T0, held, listed, missed, route, seen, told, untold
from tests.dashboard.wrong_states import make_group

ORPHAN = Found(FindingKind.ORPHAN_QUEUE, "g", "orders/east/0", "Nobody consumes it.", ("A does not hold it",))


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return make_group(cluster)


def look(group: Group, at: int, *found: Found) -> tuple[list[Finding], int | None, list[str]]:
    faults, due_at, news = keep_faults(group=group, look=look_at(group=group), found=found, now=T0 + at)
    return faults, due_at, [type(fact).__name__ for fact in news]


def test_two_looks_of_20_s_or_less_confirm_nothing(group: Group) -> None:
    _, due_at, news = look(group, 0, ORPHAN)
    assert (due_at, news) == (T0 + CONFIRM_AFTER_MS + 1, ["FindingSuspected"])

    faults, _, news = look(group, CONFIRM_AFTER_MS, ORPHAN)

    assert (faults[0].confirmed_at, news) == (None, [])


def test_a_fault_is_confirmed_once_and_cleared_when_it_is_gone(group: Group) -> None:
    look(group, 0, ORPHAN)
    assert look(group, CONFIRM_AFTER_MS + 1, ORPHAN)[1:] == (None, ["FindingConfirmed"])
    assert look(group, CONFIRM_AFTER_MS + 2, ORPHAN)[2] == []

    assert look(group, 60_000)[2] == ["FindingCleared"]
    assert look(group, 61_000, ORPHAN)[2] == ["FindingSuspected"]
    assert Finding.objects.count() == 2


@pytest.mark.usefixtures("cluster")
def test_a_fault_is_confirmed_by_those_alone_on_whose_word_it_rests() -> None:
    told(route(2), *seen("A"), *seen("B"), *seen("C"), held("A", 10, [0]), held("B", 10, [0]), held("C", 10, [1]))
    group, double = Group.objects.get(), Found(FindingKind.DOUBLE_OWNER, "g", "q", "Two.", ("A",), told_by=("A", "B"))
    look(group, 20, double)
    told(held("B", 30_000, [0]), held("C", 30_000, [1]))

    faults, due_at, news = look(group, 30_010, double)
    assert (faults[0].confirmed_at, news) == (None, [])
    assert due_at == T0 + 30_010 + AGAIN_MS

    told(held("A", 31_000, [0]))
    assert look(group, 31_010, double)[2] == ["FindingConfirmed"]


@pytest.fixture
def unowned(cluster: Cluster) -> tuple[Group, Found]:
    """A group of two queues of which nobody has the second one, and the finding of that."""
    told(route(2), *seen("A"), *seen("B"), listed(0, "A", "B"), held("A", 10, [0]), held("B", 10, []))
    group = Group.objects.get(cluster=cluster)
    found = Found(FindingKind.ORPHAN_QUEUE, "g", "orders/east/1", "Nobody.", ("A",))
    look(group, 20, found)
    return group, found


def still(group: Group) -> list[int]:
    return list(Finding.objects.filter(group=group, cleared_at=None).values_list("suspected_at", flat=True))


@pytest.mark.parametrize("fact", [untold(30_000, broker="west"), untold(30_000), missed("B", 30_000)])
def test_that_nobody_has_a_queue_stays_as_it_was_while_it_cannot_be_judged(
    unowned: tuple[Group, Found], fact: Fact
) -> None:
    group, found = unowned
    told(held("A", 30_000, [0]), fact)

    faults, _, news = look(group, 30_010)
    assert ([row.subject for row in faults], news) == (["orders/east/1"], [])

    told(listed(60_000, "A", "B"), listed(60_000, "A", "B", broker="west"))
    told(held("A", 60_000, [0]), held("B", 60_000, []))
    assert look(group, 60_010, found)[2] == ["FindingConfirmed"]
    assert still(group) == [T0 + 10]


def test_a_queue_on_which_name_servers_disagree_is_not_judged(unowned: tuple[Group, Found]) -> None:
    group, _ = unowned
    seen_now = look_at(group=group)
    disputed = replace(seen_now, view=replace(seen_now.view, disputed=frozenset({1})))

    _, _, news = keep_faults(group=group, look=disputed, found=(), now=T0 + 30_010)

    assert (news, still(group)) == ([], [T0 + 10])


@pytest.mark.parametrize("end", [held("A", 40_000, [0, 1]), route(1, 40_000)])
def test_it_is_cleared_where_somebody_has_the_queue_or_no_route_does_though_others_are_silent(
    unowned: tuple[Group, Found], end: Fact
) -> None:
    group, _ = unowned
    told(untold(40_000), missed("B", 40_000), end)

    assert look(group, 40_010)[2] == ["FindingCleared"]


def test_it_is_cleared_where_all_tell_or_the_group_is_gone(unowned: tuple[Group, Found]) -> None:
    group, found = unowned
    told(held("A", 40_000, [0]), held("B", 40_000, []))
    assert look(group, 40_010)[2] == ["FindingCleared"]

    look(group, 40_020, found)
    told(untold(50_000))
    group.gone_at = T0 + 50_000
    assert look(group, 50_010)[2] == ["FindingCleared"]


def test_long_and_hostile_subjects_are_told_apart(group: Group) -> None:
    subjects = ["x" * 1000, "x" * 999, "\ud800", "\0"]

    assert len({subject_key(subject) for subject in subjects}) == 4
    faults, _, _ = look(
        group,
        0,
        *(Found(FindingKind.IDLE_CONSUMER, "g", subject, f"{subject} is idle", ("\0",)) for subject in subjects),
    )
    assert len(faults) == 4
