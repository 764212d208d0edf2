from dataclasses import replace

import pytest

from dashboard.clusters.models import OutboxLine
from dashboard.groups.handoffs import Story
from dashboard.groups.models import Group, Handoff, Round
from dashboard.groups.pairing import Instant
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.settling import settle, show_latest
from dashboard.push.models import Step
from dashboard.push.publish import group_state
from rebalance_engine.eventlog import read
from rebalance_engine.events import RoundClosed
from rebalance_engine.rounds import SAME_CAUSE_MS
from tests.dashboard.story import T0, held, joined, left, missed, queue, route, seen, subscribes, told
from tests.dashboard.test_arrivals import dropped, taken

pytestmark = pytest.mark.usefixtures("cluster")


def rebalance(at: int) -> Group:
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + at)
    return group


def counts() -> list[int | None]:
    return list(Round.objects.order_by("number").values_list("move_count", flat=True))


def test_how_many_queues_are_to_move_is_unknown_where_nothing_was_shown_before() -> None:
    told(route(4), *seen("A"), joined("B", 5_000))
    rebalance(5_100)

    assert counts() == [None]
    assert Group.objects.get().round_moves is None


def test_a_round_that_began_before_anything_was_shown_counts_the_queues_that_changed_owner() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]), joined("B", 5_000))
    rebalance(5_100)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]))
    group = rebalance(6_100)

    assert counts() == [2] == [Handoff.objects.count()]
    state = group_state(group=group.pk)
    assert state is not None
    assert state.head.round is not None
    assert (state.head.round.moves, Group.objects.get().round_moves) == (2, 2)


def test_a_superseded_round_counts_its_own_queues() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000), held("B", 5_100, []))
    rebalance(5_200)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), left("B", 10_000))
    rebalance(10_100)

    assert counts() == [2, 2]  # one of them nobody has taken yet; two are to go back


def test_a_superseded_round_in_which_somebody_did_not_answer_counts_nothing() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000), missed("A", 5_500))
    rebalance(5_600)
    told(joined("C", 10_000))
    rebalance(10_100)

    assert counts()[0] is None


def test_who_is_first_seen_with_queues_may_have_had_them_before_and_how_many_changed_owner_is_unknown() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]))
    rebalance(20)
    told(joined("C", 5_000, low=4_000))
    rebalance(5_100)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, [3]))
    rebalance(6_100)

    assert Round.objects.get().state == "closed"
    assert (counts(), Group.objects.get().round_moves) == ([None], None)
    [line] = OutboxLine.objects.filter(line__contains='"event":"RoundClosed"')
    fact = read(line.line)
    assert isinstance(fact, RoundClosed)
    assert fact.moves is None


def test_who_is_first_seen_with_nothing_takes_what_it_has_later() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1, 2, 3]), held("B", 10, []))
    rebalance(20)
    told(left("A", 5_000), held("B", 6_000, [0, 1, 2, 3]))
    rebalance(6_100)

    assert counts() == [4]


def test_a_queue_that_comes_with_a_round_gets_its_first_owner_and_changes_none() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    retry = route(1, 6_000, topic="%RETRY%g")
    told(
        joined("B", 5_000),
        held("B", 5_100, []),
        retry,
        *(subscribes(each, 6_000, "orders", retry.topic) for each in "AB"),
    )
    rebalance(6_100)
    to_move = counts()
    told(
        held("B", 7_000, [2, 3]), replace(held("A", 7_000, [0, 1]), queues=(*map(queue, (0, 1)), queue(0, retry.topic)))
    )
    rebalance(7_100)

    assert (to_move, counts()) == ([2], [2])
    assert Handoff.objects.get(topic=retry.topic).to_client == "A"


@pytest.mark.parametrize("late", [1_000, 59_000, 61_000, 300_000])
def test_a_queue_gets_its_first_owner_however_long_that_takes(late: int) -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(route(5, 6_000))
    rebalance(6_100)
    told(held("A", 6_000 + late - 500, [0, 1, 2, 3]), held("A", 6_000 + late, [0, 1, 2, 3, 4]))
    rebalance(6_100 + late)

    assert counts() == [0]
    assert Handoff.objects.get().to_client == "A"


@pytest.mark.parametrize("late", [1_000, 61_000])
def test_a_queue_that_had_owners_before_its_broker_went_gets_no_first_one_when_it_is_back(late: int) -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, [1]))
    rebalance(20)
    told(route(1, 6_000), held("A", 7_000, [0]), held("B", 7_000, []))
    rebalance(7_100)
    told(route(2, 400_000))
    rebalance(400_100)
    told(held("A", 399_500 + late, [0]), held("B", 399_500 + late, []))
    told(held("A", 400_000 + late, [0]), held("B", 400_000 + late, [1]))
    rebalance(400_100 + late)

    assert counts()[-1] == 1


def test_browsers_get_a_round_as_it_is_told_only_where_they_saw_it_otherwise() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000), held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]))
    group = rebalance(6_100)
    steps = Step.objects.count()

    show_latest(group=group.pk, now=T0 + 6_200)
    assert Step.objects.count() == steps

    Round.objects.update(move_count=1)
    show_latest(group=group.pk, now=T0 + 6_300)
    assert Step.objects.count() == steps + 2  # of the group, and of the overview


def took(number: int = 1) -> tuple[int | None, int | None]:
    row = Round.objects.get(number=number)
    return row.took_low, row.took_high


def test_a_round_took_at_least_from_its_first_drop_to_its_last_take_where_members_report_these() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(dropped("A", 5_713, 2), dropped("A", 5_800, 3), joined("B", 6_500, low=2_876))
    rebalance(6_510)
    told(taken("B", 6_500, 2), taken("B", 6_676, 3), held("A", 7_000, [0, 1]), held("B", 7_000, [2, 3]))
    rebalance(7_100)

    row = Round.objects.get()
    assert (row.opened_at, row.closed_at) == (T0 + 5_713, T0 + 6_676)
    assert took() == (6_676 - 5_713, 6_676 - 2_876)


def test_a_look_that_saw_the_end_bounds_how_long_a_round_took_though_its_cause_is_exact() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000), held("B", 5_100, []), held("A", 5_100, [0, 1, 2, 3]))
    rebalance(5_200)
    told(held("A", 8_000, [0, 1]), held("B", 8_000, [2, 3]))
    rebalance(8_100)

    assert took() == (100, 3_000)


def test_a_superseded_round_took_at_least_until_what_superseded_it_may_have_come() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000, low=4_000), held("B", 5_100, []))
    rebalance(5_200)
    told(joined("C", 15_000, low=12_000))
    rebalance(15_100)

    assert took() == (7_000, 11_000)
    assert took(2) == (None, None)


def test_a_round_of_which_only_the_beginning_is_unknown_took_at_least_as_long_as_its_queues_moved() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000), held("B", 5_100, []), held("A", 5_100, [0, 1, 2, 3]))
    rebalance(5_200)
    told(held("A", 8_000, [0, 1]), held("B", 8_000, [2, 3]))
    rebalance(8_100)

    Round.objects.update(opened_low=None)
    assert took() == (100, None)
    Round.objects.update(lasted_low=0)
    assert took() == (None, None)


def test_what_was_before_a_round_may_have_begun_is_none_of_its_time() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 105_000, low=104_000), held("B", 105_100, []), held("A", 105_100, [0, 1, 2, 3]))
    rebalance(105_200)
    told(held("A", 108_000, [0, 1]), held("B", 108_000, [2, 3]))
    rebalance(108_100)
    row = Round.objects.get()
    silent = Instant(T0 + 20_000, T0 + 19_000, T0 + 20_000)  # let go by a member that told nothing since
    story = Story(queue(2), "A", "B", silent, None, None, None, None)

    settle(row, [story], since=T0 + 104_000 - SAME_CAUSE_MS, is_over=True)
    assert took() == (100, 4_000)

    settle(row, [story], since=T0, is_over=True)
    assert took() == (85_100, 85_100)
