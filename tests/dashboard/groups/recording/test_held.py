from __future__ import annotations

import pytest

from dashboard.groups.models import Holding, RoundCause
from rebalance_engine.events import EXACT, Departure, DropReason, Exactness, QueueDropped, QueuePulled, QueueTaken
from tests.dashboard.story import REPORT, T0, held, joined, left, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def about(at: int, number: int = 0) -> dict:
    return {
        "at": T0 + at,
        "source": REPORT,
        "exactness": EXACT,
        "group": "g",
        "client": "A",
        "queue": queue(number),
    }


@pytest.fixture(autouse=True)
def member(cluster: object) -> None:
    assert cluster
    told(route(4), *seen("A"), held("A", 1_000, []))


def test_a_report_of_taking_a_queue_replaces_the_bounds_of_a_look() -> None:
    told(held("A", 3_000, [0]))
    told(QueueTaken(**about(2_100)))

    span = Holding.objects.get()
    assert (span.at_low, span.at, span.at_high, span.origin) == (T0 + 2_100, T0 + 2_100, T0 + 2_100, "agent report")


def test_nobody_owns_a_queue_that_is_popped() -> None:
    assert told(QueueTaken(**about(2_100), is_shared=True)).facts == 0

    assert not Holding.objects.exists()


def test_a_look_after_a_report_changes_nothing() -> None:
    told(QueueTaken(**about(2_100)))

    assert told(held("A", 3_000, [0])).facts == 0
    assert Holding.objects.get().at_low == T0 + 2_100


def test_a_report_of_dropping_a_queue_replaces_the_bounds_even_after_the_look() -> None:
    told(held("A", 3_000, [0]), held("A", 5_000, []))
    told(QueueDropped(**about(4_200), reason=DropReason.NOT_IN_TARGET))

    span = Holding.objects.get()
    assert (span.until_low, span.until, span.until_high) == (T0 + 4_200, T0 + 4_200, T0 + 4_200)
    assert (span.reason, span.until_origin) == ("not in target", "agent report")


def test_a_drop_and_a_take_between_two_looks_are_two_spans() -> None:
    told(held("A", 3_000, [0]))
    told(QueueDropped(**about(3_500), reason=DropReason.NOT_IN_TARGET), QueueTaken(**about(3_600)))
    told(held("A", 5_000, [0]))

    assert Holding.objects.count() == 2
    assert Holding.objects.filter(until=None).get().at == T0 + 3_600


def test_a_bound_that_is_no_instant_is_unknown() -> None:
    odd = about(2_100) | {"exactness": Exactness.between(-5, 2**62)}
    told(QueueTaken(**odd), QueueDropped(**(odd | {"at": T0 + 2_200}), reason=DropReason.UNKNOWN))

    span = Holding.objects.get()
    assert (span.at_low, span.at, span.at_high, span.until) == (T0 + 2_100, T0 + 2_100, None, T0 + 2_200)


def test_a_pull_from_before_a_span_is_known_to_have_begun_is_none_of_it() -> None:
    told(QueueTaken(**about(2_100) | {"exactness": Exactness.between(T0 + 2_000, T0 + 2_900)}))
    told(QueuePulled(**about(2_300)))
    told(QueueTaken(**about(2_500)))

    span = Holding.objects.get()
    assert (span.at, span.first_pull_at) == (T0 + 2_500, None)


def test_the_first_pull_is_the_earliest() -> None:
    told(QueueTaken(**about(2_000)), QueuePulled(**about(2_400)))
    told(QueuePulled(**about(2_300)), QueuePulled(**about(2_900)))

    assert Holding.objects.get().first_pull_at == T0 + 2_300


def ends() -> set[tuple[int | None, int | None, int | None, str | None]]:
    columns = ("until_low", "until", "until_high", "reason")
    return {
        (low and low - T0, until and until - T0, high and high - T0, reason)
        for low, until, high, reason in Holding.objects.values_list(*columns)
    }


def test_who_is_lost_may_have_let_go_any_time_after_the_last_look_or_not_yet() -> None:
    told(held("A", 3_000, [0, 1]))
    told(left("A", 120_000, Departure.HEARTBEAT_EXPIRED))

    assert ends() == {(3_000, 120_000, None, "lost")}


def test_who_says_good_bye_had_let_go_by_then() -> None:
    told(held("A", 3_000, [0, 1]))
    told(left("A", 9_000, Departure.UNREGISTERED))

    assert ends() == {(3_000, 9_000, 9_000, "stopped")}


def test_a_report_that_somebody_had_said_good_bye_bounds_what_looks_left_open() -> None:
    told(held("A", 3_000, [0, 1]))
    told(left("A", 9_000))
    assert ends() == {(3_000, 9_000, None, "unknown")}
    RoundCause.objects.update(at_low=T0 + 8_000)  # between two looks

    told(left("A", 8_500, Departure.UNREGISTERED))

    assert ends() == {(3_000, 8_500, 8_500, "stopped")}


def test_who_comes_back_had_what_it_does_not_have_now_until_it_tells_at_most() -> None:
    told(held("A", 3_000, [0, 1]))
    told(left("A", 120_000, Departure.HEARTBEAT_EXPIRED))
    told(joined("A", 150_000, low=149_000), held("A", 151_000, []))

    assert ends() == {(3_000, 120_000, 151_000, "lost")}


def test_who_was_lost_may_tell_later_that_it_let_go_later_when_it_was_no_owner_any_more() -> None:
    told(held("A", 3_000, [0]))
    told(left("A", 120_000, Departure.HEARTBEAT_EXPIRED))

    told(QueueDropped(**about(140_000), reason=DropReason.NOT_IN_TARGET))

    assert ends() == {(3_000, 120_000, 140_000, "not in target")}


def test_who_takes_again_what_a_look_saw_it_hold_had_it_until_then() -> None:
    told(QueueTaken(**about(2_000)), held("A", 60_000, [0]))
    told(QueueTaken(**about(90_000)))
    told(held("A", 93_000, [0], asked=91_500), QueueTaken(**about(92_000)))  # who answered that look was the new one

    first, second, third = Holding.objects.order_by("at")
    assert (first.until_low, first.until, first.until_high) == (T0 + 60_000, T0 + 90_000, T0 + 90_000)
    assert (second.until_low, second.until, third.until) == (T0 + 90_000, T0 + 92_000, None)


def test_what_was_taken_and_dropped_in_one_batch_is_stored_as_one_span_that_ended() -> None:
    told(QueueTaken(**about(2_000)), QueueDropped(**about(2_500), reason=DropReason.STOPPED))

    span = Holding.objects.get()
    assert (span.at, span.until) == (T0 + 2_000, T0 + 2_500)


def test_a_look_from_before_a_take_that_was_reported_does_not_end_it() -> None:
    told(QueueTaken(**about(3_500)))
    told(held("A", 3_000, []))

    span = Holding.objects.get()
    assert (span.at, span.until) == (T0 + 3_500, None)


def test_a_look_from_before_a_drop_that_was_reported_does_not_take_the_queue_again() -> None:
    told(held("A", 2_000, [0]))
    told(QueueDropped(**about(3_500), reason=DropReason.NOT_IN_TARGET))
    told(held("A", 3_000, [0]))

    span = Holding.objects.get()
    assert (span.at, span.until) == (T0 + 2_000, T0 + 3_500)


def test_an_answer_that_was_asked_for_before_a_drop_does_not_take_the_queue_again() -> None:
    told(held("A", 2_000, [0]))
    told(QueueDropped(**about(3_500), reason=DropReason.NOT_IN_TARGET))
    told(held("A", 3_700, [0], asked=3_000))

    span = Holding.objects.get()
    assert (span.at, span.until) == (T0 + 2_000, T0 + 3_500)


def test_an_answer_that_was_asked_for_before_a_drop_of_the_same_batch_does_not_take_the_queue_again() -> None:
    told(held("A", 2_000, [0]))
    told(QueueDropped(**about(3_500), reason=DropReason.NOT_IN_TARGET), held("A", 3_700, [0], asked=3_000))

    span = Holding.objects.get()
    assert (span.at, span.until) == (T0 + 2_000, T0 + 3_500)


def test_an_answer_may_show_a_queue_that_was_taken_and_dropped_while_it_was_under_way() -> None:
    told(QueueTaken(**about(3_200)), QueueDropped(**about(3_500), reason=DropReason.NOT_IN_TARGET))
    told(held("A", 3_700, [0], asked=3_000))

    span = Holding.objects.get()
    assert (span.at, span.until) == (T0 + 3_200, T0 + 3_500)


def test_an_answer_that_was_asked_for_before_a_take_does_not_end_it() -> None:
    told(QueueTaken(**about(3_500)))
    told(held("A", 3_700, [], asked=3_000))

    span = Holding.objects.get()
    assert (span.at, span.until) == (T0 + 3_500, None)


def test_an_answer_that_was_asked_for_after_a_take_ends_it_and_after_a_drop_takes_it_again() -> None:
    told(QueueTaken(**about(3_500)), held("A", 3_900, [], asked=3_600))
    ended = Holding.objects.get()
    assert (ended.until_low, ended.until) == (T0 + 3_500, T0 + 3_900)

    told(held("A", 5_000, [0], asked=4_500))
    assert Holding.objects.get(until=None).at == T0 + 5_000


def test_a_report_of_an_earlier_life_takes_nothing_in_this_one() -> None:
    told(held("A", 3_000, []), left("A", 20_000), joined("A", 30_000, low=25_000), held("A", 31_000, []))

    assert told(QueueTaken(**about(15_000))).facts == 0
    assert not Holding.objects.exists()

    told(QueueTaken(**about(32_000)))
    assert Holding.objects.get().at == T0 + 32_000
