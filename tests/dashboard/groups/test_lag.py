import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.lag import Waiting, lag_of, lags_by_group, standing, told_plainly, waiting_of
from dashboard.groups.models import Group, Progress
from rebalance_engine.events import EXACT, RouteMissing
from tests.dashboard.story import NAMESRV, T0, route, told
from tests.dashboard.wrong_states import make_group


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return make_group(cluster)


def tell(group: Group, broker: str, at: int, *queues: list[object], missing: str | None = None) -> None:
    Progress.objects.create(
        group=group,
        broker=broker,
        queues=list(queues),
        at=T0 + at,
        observed_at=T0 + at,
        origin="admin answer",
        missing=missing,
        missing_at=None if missing is None else T0 + at,
    )


def test_lag_is_what_lies_between_end_and_what_is_committed_with_the_time_of_each(group: Group) -> None:
    tell(group, "west", 20, ["orders", 0, 7, 7, None])
    tell(group, "east", 10, ["orders", 1, 9, 4, T0], ["orders", 0, 9, 8, T0])

    lag = lag_of(group=group)

    told = [(each.broker, each.queue_id, each.lag, each.observed_at) for each in lag.queues]
    assert told == [("east", 0, 1, T0 + 10), ("east", 1, 5, T0 + 10), ("west", 0, 0, T0 + 20)]
    assert (lag.total, lag.observed_at, lag.untold) == (6, T0 + 10, ())


def test_a_total_is_unknown_while_any_part_of_it_is(group: Group) -> None:
    assert lag_of(group=group).total is None

    tell(group, "east", 10, ["orders", 0, 9, None, None], ["orders", 1, 9, 4, None])
    assert [each.lag for each in lag_of(group=group).queues] == [None, 5]
    assert lag_of(group=group).total is None

    Progress.objects.all().delete()
    tell(group, "east", 10, ["orders", 1, 9, 4, None])
    tell(group, "west", 10, missing="timeout")
    lag = lag_of(group=group)
    assert (lag.total, lag.untold) == (None, ("west",))


def test_what_a_broker_said_before_it_stopped_to_answer_is_shown_as_old(group: Group) -> None:
    tell(group, "east", 10, ["orders", 0, 9, 4, None], missing="timeout")

    [queue] = lag_of(group=group).queues

    assert (queue.lag, queue.missing, queue.observed_at) == (5, "timeout", T0 + 10)


def test_a_consumer_that_is_ahead_of_the_answer_is_not_behind(group: Group) -> None:
    tell(group, "east", 10, ["orders", 0, 4, 5, None])

    assert lag_of(group=group).total == 0


def test_nobody_is_behind_in_a_queue_that_never_had_a_message(group: Group) -> None:
    tell(group, "east", 10, ["%RETRY%g", 0, 0, None, None], ["orders", 1, 9, 4, None])

    assert lag_of(group=group).total == 5


def test_of_a_queue_that_ends_where_none_can_end_nothing_is_known(group: Group) -> None:
    tell(group, "east", 10, ["orders", 0, 2**63 - 1, 0, None])

    assert [each.lag for each in lag_of(group=group).queues] == [None]


def test_queues_that_left_the_route_do_not_count_and_are_told_apart(group: Group) -> None:
    told(route(2), route(1, broker="west", topic="bills"))
    tell(group, "east", 10, ["orders", 0, 9, 4, None], ["orders", 1, 9, 9, None])
    tell(group, "west", 5, ["bills", 0, 70, 4, None])
    tell(group, "north", 5, ["never routed", 0, 2, 1, None])
    Progress.objects.filter(broker="west").update(lag=66)
    Progress.objects.filter(broker="east").update(lag=5)
    Progress.objects.filter(broker="north").update(lag=1)
    assert (lag_of(group=group).total, lag_of(group=group).observed_at) == (72, T0 + 5)
    assert waiting_of(groups=[group.pk])[group.pk].lag == 72

    told(gone("bills", 60_000))
    Progress.objects.filter(broker="north").delete()
    lag = lag_of(group=group)

    assert (lag.total, lag.observed_at) == (5, T0 + 10)
    assert (lag.brokers_left, lag.last_known_total, lag.last_known_at) == (["west"], 66, T0 + 5)
    assert (waiting_of(groups=[group.pk])[group.pk].lag, waiting_of(groups=[group.pk])[group.pk].observed_at) == (
        5,
        T0 + 10,
    )
    assert lags_by_group(clusters=[group.cluster_id]) == {group.pk: 5}


def test_a_broker_that_is_gone_and_never_told_makes_nothing_unknown(group: Group) -> None:
    told(route(1), route(1, broker="west", topic="bills"))
    tell(group, "east", 10, ["orders", 0, 9, 4, None])
    tell(group, "west", 10, missing="timeout")
    assert (lag_of(group=group).untold, waiting_of(groups=[group.pk])[group.pk].is_whole) == (("west",), False)

    told(gone("bills", 60_000))

    assert (lag_of(group=group).total, lag_of(group=group).untold) == (5, ())
    assert waiting_of(groups=[group.pk])[group.pk].is_whole


def test_a_group_of_which_all_queues_are_gone_is_behind_by_nobody_knows_how_much(group: Group) -> None:
    told(route(1))
    tell(group, "east", 10, ["orders", 0, 9, 4, None])
    told(gone("orders", 60_000))

    assert lag_of(group=group).total is None
    assert waiting_of(groups=[group.pk]) == {}


def gone(topic: str, at: int) -> RouteMissing:
    return RouteMissing(at=T0 + at, source=NAMESRV, exactness=EXACT, topic=topic)


def answer(at: int, before: Progress | None, *queues: list[object]) -> Progress:
    columns = standing(queues, at=T0 + at, before=before)
    return Progress(broker="east", queues=list(queues), observed_at=T0 + at, **columns)


def test_an_answer_is_added_up_with_what_is_unknown_of_it() -> None:
    row = answer(0, None, ["orders", 0, 9, 4, T0 - 50], ["orders", 1, 9, None, None], ["retry", 0, 0, None, None])

    assert (row.lag, row.unknown_lags, row.waits_since, row.empty_at) == (5, 1, None, None)
    assert answer(0, None, ["orders", 0, 9, None, None]).lag is None


def test_nothing_waits_longer_than_since_the_last_answer_without_lag() -> None:
    empty = answer(0, None, ["orders", 0, 4, 4, T0 - 3_600_000])
    row = answer(10_000, empty, ["orders", 0, 9, 4, T0 - 3_600_000])
    later = answer(20_000, row, ["orders", 0, 12, 5, T0 + 4_000])

    assert (empty.lag, empty.waits_since, empty.empty_at) == (0, None, T0)
    assert (row.lag, row.waits_since) == (5, T0)
    assert (later.waits_since, later.empty_at) == (T0 + 4_000, T0)


def test_the_looks_of_the_last_minute_are_kept_queue_by_queue() -> None:
    row = answer(0, None, ["orders", 0, 9, 4, None])
    for at in range(10_000, 90_000, 10_000):
        row = answer(at, row, ["orders", 0, 9 + at, 4, None])

    assert [look[0] - T0 for look in row.looks] == [20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000]
    assert row.looks[-1][1] == [80_005]
    assert len(answer(90_000, row, ["orders", 1, 9, 4, None]).looks) == 1


def test_lags_of_several_brokers_are_put_together(group: Group) -> None:
    for broker, row in (
        ("east", answer(0, None, ["orders", 0, 9, 4, T0 - 50])),
        ("west", answer(5_000, None, ["orders", 0, 4, 4, None])),
    ):
        row.group, row.broker, row.at, row.origin = group, broker, T0, "admin answer"
        row.save()

    assert waiting_of(groups=[group.pk]) == {group.pk: Waiting(5, True, T0 - 50, T0)}
    assert lags_by_group(clusters=[group.cluster_id]) == {group.pk: 5}

    Progress.objects.filter(broker="east").update(missing="timeout", missing_at=T0 + 6_000)
    assert waiting_of(groups=[group.pk])[group.pk].lag == 0
    assert not waiting_of(groups=[group.pk])[group.pk].is_whole


def test_a_page_gets_what_each_broker_told_with_its_last_minute(group: Group) -> None:
    row = answer(0, None, ["orders", 0, 9, 4, T0 - 50], ["orders", 1, 9, None, None])
    row.group, row.at, row.origin = group, T0, "admin answer"
    row.save()

    [east] = told_plainly(group=group)

    assert east["queues"] == [["orders", 0, 5, T0 - 50, 4], ["orders", 1, None, None, None]]
    assert (east["at"], east["missing"], east["looks"]) == (T0, None, [[T0, [5, None]]])
