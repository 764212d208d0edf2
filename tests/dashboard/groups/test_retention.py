import pytest

from dashboard.clusters.models import OutboxLine
from dashboard.groups.models import Group, Holding, LagStep, Member
from dashboard.groups.retention import DAY_MS, forget
from dashboard.push.models import Step, Stream
from tests.dashboard.story import T0, held, left, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def test_what_ended_long_ago_is_deleted_and_what_lasts_is_kept() -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("A", 20, [0]), left("B", 30))

    forget(now=T0 + 31 * DAY_MS, days=30)

    assert Holding.objects.get().until is None
    assert Member.objects.get().client_id == "A"


def test_a_group_that_is_gone_is_deleted_with_all_that_was_told_of_it() -> None:
    told(*seen("A"), *seen("B", group="there"))
    gone = Group.objects.get(name="g")
    Group.objects.filter(pk=gone.pk).update(gone_at=T0)
    Stream.objects.create(name=f"group-{gone.pk}", seq=1)

    forget(now=T0 + 30 * DAY_MS, days=30)
    assert Group.objects.count() == 2

    forget(now=T0 + 30 * DAY_MS + 1, days=30)
    assert [group.name for group in Group.objects.all()] == ["there"]
    assert not Stream.objects.filter(name=f"group-{gone.pk}").exists()


def test_what_is_younger_is_kept() -> None:
    told(route(2), *seen("A"), held("A", 10, [0, 1]), held("A", 20, [0]))

    assert forget(now=T0 + 29 * DAY_MS, days=30) == 0


@pytest.mark.parametrize(("days", "left"), [(30, 1), (1, 0)])
def test_lag_over_time_goes_after_three_days_or_sooner_where_that_is_asked_for(days: int, left: int) -> None:
    told(*seen("A"))
    for day in (0, 2):
        began_at = (T0 + day * DAY_MS) // 10_000 * 10_000
        LagStep.objects.create(group=Group.objects.get(), broker="east", began_at=began_at, at=began_at)

    forget(now=T0 + 4 * DAY_MS, days=days)

    assert LagStep.objects.count() == left


def test_steps_go_after_an_hour_those_of_groups_after_a_day_and_lines_a_day_after_they_were_exported() -> None:
    told(*seen("A"))
    waiting = OutboxLine.objects.count()
    for name in ("group-1", "overview-1"):
        Step.objects.create(stream=Stream.objects.create(name=name, seq=1), seq=1, at=T0, body=b"{}")

    forget(now=T0 + DAY_MS, days=30)
    assert [step.stream.name for step in Step.objects.all()] == ["group-1"]

    forget(now=T0 + 2 * DAY_MS, days=30)
    assert (Step.objects.count(), OutboxLine.objects.count()) == (0, waiting)

    OutboxLine.objects.update(exported_at=T0)
    forget(now=T0 + 2 * DAY_MS, days=30)
    assert OutboxLine.objects.count() == 0
