import pytest

from dashboard.clusters.models import OutboxLine
from dashboard.groups.models import Group, LockRefusal
from rebalance_engine.events import EXACT, Duplicates, LockGranted, LockRefused
from tests.dashboard.story import REPORT, T0, joined, queue, told

pytestmark = pytest.mark.usefixtures("cluster")


def refused(at: int, holder: str | None = None) -> LockRefused:
    return LockRefused(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client="A", queue=queue(1), holder=holder)


def twice(count: int, at: int) -> Duplicates:
    return Duplicates(
        at=T0 + at, source=REPORT, exactness=EXACT, group="g", queue=queue(1), count=count, clients=("A", "B")
    )


def test_a_refused_lock_is_kept_as_evidence_and_counted() -> None:
    told(joined("A", 0), refused(10))
    told(refused(20_010, holder="B"))
    told(refused(20_010, holder="B"))

    row = LockRefusal.objects.get()
    assert (row.client_id, row.holder, row.count, row.at, row.origin) == ("A", "B", 2, T0 + 20_010, "agent report")
    assert OutboxLine.objects.filter(line__contains="LockRefused").count() == 2


def test_a_lock_that_was_granted_is_refused_no_more() -> None:
    told(refused(10))

    told(LockGranted(at=T0 + 40, source=REPORT, exactness=EXACT, group="g", client="A", queue=queue(1)))

    assert not LockRefusal.objects.exists()


def test_messages_consumed_twice_add_up_and_none_reported_is_unknown() -> None:
    told(joined("A", 0))
    assert Group.objects.get().duplicate_messages is None

    told(twice(3, 10))
    told(twice(4, 20), twice(3, 10))

    assert Group.objects.get().duplicate_messages == 7


def test_a_refused_lock_that_is_told_again_after_its_line_was_deleted_counts_once() -> None:
    facts = [joined("A", 0), refused(10), refused(20_010, holder="B")]
    told(*facts)
    OutboxLine.objects.all().delete()

    told(*facts)

    row = LockRefusal.objects.get()
    assert (row.holder, row.count, row.at) == ("B", 2, T0 + 20_010)
