from __future__ import annotations

import pytest

from dashboard.groups.models import Flow, Group
from dashboard.groups.recording.flow import returned_of, standings_of, troubles_of
from rebalance_engine.events import EXACT, AnswerMissed, Missing, ProgressSeen, QueueProgress
from rebalance_engine.findings import Returned, Standing
from rebalance_engine.model import MessageQueue
from tests.dashboard.story import EAST, T0, queue, told

pytestmark = pytest.mark.usefixtures("cluster")
RETRY = MessageQueue("%RETRY%g", "east", 0)


def progress(at: int, committed: int | None = 100, *, end: int = 103, failed: int | None = None) -> ProgressSeen:
    queues = [QueueProgress(queue=queue(0), end=end, committed=committed)]
    if failed is not None:
        queues.append(QueueProgress(queue=RETRY, end=failed, committed=failed))
    return ProgressSeen(at=T0 + at, source=EAST, exactness=EXACT, group="g", broker="east", queues=tuple(queues))


def missed(at: int) -> AnswerMissed:
    return AnswerMissed(
        at=T0 + at, source=EAST, exactness=EXACT, request="208", missing=Missing.TIMEOUT, broker="east", group="g"
    )


def row() -> Flow:
    return Flow.objects.get()


def test_a_queue_stands_still_since_the_first_look_at_which_messages_waited() -> None:
    told(progress(0))
    told(progress(60_000, end=109))

    assert standings_of(row()) == [Standing(queue(0), 100, 9, T0, T0 + 60_000)]


def test_what_was_committed_since_begins_anew_and_what_waits_for_nobody_is_not_kept() -> None:
    told(progress(0))
    told(progress(60_000, 101, end=109))
    assert standings_of(row())[0].since == T0 + 60_000

    told(progress(61_000, 109, end=109))
    assert standings_of(row()) == []

    told(progress(62_000, None, end=109))
    assert standings_of(row()) == []


def test_looks_at_the_retry_topic_are_kept_for_five_minutes_and_one_before_at_least() -> None:
    for at, failed in ((0, 1), (60_000, 2), (360_000, 3)):
        told(progress(at, failed=failed))
    assert returned_of(row()) == (Returned(T0 + 60_000, 2, 100), Returned(T0 + 360_000, 3, 100))

    told(progress(1_000_000, failed=4))
    assert returned_of(row()) == (Returned(T0 + 360_000, 3, 100), Returned(T0 + 1_000_000, 4, 100))

    told(progress(1_001_000))
    assert returned_of(row()) == ()


def test_while_a_broker_does_not_answer_nothing_is_known() -> None:
    told(progress(0))
    told(progress(60_000))
    assert troubles_of(row()) == ((("orders", 0, T0),), False)

    told(missed(61_000))

    assert troubles_of(row()) == ((), False)
    told(progress(62_000))
    assert standings_of(row())[0].since == T0 + 62_000


def test_an_older_answer_that_comes_late_changes_nothing() -> None:
    told(progress(60_000))
    told(progress(0, 99))
    told(missed(0))

    assert standings_of(row())[0].committed == 100


def test_a_group_is_rebalanced_anew_only_when_a_queue_gets_stuck_or_goes_on() -> None:
    told(progress(0))
    before = Group.objects.get().inputs_version

    versions = []
    for at, committed in ((10_000, 100), (60_000, 100), (70_000, 100), (80_000, 101)):
        told(progress(at, committed))
        versions.append(Group.objects.get().inputs_version - before)

    assert versions == [0, 1, 1, 2]
