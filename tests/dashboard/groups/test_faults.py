import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.faults import AGAIN_MS, keep_faults, subject_key
from dashboard.groups.models import Finding, Group
from dashboard.groups.queries import look_at
from rebalance_engine.findings import CONFIRM_AFTER_MS, FindingKind
from rebalance_engine.findings import Finding as Found
from tests.dashboard.story import T0, held, route, seen, told
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


def test_long_and_hostile_subjects_are_told_apart(group: Group) -> None:
    subjects = ["x" * 1000, "x" * 999, "\ud800", "\0"]

    assert len({subject_key(subject) for subject in subjects}) == 4
    faults, _, _ = look(
        group,
        0,
        *(Found(FindingKind.IDLE_CONSUMER, "g", subject, f"{subject} is idle", ("\0",)) for subject in subjects),
    )
    assert len(faults) == 4
