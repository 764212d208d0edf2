"""C joins A and B, which have two queues each, and takes 3 from B: both tell it themselves, with their offsets."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.test import Client

from dashboard.api.round_shapes import KEPT_STILL
from dashboard.groups.ending import tell_again
from dashboard.groups.lane import Lane
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Holding, Round
from dashboard.groups.paragraph import _consumed_twice
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.twice import MOST_SHOWN, Totals, Twice, _beyond, add_up, count_told, twice_in
from dashboard.people.roles import Role
from rebalance_engine.events import EXACT, DropReason, Fact, QueueDropped, QueueTaken
from tests.dashboard.persons import person
from tests.dashboard.story import REPORT, T0, held, joined, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def dropped(client: str, at: int, committed: int | None, number: int = 3) -> QueueDropped:
    return QueueDropped(
        at=T0 + at,
        source=REPORT,
        exactness=EXACT,
        group="g",
        client=client,
        queue=queue(number),
        reason=DropReason.NOT_IN_TARGET,
        committed_offset=committed,
    )


def taken(client: str, at: int, start: int | None, number: int = 3) -> QueueTaken:
    return QueueTaken(
        at=T0 + at,
        source=REPORT,
        exactness=EXACT,
        group="g",
        client=client,
        queue=queue(number),
        start_offset=start,
    )


def join(*words: Fact, kept: Sequence[int] = (2,)) -> Round:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    group = Group.objects.get(name="g")
    rebalance_once(group=group.pk, now=T0 + 20)
    told(joined("C", 5_000, low=4_000), *seen("C", 5_000)[1:])
    rebalance_once(group=group.pk, now=T0 + 5_050)
    told(*words)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, kept), held("C", 6_500, [3]))
    rebalance_once(group=group.pk, now=T0 + 6_600)
    return Round.objects.get()


def totals(row: Round) -> Totals:
    lanes = lanes_of(row, now=T0 + 10_000)
    return add_up(lanes=lanes, known=twice_in(row=row, lanes=lanes).values())


@pytest.mark.parametrize("is_late", [False, True], ids=["the old one first", "the new one first"])
def test_what_lies_between_where_one_went_on_and_the_other_had_got_to_was_consumed_by_both(*, is_late: bool) -> None:
    words = [dropped("B", 5_200, 130), taken("C", 5_100, 120)]

    row = join(*(reversed(words) if is_late else words))

    found = totals(row)
    [twice] = found.rows
    assert (twice.lane.from_client, twice.lane.to_client, twice.lane.queue_id) == ("B", "C", 3)
    assert (twice.first, twice.last, twice.count) == (120, 129, 10)
    assert (found.count, found.known, found.unknown) == (10, 1, 0)


def test_who_goes_on_where_the_other_ended_consumes_none_of_it_again() -> None:
    found = totals(join(dropped("B", 5_100, 130), taken("C", 5_200, 130)))

    assert (found.rows, found.count, found.known, found.unknown) == ((), 0, 1, 0)


@pytest.mark.parametrize(
    "words",
    [
        (),
        (dropped("B", 5_100, 130),),
        (taken("C", 5_200, 120),),
        (dropped("B", 5_100, None), taken("C", 5_200, 120)),
        (dropped("B", 5_100, 130), taken("C", 5_200, None)),
    ],
    ids=["nobody", "the old one", "the new one", "nothing committed", "nowhere to begin"],
)
def test_what_not_both_told_is_unknown(words: tuple[Fact, ...]) -> None:
    found = totals(join(*words))

    assert (found.rows, found.count, found.known, found.unknown) == ((), None, 0, 1)


def test_a_report_that_comes_after_the_looks_fills_in_the_offsets() -> None:
    row = join()
    told(dropped("B", 5_900, 130), taken("C", 6_100, 126))
    row.refresh_from_db()

    spans = Holding.objects.filter(queue__queue_id=3)
    offsets = spans.values_list("member__client_id", "start_offset", "committed_offset")
    assert sorted(offsets) == [("B", None, 130), ("C", 126, None)]


def test_the_most_come_first_and_a_page_has_room_for_some() -> None:
    lanes = [Lane("t", "b", n, "A", "B", 1, 2, 3, (0, 0), (0, 0), False) for n in range(MOST_SHOWN + 2)]

    found = add_up(lanes=lanes, known=[Twice(lane, 5, 5 + lane.queue_id) for lane in lanes])

    assert (found.rows[0].count, len(found.rows), len(found.shown)) == (MOST_SHOWN + 1, MOST_SHOWN + 1, MOST_SHOWN)


def test_the_page_of_the_round_and_the_api_tell_each(client: Client) -> None:
    row = join(dropped("B", 5_200, 130), taken("C", 5_100, 120))
    client.force_login(person(Role.VIEWER))

    page = client.get(f"/groups/{row.group_id}/rounds/1/").content.decode()
    said = client.get(f"/api/v1/groups/{row.group_id}/rounds/1").json()
    [move] = client.get(f"/api/v1/groups/{row.group_id}/rounds/1/moves").json()["rows"]

    assert "At least 10 messages were consumed twice." in page
    assert "At least 10 messages were consumed twice." in said["sentence"]
    assert (said["twice"], said["twice_unknown"]) == (10, 0)
    assert (move["twice"], move["twice_first"]) == (10, 120)


def test_what_the_old_owner_has_still_is_known_when_it_lets_go_and_page_api_and_paragraph_say_so(
    client: Client,
) -> None:
    row = join(taken("C", 5_100, 120), kept=(2, 3))
    assert [lane.is_shared for lane in lanes_of(row, now=T0 + 10_000)] == [True]
    client.force_login(person(Role.VIEWER))

    def said() -> tuple[str, dict[str, str], dict[str, str]]:
        page = client.get(f"/groups/{row.group_id}/rounds/1/").content.decode()
        one = client.get(f"/api/v1/groups/{row.group_id}/rounds/1").json()
        [move] = client.get(f"/api/v1/groups/{row.group_id}/rounds/1/moves").json()["rows"]
        return page, one["unknown"], move["unknown"]

    page, unknown, of_move = said()
    assert "stock clients report none" in unknown["twice"] and "until B lets go" not in page  # B never reported

    Holding.objects.filter(member__client_id="B", queue__queue_id=2).update(start_offset=7)
    page, unknown, of_move = said()
    assert "Not known yet in 1 handoff" in page and "not both members report" not in page
    assert "Whether messages of 1 queue were consumed twice is not known until B lets go." in page
    assert unknown["twice"] == of_move["twice"] == KEPT_STILL


def test_that_more_may_have_come_twice_stands_behind_what_did() -> None:
    known = {"twice": 158, "twice_awaited": 2, "twice_keepers": "A"}

    assert list(_consumed_twice(known)) == [
        "At least 158 messages were consumed twice.",
        "It may be more: of 2 queues that is not known until A lets go.",
    ]
    assert list(_consumed_twice({"twice": 158})) == ["At least 158 messages were consumed twice."]


def test_where_nobody_tells_page_and_api_say_unknown_and_no_number(client: Client) -> None:
    row = join()
    client.force_login(person(Role.VIEWER))

    page = client.get(f"/groups/{row.group_id}/rounds/1/").content.decode()
    said = client.get(f"/api/v1/groups/{row.group_id}/rounds/1").json()
    [move] = client.get(f"/api/v1/groups/{row.group_id}/rounds/1/moves").json()["rows"]

    assert "Unknown in 1 handoff" in page and "messages were consumed twice" not in page
    assert (said["twice"], said["twice_unknown"], move["twice"]) == (None, 1, None)
    assert "stock clients report none" in said["unknown"]["twice"] and "twice" in move["unknown"]


def test_the_group_has_the_sum_of_its_rounds_and_a_round_that_is_told_again_adds_only_what_is_new() -> None:
    row = join(dropped("B", 5_200, 130), taken("C", 5_100, 120))
    assert (row.twice, row.group.duplicate_messages) == (10, 10)
    Group.objects.update(duplicate_messages=15)  # with those of an earlier round

    for committed, known in ((133, 13), (133, 13), (125, 13)):
        Holding.objects.filter(member__client_id="B", committed_offset__isnull=False).update(committed_offset=committed)
        row.refresh_from_db()
        count_told(row)

        row.refresh_from_db()
        assert (row.twice, Group.objects.get().duplicate_messages) == (known, 5 + known)


def test_a_taking_that_is_told_again_in_a_later_round_is_counted_once() -> None:
    row = join(dropped("B", 5_200, 130), taken("C", 5_100, 120))

    for number, committed, known in ((2, 130, 10), (3, 134, 14), (4, 128, 14)):
        Holding.objects.filter(member__client_id="B", committed_offset__isnull=False).update(committed_offset=committed)
        later = told_once_more(row, number)

        assert (later.twice, Group.objects.get().duplicate_messages) == (committed - 120, known)


def told_once_more(row: Round, number: int) -> Round:
    """The same handoffs in a later round, as where who had let go takes it back, and drops it again."""
    handoffs = list(row.handoffs.all())
    later = Round.objects.get(pk=row.pk)
    later.pk, later.number, later.wave, later.twice = None, number, number, None
    later.save(force_insert=True)
    for each in handoffs:
        each.pk, each.round = None, later
        each.save(force_insert=True)
    count_told(later)
    later.refresh_from_db()
    return later


@pytest.mark.parametrize(
    ("counted", "beyond"),
    [
        ([], 10),
        ([(5, 20)], 0),
        ([(10, 14), (12, 16)], 4),
        ([(18, 30), (0, 12)], 6),
        ([(13, 15)], 8),
        ([(0, 10), (20, 30)], 10),
    ],
)
def test_offsets_that_were_counted_are_not_counted_again(counted: list[tuple[int, int]], beyond: int) -> None:
    lane = Lane("t", "b", 0, "A", "B", 1, 2, 3, (0, 0), (0, 0), is_waiting=False)

    assert _beyond(Twice(lane, 10, 20), counted) == beyond


def test_what_is_reported_after_the_end_of_a_round_counts_too() -> None:
    row = join(dropped("B", 5_200, 130))
    assert (row.twice, row.group.duplicate_messages) == (None, None)

    told(taken("C", 5_100, 120), at=7_000)
    assert tell_again(group=row.group_id, since=T0 + 5_100, until=T0 + 5_100, now=T0 + 7_000) == 1
    rebalance_once(group=row.group_id, now=T0 + 7_100)

    assert Round.objects.get().twice == Group.objects.get().duplicate_messages == 10


def test_of_a_group_of_which_nobody_reports_offsets_it_stays_unknown() -> None:
    row = join()

    assert (row.told_at is not None, row.twice, row.group.duplicate_messages) == (True, None, None)


@pytest.mark.parametrize(("pulled", "apart"), [(None, None), (5_150, None), (5_300, 100)])
def test_what_came_again_after_it_was_let_go_is_that_far_apart_at_least(pulled: int | None, apart: int | None) -> None:
    lane = Lane("t", "b", 0, "A", "B", 5_200, 5_100, pulled, (0, 0), (100, 100), is_waiting=False)

    assert Twice(lane, 120, 130).apart_low == apart
