from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from dashboard.clusters.models import Broker, OutboxLine, Queue, Topic
from dashboard.groups import retention
from dashboard.groups.models import Group, Handoff, Holding, LagStep, Member, MemberList, Round, RoundCause, Target
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.retention import DAY_MS, forget
from dashboard.push.models import Step, Stream
from dashboard.push.publish import steps_so_far
from rebalance_engine.events import EXACT, BrokerGone, BrokerSeen
from tests.dashboard.persons import person
from tests.dashboard.story import NAMESRV, T0, held, joined, left, listed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
MASTER = "127.0.0.1:10911"


def there(at: int) -> BrokerSeen:
    return BrokerSeen(at=T0 + at, source=NAMESRV, exactness=EXACT, broker="east", broker_id=0, address=MASTER)


def gone(at: int) -> BrokerGone:
    return BrokerGone(at=T0 + at, source=NAMESRV, exactness=EXACT, broker="east", broker_id=0, address=MASTER)


def test_what_ended_long_ago_is_deleted_and_what_lasts_is_kept() -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("A", 20, [0]), left("B", 30))

    forget(now=T0 + 31 * DAY_MS, days=30)

    assert Holding.objects.get().until is None
    assert Member.objects.get().client_id == "A"


def test_log_ins_that_have_ended_are_deleted() -> None:
    for name, at in (("over", T0), ("lasts", T0 + 2_000)):
        Session.objects.create(session_key=name, expire_date=datetime.fromtimestamp(at / 1_000, UTC))

    forget(now=T0 + 1_000, days=30)

    assert Session.objects.get().session_key == "lasts"


def test_a_group_that_is_gone_is_deleted_with_all_that_was_told_of_it() -> None:
    told(*seen("A"), *seen("B", group="there"))
    gone = Group.objects.get(name="g")
    Group.objects.filter(pk=gone.pk).update(gone_at=T0)
    Stream.objects.create(name=f"group-{gone.pk}", seq=1)

    sent = steps_so_far()

    forget(now=T0 + 30 * DAY_MS, days=30)
    assert Group.objects.count() == 2

    forget(now=T0 + 30 * DAY_MS + 1, days=30)
    assert [group.name for group in Group.objects.all()] == ["there"]
    assert not Stream.objects.filter(name=f"group-{gone.pk}").exists()
    assert steps_so_far() == sent


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


def test_what_is_gone_in_the_cluster_goes_with_the_last_that_refers_to_it() -> None:
    told(there(0), route(2), *seen("A"), listed(0, "A"), held("A", 10, [0, 1]), held("A", 20, [0]))
    told(route(1, 30), gone(40))
    lasts = Holding.objects.get(until=None)

    forget(now=T0 + 40 * DAY_MS, days=30)
    assert [(queue.queue_id, queue.pk) for queue in Queue.objects.all()] == [(0, lasts.queue_id)]
    assert (Broker.objects.count(), MemberList.objects.count(), Topic.objects.count()) == (1, 0, 1)

    Member.objects.all().delete()
    Queue.objects.update(gone_at=T0 + 30)
    forget(now=T0 + 40 * DAY_MS, days=30)
    assert (Queue.objects.count(), Broker.objects.count()) == (0, 0)
    assert Topic.objects.get().unused_since == T0 + 40 * DAY_MS

    forget(now=T0 + 70 * DAY_MS + 1, days=30)
    assert Topic.objects.count() == 0


def test_a_queue_that_somebody_should_have_stays() -> None:
    told(route(2), *seen("A"), route(1, 30))
    target = Target.objects.create(group=Group.objects.get(), queue=Queue.objects.get(queue_id=1), fence=1)

    forget(now=T0 + 40 * DAY_MS, days=30)
    assert Queue.objects.count() == 2

    target.delete()
    forget(now=T0 + 40 * DAY_MS, days=30)
    assert Queue.objects.get().queue_id == 0


def test_a_page_of_a_round_names_queues_that_are_deleted(client: Client) -> None:
    client.force_login(person())
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, [1]))
    group = Group.objects.get().pk
    rebalance_once(group=group, now=T0 + 20)
    told(left("B", 5_000))
    told(held("A", 6_000, [0, 1]))
    rebalance_once(group=group, now=T0 + 7_000)
    told(held("A", 8_000, [0]), route(1, 8_000))
    rebalance_once(group=group, now=T0 + 8_100)
    Round.objects.update(closed_at=T0 + 40 * DAY_MS, settled_at=T0 + 40 * DAY_MS, state="closed")

    forget(now=T0 + 41 * DAY_MS, days=30)

    assert list(Queue.objects.values_list("queue_id", flat=True)) == [0]
    assert ">orders/east/1<" in client.get(f"/groups/{group}/rounds/1/").content.decode()


def test_a_long_history_is_deleted_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "ROWS_AT_ONCE", 20)
    told(route(90), *seen("A"), *seen("B"), held("A", 10, range(45)), held("B", 10, range(45, 90)))
    group = Group.objects.get().pk
    rebalance_once(group=group, now=T0 + 20)
    for at in range(10_000, 100_000, 20_000):
        told(left("B", at), held("A", at + 1_000, range(90)))
        rebalance_once(group=group, now=T0 + at + 1_100)
        told(joined("B", at + 10_000), held("A", at + 11_000, range(45)), held("B", at + 11_000, range(45, 90)))
        rebalance_once(group=group, now=T0 + at + 11_100)
    told(left("A", 120_000), left("B", 120_000))
    rebalance_once(group=group, now=T0 + 120_100)
    Group.objects.update(gone_at=T0 + 130_000)
    handoffs, deleted = Handoff.objects.count(), [0]
    assert (Round.objects.count(), handoffs) == (11, 10 * 45 + 90)

    def count(execute: Callable[..., object], sql: str, params: object, many: bool, context: dict[str, Any]) -> object:
        result = execute(sql, params, many, context)
        if sql.startswith("SAVEPOINT"):
            deleted.append(0)
        elif sql.startswith("DELETE"):
            deleted[-1] += context["cursor"].rowcount
        return result

    with connection.execute_wrapper(count):
        forget(now=T0 + 40 * DAY_MS, days=30)

    assert not any(model.objects.exists() for model in (Group, Round, RoundCause, Handoff, Holding, Member))
    assert sum(deleted) > handoffs
    assert max(deleted) <= 20
