import pytest

from dashboard.clusters.models import OutboxLine
from dashboard.groups.models import Holding, Member
from dashboard.groups.retention import DAY_MS, forget
from dashboard.push.models import Step, Stream
from tests.dashboard.story import T0, held, left, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def test_what_ended_long_ago_is_deleted_and_what_lasts_is_kept() -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("A", 20, [0]), left("B", 30))

    forget(now=T0 + 31 * DAY_MS, days=30)

    assert Holding.objects.get().until is None
    assert Member.objects.get().client_id == "A"


def test_what_is_younger_is_kept() -> None:
    told(route(2), *seen("A"), held("A", 10, [0, 1]), held("A", 20, [0]))

    assert forget(now=T0 + 29 * DAY_MS, days=30) == 0


def test_steps_go_after_an_hour_and_lines_a_day_after_they_were_exported() -> None:
    told(*seen("A"))
    waiting = OutboxLine.objects.count()
    stream = Stream.objects.create(name="group-1", seq=1)
    Step.objects.create(stream=stream, seq=1, at=T0, body=b"{}")

    forget(now=T0 + 2 * DAY_MS, days=30)
    assert (Step.objects.count(), OutboxLine.objects.count()) == (0, waiting)

    OutboxLine.objects.update(exported_at=T0)
    forget(now=T0 + 2 * DAY_MS, days=30)
    assert OutboxLine.objects.count() == 0
