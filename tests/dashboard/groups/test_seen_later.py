"""Who may have had a queue before he was seen with it, or beyond his own loss, leaves nobody's time uncertain."""

from __future__ import annotations

from dashboard.groups.handoffs import Bounds, tell
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lasting import lasting_handoffs
from dashboard.groups.models import Handoff, Holding, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.pairing import Instant
from rebalance_engine.events import Departure
from tests.dashboard.groups.test_handoffs import SINCE_50, exactly, span
from tests.dashboard.groups.test_story import settle, turn
from tests.dashboard.story import T0, held, joined, left, listed, told


def test_what_was_taken_from_nobody_may_have_been_anothers_before() -> None:
    spans = [span("A", exactly(0), exactly(100)), span("B", exactly(130)), span("C", Instant(140, 110, 140))]

    [[handed, _]] = tell(spans, [SINCE_50])

    assert (handed.to_client, handed.unowned) == ("B", Bounds(10, 30))


def test_what_lasts_ended_when_the_first_may_have_come_not_who_was_seen_first(cluster: object) -> None:
    assert cluster
    settle()
    told(left("A", 5_000, Departure.UNREGISTERED), left("B", 5_000, Departure.UNREGISTERED), listed(5_000))
    turn(5_100)
    told(joined("C", 30_000), joined("D", 30_000), held("C", 31_000, []), held("D", 31_000, []), at=31_000)
    told(held("C", 35_000, [0]), held("C", 36_000, [0]), held("D", 36_500, [0]), at=36_500)
    Holding.objects.filter(member__client_id="C", queue__queue_id=0).update(at_low=T0 + 35_000)
    turn(36_600)
    row, now = Round.objects.get(number=1), T0 + 40_000

    [lane] = [each for each in lanes_of(row, now=now) if each.queue_id == 0]
    found = lasting_handoffs(rounds=[row.pk], now=now)
    lasting = found[Handoff.objects.get(round=row, queue_id=0).pk]

    assert lane.unowned == (lasting.low, lasting.high) == (26_000, 34_990)


def test_what_one_let_go_when_another_was_lost_who_had_it_too_may_be_that_ones_still(cluster: object) -> None:
    assert cluster
    settle()
    told(held("A", 2_000, [0, 1, 2]), held("B", 2_000, [2, 3]), at=2_000)
    turn(2_100)
    told(left("A", 5_000), listed(5_000, "B"), held("B", 5_000, [3]), at=5_000)
    turn(5_100)
    for at in (9_000, 60_000):
        told(held("B", at, [3] if at < 60_000 else [2, 3]), listed(at, "B"), at=at)
        turn(at + 100)
        lanes = [
            lane.unowned[0] or 0
            for row in Round.objects.all()
            for lane in lanes_of(row, now=T0 + at + 200)
            if lane.queue_id == 2
        ]
        rounds = Round.objects.values_list("pk", flat=True)
        found = lasting_handoffs(rounds=list(rounds), now=T0 + at + 200)
        mine = set(Handoff.objects.filter(queue_id=2).values_list("pk", flat=True))

        assert set(lanes) == {0}
        assert {each.low for pk, each in found.items() if pk in mine} <= {0}


def test_what_a_lost_member_may_have_had_until_it_came_back_was_perhaps_its_own_in_later_rounds_too(
    cluster: object,
) -> None:
    assert cluster
    settle()
    told(left("A", 5_000), listed(5_000, "B"), held("B", 5_000, [2, 3]), at=5_000)
    turn(5_100)
    told(held("B", 6_000, [0, 2, 3]), at=6_000)
    turn(6_100)
    told(held("B", 9_000, [2, 3]), at=9_000)
    turn(9_100)
    told(joined("A", 60_000, low=59_000), listed(60_000, "A", "B"), held("A", 61_000, []), at=61_000)
    told(held("B", 61_000, [2, 3]), at=61_000)
    turn(61_100)
    row = Round.objects.order_by("-number")[0]

    share = next(each for pk, each in shares_in(row=row, now=T0 + 62_000).items() if _queue(pk) == 0)

    assert row.opened_low == T0 + 59_000
    assert share.unowned.low == 0


def _queue(pk: int) -> int:
    return Holding.objects.filter(queue=pk).values_list("queue__queue_id", flat=True)[0]
