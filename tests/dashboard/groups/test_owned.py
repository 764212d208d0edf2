from __future__ import annotations

import pytest

from dashboard.clusters.models import Queue
from dashboard.groups.ending import tell_ended
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Finding, Group, Handoff, Holding, Member, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.past import shown_at
from dashboard.groups.past_story import lanes_at, shares_at
from dashboard.groups.shares import Share
from dashboard.groups.story import time_bar, worst
from dashboard.push.models import Step
from rebalance_engine.events import EXACT, QueueTaken
from tests.dashboard.groups.test_story import join, settle, turn
from tests.dashboard.story import REPORT, T0, held, joined, listed, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def had(client: str, number: int, at: int, until: int | None) -> None:
    """A member says itself from when to when it had a queue."""
    ended = {"until": None} if until is None else {"until_origin": "agent report", "reason": "unknown"}
    times = dict.fromkeys(("at", "at_low", "at_high", "observed_at"), T0 + at)
    ends = {} if until is None else dict.fromkeys(("until", "until_low", "until_high"), T0 + until)
    Holding.objects.create(
        group=Group.objects.get(),
        member=Member.objects.get(client_id=client),
        queue=Queue.objects.get(queue_id=number),
        origin="agent report",
        **times,
        **ends,
        **ended,
    )


def let_go(client: str, number: int, at: int) -> None:
    when = dict.fromkeys(("until", "until_low", "until_high"), T0 + at)
    spans = Holding.objects.filter(member__client_id=client, queue__queue_id=number, until=None)
    spans.update(**when, until_origin="agent report", reason="unknown")


@pytest.fixture
def row() -> Round:
    """C took queue 3 beside B for 20 s, let it go, took it again, and had it beside B for 21.8 s until B let it go.

    It had queue 0 beside A for 5 s too, who has it before and after the round.
    """
    settle()
    join()
    had("C", 3, 6_000, 26_000)
    had("C", 0, 7_000, 12_000)
    had("C", 3, 40_000, None)
    let_go("B", 3, 61_800)
    told(*[held(client, 70_000, mine) for client, mine in (("A", [0, 1]), ("B", [2]), ("C", [3]))], at=70_000)
    turn(70_100)
    tell_ended(group=Group.objects.get().pk, now=T0 + 70_200)
    return Round.objects.get(closed_at__isnull=False)


def by_queue(shares: dict[int, Share]) -> dict[int, Share]:
    numbers = dict(Queue.objects.values_list("pk", "queue_id"))
    return {numbers[queue]: share for queue, share in shares.items()}


@pytest.mark.parametrize("ms", [9_500, 13_000, 19_000, 30_000])
def test_what_a_round_tells_of_an_instant_is_so_whenever_in_its_bounds_a_queue_was_let_go_and_taken(ms: int) -> None:
    settle()
    join()
    of_queue = Holding.objects.filter(queue__queue_id=3)
    ends = {"until": T0 + 8_000, "until_low": T0 + 7_000, "until_high": T0 + 9_000}
    of_queue.update(**ends, until_origin="admin answer", reason="unknown")
    had("C", 3, 20_000, None)
    of_queue.filter(member__client_id="C").update(at_low=T0 + 12_000)
    Member.objects.update(held_seen_at=T0 + 30_000)
    told_of = Round.objects.get()

    then, at_last = (by_queue(shares_in(row=told_of, now=T0 + at))[3] for at in (ms, 30_000))

    least, most = min(12_000, ms) - 9_000, min(20_000, ms) - 7_000
    assert (then.unowned.low, then.unowned.high) == (least, most)
    assert then.unowned.low <= at_last.unowned.low and then.unowned.high <= at_last.unowned.high
    assert (then.overlap.low, then.overlap.high) == (0, 0)


def test_a_round_tells_all_the_time_in_which_two_had_its_queues(row: Round) -> None:
    shares = by_queue(shares_in(row=row, now=T0 + 80_000))

    assert {queue: share.overlap.low for queue, share in shares.items()} == {0: 5_000, 3: 41_800}
    found = worst(lanes_of(row, now=T0 + 80_000), shares)
    assert (found["overlap_queues"], found["overlap"]) == (2, (41_800, 41_800))
    assert (found["unowned"], found["unowned_queues"]) == (None, 0)
    assert "2 queues had two owners, the longest for 41.8 s." in sentence_of(row, found, now=T0 + 80_000)


def test_its_handoffs_say_beside_whom_a_queue_was_taken_and_cost_what_the_time_bar_shows(row: Round) -> None:
    told_of = Handoff.objects.order_by("queue_id", "taken_at").values_list(
        "queue_id", "from_client", "to_client", "overlap_low", "overlap_high"
    )

    assert list(told_of) == [
        (0, "A", "C", 5_000, 5_000),
        (3, "B", "C", 20_000, 20_000),
        (3, "B", "C", 21_800, 21_800),
    ]
    assert row.move_count == 1  # A kept queue 0
    bar = time_bar(group=Group.objects.get(), since=T0, now=T0 + 80_000)
    steps = bar["two"]
    assert isinstance(steps, list)
    assert sum(count * (until - since) for since, until, count in steps) == 46_800


@pytest.mark.parametrize(
    ("at", "two", "overlap"),
    [
        (5_500, 0, None),
        (8_000, 2, (2_000, 2_000)),
        (30_000, 0, (20_000, 20_000)),
        (41_000, 1, (21_000, 21_000)),
        (75_000, 0, (41_800, 41_800)),
    ],
)
def test_at_an_instant_a_round_tells_what_the_map_showed_until_then(
    row: Round, at: int, two: int, overlap: tuple[int, int] | None
) -> None:
    Step.objects.all().delete()
    shown = shown_at(group=row.group, at=T0 + at)

    found = worst(lanes_at(row=row, at=T0 + at, now=T0 + 80_000), shares_at(row=row, at=T0 + at))

    assert found["overlap"] == overlap
    assert shown is not None
    assert (shown.state.head.doubles or 0) == two  # null: not all told of then


def test_a_round_tells_of_queues_that_had_no_owner_throughout() -> None:
    settle()
    told(held("A", 1_000, [0]), held("B", 1_000, [2, 3]))
    join()
    told(held("A", 6_000, [0]), held("B", 6_000, [2]), held("C", 7_000, [3]))
    turn(7_100)
    told(held("C", 11_000, [3]), held("A", 11_000, [0]), held("B", 11_000, [2]))

    row = Round.objects.latest("number")
    shares = by_queue(shares_in(row=row, now=T0 + 11_000))

    assert shares[1].unowned.low > 0
    assert shares[1].is_lasting is (row.closed_at is None)
    found = worst([], shares)
    assert (found["unowned_queues"], found["unowned_perhaps_queues"]) == (1, 1)  # C may have taken queue 3 at once


@pytest.mark.parametrize(("low", "certain"), [(5_120, 30), (None, 50)])
def test_a_queue_that_went_has_certainly_nobody_until_it_may_have_gone(low: int | None, certain: int) -> None:
    settle()
    told(held("B", 1_000, [2]))
    join()
    Member.objects.update(held_seen_at=T0 + 5_150)
    before = by_queue(shares_in(row=Round.objects.latest("number"), now=T0 + 5_150))[3].unowned
    gone_low = None if low is None else T0 + low
    Queue.objects.filter(queue_id=3).update(gone_at=T0 + 5_150, gone_low=gone_low)

    after = by_queue(shares_in(row=Round.objects.latest("number"), now=T0 + 60_000))[3].unowned

    assert after.seen == before.seen
    assert before.low - after.low == (before.low if low is None else certain)


def test_a_queue_that_is_gone_has_no_owner_in_a_round_until_it_went() -> None:
    settle()
    told(held("B", 1_000, [2]))
    join()
    Queue.objects.filter(queue_id=3).update(gone_at=T0 + 5_150)

    shares = by_queue(shares_in(row=Round.objects.latest("number"), now=T0 + 60_000))

    assert 0 < shares[3].unowned.seen <= 5_150 - 1_000
    assert not shares[3].is_lasting


def test_a_round_in_which_each_queue_had_one_owner_tells_of_none() -> None:
    settle()
    join()

    assert shares_in(row=Round.objects.get(), now=T0 + 5_300) == {}


def test_a_queue_that_nobody_had_yet_is_without_owner_until_who_reports_that_it_took_it() -> None:
    told(route(1), *seen("Z", group="other"), listed(0))
    told(*seen("A", 1_000), joined("A", 1_000, low=900), listed(1_000, "A"), held("A", 1_100, []))
    turn(1_200)
    told(held("A", 14_700, []))
    turn(14_800)

    told(QueueTaken(at=T0 + 20_000, source=REPORT, exactness=EXACT, group="g", client="A", queue=queue(0)))
    turn(20_100)

    row = Round.objects.get()
    [share] = shares_in(row=row, now=T0 + 60_000).values()
    came, seen_at, taken = 900, 1_100, 20_000  # who subscribes to it may have come at 900: there was nobody to have it
    assert (share.unowned.low, share.unowned.high) == (taken - seen_at, taken - came)
    assert {finding.cleared_at for finding in Finding.objects.filter(kind="orphan queue")} == {T0 + 20_000}
