from __future__ import annotations

import pytest

from dashboard.groups.models import Flow, Group, MemberList
from dashboard.groups.recording.flow import dead_of, returned_of, standings_of, troubles_of
from rebalance_engine.events import EXACT, AnswerMissed, DeadLettersSeen, Missing, ProgressSeen, QueueProgress
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


def dead(at: int, put: int, kept: int | None = None) -> DeadLettersSeen:
    kept = put if kept is None else kept
    return DeadLettersSeen(at=T0 + at, source=EAST, exactness=EXACT, group="g", broker="east", put=put, kept=kept)


def missed(at: int, request: str = "208") -> AnswerMissed:
    return AnswerMissed(
        at=T0 + at, source=EAST, exactness=EXACT, request=request, missing=Missing.TIMEOUT, broker="east", group="g"
    )


def row() -> Flow:
    return Flow.objects.get()


def test_a_queue_stands_still_since_the_first_look_at_which_messages_waited() -> None:
    told(progress(0))
    told(progress(60_000, end=109))

    assert standings_of(row()) == [Standing(queue(0), 100, 9, T0, T0 + 60_000, waited=3)]


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
    assert troubles_of(row()) == ((("orders", 0, T0, False),), False, 0)

    told(missed(61_000))

    assert troubles_of(row()) == ((), False, 0)
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


def test_a_group_is_rebalanced_anew_when_more_comes_into_a_queue_that_is_stuck() -> None:
    told(progress(0), progress(60_000))
    before = Group.objects.get().inputs_version

    told(progress(70_000, end=104))
    told(progress(80_000, end=105))

    assert Group.objects.get().inputs_version == before + 1


def test_what_was_kept_before_it_was_counted_how_many_waited_is_read() -> None:
    told(progress(0))
    Flow.objects.update(standings=[["orders", 0, 100, 3, T0]])

    told(progress(60_000, end=109))

    assert standings_of(row()) == [Standing(queue(0), 100, 9, T0, T0 + 60_000)]


def test_dead_letters_are_counted_between_looks_on_a_clock_of_their_own() -> None:
    told(progress(50_000))
    told(dead(10_000, 5), dead(40_000, 7, kept=6))
    assert dead_of(row()) == (Returned(T0 + 10_000, 5), Returned(T0 + 40_000, 7))
    assert (row().dead[-1], row().at, troubles_of(row())[2]) == ([T0 + 40_000, 7, 6], T0 + 50_000, 2)

    told(dead(30_000, 6))
    told(dead(400_000, 7))
    assert dead_of(row()) == (Returned(T0 + 40_000, 7), Returned(T0 + 400_000, 7))


def test_dead_letters_are_a_line_of_the_history_only_where_their_number_changed() -> None:
    lines = [told(dead(at, put)).facts for at, put in ((0, 5), (10_000, 5), (20_000, 6))]

    assert lines == [1, 0, 1]


def test_while_a_broker_does_not_tell_dead_letters_are_unknown_and_nothing_else_is() -> None:
    told(progress(0))
    told(dead(0, 5), dead(10_000, 7))
    version = Group.objects.get().inputs_version

    told(missed(20_000, "202"))
    told(missed(30_000, "202"))

    assert (row().dead, len(row().standings)) == ([], 1)
    assert not MemberList.objects.exists()
    assert Group.objects.get().inputs_version == version + 1
