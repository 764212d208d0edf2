import pytest
from django.db import DataError

from dashboard.clusters.models import Cluster, OutboxLine
from dashboard.groups.ending import stories_of
from dashboard.groups.models import Group, Handoff, Round
from dashboard.groups.rebalancing import due_groups, rebalance_once
from rebalance_engine.eventlog import read
from rebalance_engine.events import (
    EXACT,
    DropReason,
    Overlap,
    Pause,
    QueueDropped,
    QueuePulled,
    QueueTaken,
    RoundClosed,
    RoundOpened,
    RoundSuperseded,
    Unowned,
)
from rebalance_engine.events.fact import Bound
from tests.dashboard.story import REPORT, T0, held, joined, left, queue, route, seen, told


def rebalance(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def told_of(kind: type) -> list:
    facts = [read(line) for line in OutboxLine.objects.order_by("pk").values_list("line", flat=True)]
    return [fact for fact in facts if isinstance(fact, kind)]


@pytest.fixture(autouse=True)
def settled(cluster: Cluster) -> None:
    assert cluster.name == "shop"
    told(route(2), *seen("A"), held("A", 10, [0, 1]))
    rebalance(20)
    told(joined("B", 5_000), held("B", 5_100, []))
    rebalance(5_200)


def test_the_history_tells_a_round_from_its_opening_to_its_end() -> None:
    told(held("A", 6_000, [0]), held("B", 7_000, [1]))
    rebalance(7_100)

    (opened,), (closed,) = told_of(RoundOpened), told_of(RoundClosed)
    assert (opened.at, opened.evidence, opened.members_before) == (T0 + 5_000, ("B joined",), ("A",))
    assert (closed.at, closed.moves, closed.members_after) == (T0 + 7_000, 1, ("A", "B"))


def test_time_without_an_owner_is_told_with_its_bounds() -> None:
    told(held("A", 6_000, [0]), held("B", 7_000, [1]))
    rebalance(7_100)

    (unowned,) = told_of(Unowned)
    assert (unowned.duration_ms, unowned.exactness.bound) == (1_000, Bound.BETWEEN)
    assert (unowned.exactness.low, unowned.exactness.high) == (0, 6_990)


def test_time_with_two_owners_is_told_too() -> None:
    told(held("B", 6_000, [1]), held("A", 6_500, [0]), held("B", 6_600, [1]))
    rebalance(6_700)

    (overlap,) = told_of(Overlap)
    assert (overlap.clients, overlap.duration_ms) == (("A", "B"), 500)


def test_handoffs_of_an_open_round_can_be_told_before_it_ends() -> None:
    told(held("A", 6_000, [0]))
    rebalance(6_100)

    (story,) = stories_of(Round.objects.get())
    assert (story.from_client, story.to_client) == ("A", None)
    assert not Handoff.objects.exists()


def test_a_superseded_round_says_by_which() -> None:
    told(left("A", 9_000))
    rebalance(9_100)

    (superseded,) = told_of(RoundSuperseded)
    assert (superseded.round, superseded.by, superseded.at) == (1, 2, T0 + 9_000)


def test_a_pause_lasts_until_the_first_pull() -> None:
    told(
        QueueDropped(
            at=T0 + 6_000,
            source=REPORT,
            exactness=EXACT,
            group="g",
            client="A",
            queue=queue(1),
            reason=DropReason.NOT_IN_TARGET,
        ),
        QueueTaken(at=T0 + 6_300, source=REPORT, exactness=EXACT, group="g", client="B", queue=queue(1)),
        QueuePulled(at=T0 + 6_350, source=REPORT, exactness=EXACT, group="g", client="B", queue=queue(1)),
        held("A", 7_000, [0]),
        held("B", 7_000, [1]),
    )
    rebalance(7_100)

    story = Handoff.objects.get()
    assert (story.unowned_low, story.unowned_high) == (300, 300)
    assert (story.pause_low, story.pause_high) == (350, 350)
    (pause,) = told_of(Pause)
    assert (pause.duration_ms, pause.exactness, pause.from_client, pause.to_client) == (350, EXACT, "A", "B")


@pytest.mark.parametrize("refusal", [OverflowError("too large"), DataError("out of range")])
def test_a_round_that_cannot_be_told_keeps_its_group_from_nothing(
    refusal: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_row: Round) -> None:
        raise refusal

    monkeypatch.setattr("dashboard.groups.rebalancing.count_told", refuse)
    told(held("A", 6_000, [0]), held("B", 7_000, [1]))
    rebalance(7_100)
    told(left("A", 9_000))
    rebalance(9_100)

    assert list(Round.objects.order_by("number").values_list("cause", "told_at")) == [
        ("member joined", None),
        ("member left", None),
    ]
    assert Handoff.objects.count() == 0
    assert "cannot be told" in caplog.text
    monkeypatch.undo()
    rebalance(9_200)
    assert Round.objects.get(number=1).told_at == T0 + 9_200
    assert Handoff.objects.count() == 1


def test_what_was_not_told_because_a_worker_died_is_told_later_and_once() -> None:
    told(held("A", 6_000, [0]), held("B", 7_000, [1]))
    rebalance(7_100)
    lines = OutboxLine.objects.count()
    Handoff.objects.all().delete()
    OutboxLine.objects.filter(line__contains='"event":"Handoff"').delete()
    Round.objects.update(told_at=None)
    assert due_groups(now=T0 + 7_200) == [Group.objects.get().pk]

    rebalance(7_200)
    rebalance(7_300)

    assert Handoff.objects.count() == 1
    assert OutboxLine.objects.count() == lines
    assert Round.objects.get().told_at == T0 + 7_200
    assert due_groups(now=T0 + 7_400) == []


def reported(kind: type[QueueDropped | QueueTaken], client: str, at: int, number: int) -> QueueDropped | QueueTaken:
    who = {"at": T0 + at, "source": REPORT, "exactness": EXACT, "group": "g", "client": client, "queue": queue(number)}
    return QueueDropped(**who, reason=DropReason.STOPPED) if kind is QueueDropped else QueueTaken(**who)  # type: ignore[arg-type] # one by one


def test_what_a_member_let_go_before_it_said_that_it_leaves_belongs_to_the_round_of_its_leaving() -> None:
    told(held("A", 6_000, [0]), held("B", 6_000, [1]))
    rebalance(6_100)
    told(reported(QueueDropped, "B", 9_652, 1), left("B", 10_685), reported(QueueTaken, "A", 10_688, 1))
    told(held("A", 11_000, [0, 1]))
    rebalance(11_100)

    story = Handoff.objects.get(round__number=2)

    assert (story.from_client, story.to_client) == ("B", "A")
    assert (story.unowned_low, story.unowned_high) == (1_036, 1_036)


def test_what_is_exact_belongs_to_the_round_that_superseded_from_when_that_may_have_begun() -> None:
    told(held("A", 6_000, [0]), held("B", 6_000, []))
    rebalance(6_100)
    told(
        reported(QueueDropped, "A", 9_500, 0),
        joined("C", 10_000, low=9_000),
        reported(QueueTaken, "C", 10_200, 0),
    )
    rebalance(10_300)

    first, second = Round.objects.order_by("number")

    assert [(each.queue.queue_id, each.from_client, each.to_client) for each in stories_of(first)] == [(1, "A", None)]
    (story,) = stories_of(second)
    assert (story.from_client, story.to_client) == ("A", "C")
    assert story.unowned is not None
    assert (story.unowned.low, story.unowned.high) == (700, 700)
