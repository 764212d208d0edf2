"""Closer times that come later: by a report, or by a look after a report."""

from __future__ import annotations

import pytest

from dashboard.groups.models import Group, Member, Round, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.recording.book import GroupBook
from rebalance_engine.events import EXACT, Departure, MemberJoined, MemberLeft, MemberListSeen, Origin, Source
from tests.dashboard.story import EAST, REPORT, T0, held, joined, left, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def settle() -> None:
    """A is a member, alone, as the broker lists."""
    listed = MemberListSeen(at=T0, source=EAST, exactness=EXACT, group="g", broker="east", clients=("A",))
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]), listed)
    turn(20)


def reported(client: str, at: int) -> MemberJoined:
    return MemberJoined(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client=client)


def left_exactly(at: int, departure: Departure) -> MemberLeft:
    return MemberLeft(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client="A", departure=departure)


def cause() -> tuple[str, str, int | None, int, int | None]:
    row = RoundCause.objects.get()
    return row.cause, row.evidence, row.at_low, row.at, row.at_high


def test_a_report_says_when_somebody_came_of_whom_nobody_knew_and_the_round_begins_then() -> None:
    settle()
    told(*seen("B", 5_000))
    turn(5_100)
    unknown = Round.objects.get()
    assert (unknown.opened_low, unknown.opened_at) == (None, T0 + 5_000)
    assert cause()[1:3] == ("B is a member now, and was in no broker's list before; when it came is unknown", None)

    told(reported("B", 3_700))
    turn(5_200)

    at = T0 + 3_700
    row, member = Round.objects.get(), Member.objects.get(client_id="B")
    assert cause() == ("member joined", "B joined", at, at, at)
    assert (row.opened_low, row.opened_at, Group.objects.get().round_opened_at) == (at, at, at)
    assert (member.at_low, member.at) == (at, at)


def test_a_look_gives_its_lower_bound_to_what_a_report_was_the_first_to_tell() -> None:
    settle()
    told(*seen("B", 5_000))

    told(joined("B", 9_000, low=2_000))
    turn(9_100)

    assert cause() == ("member joined", "B joined", T0 + 2_000, T0 + 5_000, T0 + 5_000)
    row = Round.objects.get()
    assert (row.opened_low, row.opened_at) == (T0 + 2_000, T0 + 5_000)


def test_a_cause_that_gets_its_round_while_a_closer_time_is_stored_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    settle()
    told(joined("B", 5_000, low=4_000))
    write = GroupBook.write

    def write_later(book: GroupBook) -> None:
        turn(5_100)
        write(book)

    monkeypatch.setattr(GroupBook, "write", write_later)
    told(reported("B", 4_700))

    kept = RoundCause.objects.get()
    assert (kept.round, kept.at) == (Round.objects.get(), T0 + 4_700)


def test_what_contradicts_is_not_taken() -> None:
    told(joined("A", 1_000, low=500))

    told(reported("A", 400), reported("A", 1_001))

    assert (Member.objects.get().at_low, Member.objects.get().at) == (T0 + 500, T0 + 1_000)


def test_a_round_that_is_over_gets_its_beginning_too_but_not_before_the_end_of_the_one_before() -> None:
    settle()
    told(joined("B", 5_000, low=4_000), held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]))
    turn(6_100)
    told(joined("C", 20_000, low=1_000))
    turn(20_100)

    told(reported("C", 5_500))

    first, second = Round.objects.order_by("number")
    assert (first.closed_at, second.opened_low, second.opened_at) == (T0 + 6_000, T0 + 5_500, T0 + 6_000)


def test_a_report_tells_how_and_when_somebody_left_of_whom_a_look_only_saw_that_he_is_gone() -> None:
    settle()
    told(left("A", 5_000))
    turn(5_100)
    assert cause()[:2] == ("member left", "A left: whether cleanly or lost is unknown")
    RoundCause.objects.update(at_low=T0 + 4_000)

    told(left_exactly(4_500, Departure.UNREGISTERED))

    at = T0 + 4_500
    assert cause() == ("member left", "A left cleanly, as it reported", at, at, at)
    row, member = Round.objects.get(), Member.objects.get()
    assert (row.opened_at, member.left_at, member.departure) == (at, at, "unregistered")


def test_a_report_of_an_earlier_life_says_nothing_of_this_departure() -> None:
    settle()
    told(left("A", 5_000))
    RoundCause.objects.update(at_low=T0 + 4_000)

    told(left_exactly(3_000, Departure.UNREGISTERED))

    assert cause()[1] == "A left: whether cleanly or lost is unknown"


def test_a_heartbeat_that_expired_as_time_tells_says_by_what() -> None:
    settle()
    silence = "it had answered nothing for 121 s, and was listed all the time"
    by_time = Source(origin=Origin.DERIVED, broker="east", detail=silence)

    told(
        MemberLeft(
            at=T0 + 200_000,
            source=by_time,
            exactness=EXACT,
            group="g",
            client="A",
            departure=Departure.HEARTBEAT_EXPIRED,
        )
    )

    assert cause()[:2] == ("heartbeat expired", f"A left: heartbeat expired, as time tells: {silence}")
