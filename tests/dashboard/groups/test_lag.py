import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.lag import lag_of
from dashboard.groups.models import Group, Progress
from tests.dashboard.story import T0
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
