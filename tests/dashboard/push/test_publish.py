from __future__ import annotations

from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from redis.exceptions import RedisError

from dashboard.push.group_diffs import apply
from dashboard.push.messages import GroupDiff, GroupSnapshot, GroupState, OverviewDiff, Row, Seen, decode
from dashboard.push.models import Step, Stream
from dashboard.push.publish import (
    MOST_STEPS,
    catch_up,
    current_seq,
    end_streams,
    group_snapshot,
    group_state,
    publish_group,
    publish_rows,
    pulse,
    steps_so_far,
)
from dashboard.push.tallies import Kind, counts
from tests.dashboard.push.states import cell, head

pytestmark = pytest.mark.django_db
ROW = Row(1, "g", None, None, None, None, None, None, None, "", None, None, None, None, None, None)


def state(*held: tuple[int, ...]) -> GroupState:
    return GroupState(head(), (), tuple(cell(name, (), runs) for name, runs in zip("ABC", held, strict=False)), (), ())


def publish(shown: GroupState) -> int | None:
    with transaction.atomic():
        return publish_group(group=1, state=shown, at=5)


def snapshot() -> GroupSnapshot | None:
    return group_snapshot(group=1)


def test_steps_are_numbered_and_the_same_again_is_none() -> None:
    assert [publish(state((0, 1))), publish(state((0, 1))), publish(state((0, 2)))] == [1, None, 2]
    assert group_state(group=1) == state((0, 2))
    assert current_seq(stream="group-1") == 2


def test_a_browser_that_was_away_gets_exactly_what_it_missed() -> None:
    for size in (1, 2, 3, 4):
        publish(state((0, size)))

    missed = catch_up(stream="group-1", last_seq=2, snapshot=snapshot)

    shown = state((0, 2))
    for body in missed.bodies:
        message = decode(body)
        assert isinstance(message, GroupDiff)
        shown = apply(shown, message)
    assert (missed.seq, len(missed.bodies)) == (4, 2)
    assert shown == state((0, 4))


def test_a_browser_that_missed_nothing_gets_nothing() -> None:
    publish(state((0, 1)))

    assert catch_up(stream="group-1", last_seq=1, snapshot=snapshot).bodies == ()


@pytest.mark.parametrize("last_seq", [None, 99, 0])
def test_without_a_place_in_the_stream_or_kept_steps_a_browser_gets_a_snapshot(last_seq: int | None) -> None:
    publish(state((0, 1)))
    publish(state((0, 2)))
    Step.objects.filter(seq=1).delete()

    answer = catch_up(stream="group-1", last_seq=last_seq, snapshot=snapshot)

    message = decode(answer.bodies[0])
    assert isinstance(message, GroupSnapshot)
    assert (answer.seq, message.seq, message.state) == (2, 2, state((0, 2)))


def test_whoever_missed_very_much_gets_a_snapshot() -> None:
    stream = Stream.objects.create(name="group-1", seq=0)
    publish(state((0, 1)))
    Stream.objects.filter(pk=stream.pk).update(seq=MOST_STEPS + 2)

    answer = catch_up(stream="group-1", last_seq=1, snapshot=snapshot)

    assert isinstance(decode(answer.bodies[0]), GroupSnapshot)


def test_before_the_first_step_there_is_nothing() -> None:
    assert catch_up(stream="group-1", last_seq=None, snapshot=snapshot).bodies == ()


def test_a_step_of_a_change_that_was_rolled_back_never_was() -> None:
    publish(state((0, 1)))

    with transaction.atomic():
        publish_group(group=1, state=state((0, 2)), at=6)
        transaction.set_rollback(True)

    assert current_seq(stream="group-1") == 1
    assert group_state(group=1) == state((0, 1))


@pytest.mark.django_db(transaction=True)
def test_sockets_get_the_step_after_the_transaction_and_the_pulse() -> None:
    layer = get_channel_layer()
    assert layer is not None
    async_to_sync(layer.group_add)("group-1", "browser")

    publish(state((0, 1)))
    event = async_to_sync(layer.receive)("browser")
    pulse(stream="group-1", seen=(Seen("A", 5),), at=6, watched_at=5)
    beat = async_to_sync(layer.receive)("browser")

    assert (event["type"], event["seq"]) == ("push.step", 1)
    assert isinstance(decode(event["body"]), GroupSnapshot)
    assert decode(beat["body"]).seq == 1


def test_rows_of_the_overview_are_steps_too() -> None:
    with transaction.atomic():
        publish_rows(cluster=1, put=(ROW,), at=5)
        publish_rows(cluster=1, put=(replace(ROW, members=2),), gone=(7,), at=6)

    answer = catch_up(stream="overview-1", last_seq=1, snapshot=lambda: None)

    message = decode(answer.bodies[0])
    assert isinstance(message, OverviewDiff)
    assert (message.put[0].members, message.gone) == (2, (7,))


def test_steps_of_streams_that_are_deleted_are_counted_still() -> None:
    publish(state((0, 1)))
    publish(state((0, 2)))
    publish_rows(cluster=1, put=(ROW,), at=5)
    assert steps_so_far() == 3

    end_streams(names=["group-1", "group-2"])

    assert (steps_so_far(), Stream.objects.count(), Step.objects.count()) == (3, 1, 1)
    publish(state((0, 1)))
    assert steps_so_far() == 4


@pytest.mark.django_db(transaction=True)
def test_a_step_that_redis_does_not_take_is_counted_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_sent: object) -> None:
        raise RedisError("away")

    monkeypatch.setattr(get_channel_layer(), "group_send", away)

    assert publish(state((0, 1))) == 1

    assert counts()[Kind.NOT_TO_REDIS] == 1
    assert current_seq(stream="group-1") == 1
