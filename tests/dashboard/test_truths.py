"""Random true histories: whatever is told of who had a queue holds, then and whenever it is told again.

Low bounds hold also of what those who are lost may have in their hands; high ones of what members own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.clusters.absences import MOST_ABSENCES
from dashboard.clusters.models import Cluster, Queue
from dashboard.groups.bands import Step
from dashboard.groups.lane import Lane
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lasting import lasting_handoffs
from dashboard.groups.lately import lately_of
from dashboard.groups.models import Group, Handoff, Holding, Round
from dashboard.groups.owned import began_at, shares_in
from dashboard.groups.shares import Lasted, Share
from dashboard.groups.story import time_bar
from dashboard.pauses.queries import pauses_of
from tests.dashboard.luck import the_same_luck
from tests.dashboard.story import T0
from tests.dashboard.worlds import QUEUES, TICK_MS, World, any_world, begin, look, world_with_what_nobody_had

NOBODY = Share(Lasted(), Lasted())


def plain(steps: Iterable[Step]) -> Iterator[tuple[int, int, int]]:
    return ((step.since, step.until, step.queues) for step in steps)


def in_order(*times: Lasted) -> bool:
    return all(each.low <= each.seen <= each.high for each in times)


def check(world: World, group: Group) -> None:
    """Hold all that is told now against what is true."""
    now = T0 + world.now
    first = {pk: at - T0 for pk, at in Holding.objects.order_by("-at").values_list("queue__queue_id", "at")}
    first |= dict.fromkeys(world.nobodys, 0)
    bar = time_bar(group=group, since=T0, now=now)
    assert world.holds(bar["none"])  # type: ignore[arg-type]
    assert world.holds(bar["two"], two=True)  # type: ignore[arg-type]
    check_lately(world, group, first)
    for row in Round.objects.filter(group=group).order_by("number"):
        check_shares(world, row, first)
        for lane in lanes_of(row, now=now):
            check_lane(world, lane)
        found = lasting_handoffs(rounds=[row.pk], now=now)
        for handoff in Handoff.objects.filter(pk__in=found):
            drop = (handoff.dropped_low or handoff.dropped_at or 0) - T0
            assert found[handoff.pk].low <= world.lasted(handoff.queue_id, drop, world.now, surely=True)
    check_pauses(world, group)


def check_lately(world: World, group: Group, first: dict[int, int]) -> None:
    lately = lately_of(groups=[group.pk], now=T0 + world.now)[group.pk]
    if lately.unowned is None or lately.overlap is None:
        return  # nobody looked since it was looked at first
    assert world.holds(plain(lately.nobody))
    assert world.holds(plain(lately.two), two=True)
    assert in_order(lately.unowned, lately.overlap), lately
    assert lately.unowned.low <= sum(world.lasted(queue, 0, world.now, surely=True) for queue in range(QUEUES))
    assert lately.overlap.low <= sum(
        world.lasted(queue, 0, world.now, two=True, surely=True) for queue in range(QUEUES)
    )
    if not lately.is_open:
        none = sum(world.lasted(queue, at, world.looked) for queue, at in first.items())
        assert lately.unowned.high >= none, (lately, none)
        two = sum(world.lasted(queue, 0, world.looked, two=True) for queue in range(QUEUES))
        assert world.has_hidden or lately.is_since_ever or lately.overlap.high >= two, (lately, two)


def begin_of(row: Round) -> int:
    """Say since when shares are told of a round: one that superseded another was seen to begin then."""
    return began_at(row) if row.number == row.wave else row.opened_at


def check_shares(world: World, row: Round, first: dict[int, int]) -> None:
    numbers = dict(Queue.objects.values_list("pk", "queue_id"))
    shares = shares_in(row=row, now=T0 + world.now)
    following = Round.objects.filter(group=row.group_id, number=row.number + 1).first()
    ends = [T0 + world.looked, row.closed_at, None if following is None else begin_of(following)]
    began, end = begin_of(row) - T0, min(each for each in ends if each is not None) - T0
    for pk, number in numbers.items():
        share = shares.get(pk, NOBODY)
        assert in_order(share.unowned, share.overlap), (row.number, number, share)
        assert share.unowned.low <= world.lasted(number, 0, world.now, surely=True), (row.number, number, share)
        assert share.overlap.low <= world.lasted(number, 0, world.now, two=True, surely=True), (
            row.number,
            number,
            share,
        )
        if (
            number in first
            and number < world.known_route
            and not share.is_doubted
            and not world.silent
            and not world.has_hidden
        ):
            least = world.lasted(number, max(began, first[number]), end)
            assert share.unowned.high >= least, (row.number, number, share, began, end, least)


def check_lane(world: World, lane: Lane) -> None:
    now = T0 + world.now
    (least, most), (both, _) = lane.unowned, lane.overlap
    begin_, end = lane.dropped[0] or 0, lane.taken[1] or now
    assert (least or 0) <= world.lasted(lane.queue_id, begin_ - T0, end - T0, surely=True), lane
    assert (both or 0) <= world.lasted(lane.queue_id, 0, world.now, two=True, surely=True), lane
    assert most is None or (least or 0) <= most, lane
    if most is not None and lane.dropped[1] is not None and lane.taken[0] is not None:
        # who was lost let go at ``dropped_at`` as a member
        assert most >= world.lasted(lane.queue_id, lane.dropped[1] - T0, lane.taken[0] - T0), lane


def check_pauses(world: World, group: Group) -> None:
    pauses = pauses_of(group=group, since=T0, now=T0 + world.now)
    for each in pauses.handoffs:
        number = int(each.queue.rsplit("/", 1)[1])
        assert (each.unowned.low or 0) <= world.lasted(number, 0, world.now, surely=True), each
        assert (each.overlap.low or 0) <= world.lasted(number, 0, world.now, two=True, surely=True), each
    none = sum(world.lasted(queue, 0, world.now, surely=True) for queue in range(QUEUES))
    two = sum(world.lasted(queue, 0, world.now, two=True, surely=True) for queue in range(QUEUES))
    for cost in (each.cost for each in pauses.rounds if each.cost is not None):
        assert cost.unowned.low <= none, cost
        assert cost.overlap.low <= two, cost


@pytest.mark.django_db
@the_same_luck(6)
@given(st.integers(0, 2**32))
def test_every_bound_of_any_true_history_holds_then_and_later(seed: int) -> None:
    live(seed)


@pytest.mark.django_db
@the_same_luck(6)
@given(st.integers(0, 2**32))
def test_every_bound_holds_of_what_nobody_had_before(seed: int) -> None:
    live(seed, world_with_what_nobody_had)


def live(seed: int, world_of: Callable[[Random], World] = any_world) -> None:
    """Let a world pass, and hold what is told of it against it again and again."""
    luck = Random(seed)
    Cluster.objects.all().delete()
    world = world_of(luck)
    group = begin(world)

    for _ in range(luck.choice([4, 8, 14])):
        for _ in range(luck.choice([1, 2, 4, 8])):
            world.passes()
        if luck.random() < 0.2:
            continue  # nobody looks
        look(world, group)
        world.passes()
        if luck.random() < 0.4:
            check(world, group)
    check(world, group)


@pytest.mark.django_db
@pytest.mark.parametrize("times", [MOST_ABSENCES + 1, MOST_ABSENCES + 5])
def test_what_nobody_had_is_told_no_longer_than_it_was_after_more_absences_than_are_kept(times: int) -> None:
    world = World(Random(0), missing=0)
    group = begin(world)

    def pass_ticks(*counts: int) -> None:
        for count in counts:
            for _ in range(count):
                world.stays()
            look(world, group)

    pass_ticks(2)
    world.has["B"].discard(3)
    pass_ticks(2)
    for _ in range(times):
        world.routed = 3
        pass_ticks(4)
        world.routed = 4
        pass_ticks(1, 2, 1)
    world.has["B"].add(3)
    pass_ticks(2)
    world.stays()

    check(world, group)
    now = T0 + world.now
    lately = lately_of(groups=[group.pk], now=now)[group.pk].unowned
    assert lately is not None
    kept = (MOST_ABSENCES - 1) * 3 * TICK_MS  # how long it was there between absences that are kept; looks bound it
    assert kept // 2 <= lately.low <= kept + 4 * TICK_MS
    assert min(share.unowned.low for share in shares_in(row=Round.objects.earliest("number"), now=now).values()) > 0
