from __future__ import annotations

import pytest
from django.test import Client

from dashboard.api.queues import Chosen, QueuesAsked, choose
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.push.messages import GroupState, Queues
from dashboard.push.publish import state_in, stored_state
from tests.dashboard.api.conftest import Get
from tests.dashboard.groups.recording.test_lag import BEGIN
from tests.dashboard.groups.recording.test_lag import behind as lagging
from tests.dashboard.groups.test_lag import tell
from tests.dashboard.story import T0, held, listed, missed, told


def test_queues_have_who_holds_and_who_should(get: Get, group: Group) -> None:
    rows = get(f"/groups/{group.pk}/queues")["rows"]

    assert [(row["queue_id"], row["held_by"], row["target"]) for row in rows] == [
        (0, ["A"], ["A"]),
        (1, ["A"], ["A"]),
        (2, ["B"], ["B"]),
        (3, ["C"], ["C"]),
    ]
    assert all(row["are_all_owners_known"] and row["lag"] is None and row["unknown"]["lag"] for row in rows)
    assert get(f"/groups/{group.pk}/queues", topic="elsewhere")["count"] == 0


def test_a_queue_that_a_silent_member_may_hold_is_not_said_to_have_nobody(get: Get, group: Group) -> None:
    told(held("A", 8_000, [0]), missed("B", 9_000))
    rebalance_once(group=group.pk, now=T0 + 9_100)

    row = get(f"/groups/{group.pk}/queues")["rows"][1]

    assert (row["held_by"], row["are_all_owners_known"]) == (None, False)
    assert row["unknown"]["held_by"] == "1 of 3 members do not tell what they hold"


def test_what_another_connection_of_a_members_id_may_hold_is_not_said_to_be_known(get: Get, group: Group) -> None:
    told(held("A", 8_000, [0]), listed(9_000, "A", "B", "B", "C"))
    rebalance_once(group=group.pk, now=T0 + 9_100)
    why = "1 of 3 members have several connections each, of which only one can be asked"

    free, of_one = get(f"/groups/{group.pk}/queues")["rows"][1:3]
    row = get(f"/groups/{group.pk}")
    member = get(f"/groups/{group.pk}/members")["rows"][1]

    assert (free["held_by"], free["are_all_owners_known"], free["unknown"]["held_by"]) == (None, False, why)
    assert (of_one["held_by"], of_one["are_all_owners_known"]) == (["B"], False)
    assert of_one["unknown"]["are_all_owners_known"] == why
    assert (row["partial"], row["orphans"], row["doubles"], row["unknown"]["doubles"]) == (1, None, None, why)
    assert (member["client_id"], member["registrations"], member["held"]) == ("B", 2, None)
    assert member["unknown"]["held"] == "2 connections have its client id, of which only one can be asked"


def test_what_is_known_of_a_queues_lag_is_not_said_to_be_unknown(get: Get, group: Group) -> None:
    tell(group, "east", 10, ["orders", 0, 0, None, None], ["orders", 1, 9, None, None])

    empty, uncommitted = get(f"/groups/{group.pk}/queues")["rows"][:2]

    assert (empty["lag"], "lag" in empty["unknown"], "committed" in empty["unknown"]) == (0, False, True)
    assert (uncommitted["lag"], "lag" in uncommitted["unknown"]) == (None, True)


def test_queues_have_who_held_them_at_a_past_instant(get: Get, group: Group) -> None:
    told(held("A", 8_000, [0]))
    rebalance_once(group=group.pk, now=T0 + 8_100)

    before = get(f"/groups/{group.pk}/queues", at=T0 + 8_099)["rows"]
    after = get(f"/groups/{group.pk}/queues", at=T0 + 8_100)["rows"]

    assert [row["held_by"] for row in before] == [["A"], ["A"], ["B"], ["C"]]
    assert [row["held_by"] for row in after] == [["A"], [], ["B"], ["C"]]
    assert before[0]["unknown"]["lag"] == "it is not kept of that instant"


def test_queues_have_how_far_they_were_behind_at_a_past_instant_where_it_is_kept(get: Get, group: Group) -> None:
    told(lagging(9_000, (9, 6), (9, 9)))
    told(lagging(25_000, (9, 9), (9, 9)))
    kept_at = BEGIN + 9_000

    before, then = (get(f"/groups/{group.pk}/queues", at=at)["rows"] for at in (kept_at - 1, BEGIN + 24_999))

    assert [(row["lag"], row["lag_at"]) for row in before] == [(None, None)] * 4
    assert [(row["lag"], row["lag_at"]) for row in then] == [(3, kept_at), (0, kept_at), (None, None), (None, None)]
    assert [("lag" in row["unknown"], "committed" in row["unknown"]) for row in then[1:3]] == [
        (False, True),
        (True, True),
    ]


@pytest.mark.parametrize(
    ("at", "status", "words"),
    [("soon", 400, "is no instant"), ("2999-01-01", 400, "is still to come"), ("5", 404, "at 5 is kept")],
)
def test_an_instant_of_which_nothing_can_be_told_is_refused(
    get: Get, client: Client, group: Group, at: str, status: int, words: str
) -> None:
    assert get(f"/groups/{group.pk}/queues")["count"] == 4

    answer = client.get(f"/api/v1/groups/{group.pk}/queues", {"at": at})

    assert answer.status_code == status
    assert words in answer.json()["problem"]


def test_a_queue_that_nobody_holds_has_nobody(get: Get, group: Group) -> None:
    told(held("A", 8_000, [0]))
    rebalance_once(group=group.pk, now=T0 + 8_100)

    assert get(f"/groups/{group.pk}/queues")["rows"][1]["held_by"] == []


@pytest.fixture
def wide(group: Group) -> GroupState:
    """The state of a group with ten queues more, on a broker of which half are gone."""
    state = state_in(stored_state(group=group.pk))
    assert state is not None
    return GroupState(
        head=state.head,
        queues=(*state.queues, Queues(topic="orders", broker="west", ids=(0, 2, 4, 3))),
        members=state.members,
        strays=(),
        faults=(),
    )


def places(chosen: Chosen) -> list[tuple[int, str, int]]:
    return [(number, broker, queue_id) for number, (_topic, broker, queue_id) in chosen.queues]


def test_only_the_queues_of_the_page_are_chosen_and_all_are_counted(wide: GroupState) -> None:
    first, second, last = (choose(wide, QueuesAsked(page=page, size=4)) for page in (1, 2, 3))

    assert [chosen.count for chosen in (first, second, last)] == [9, 9, 9]
    assert places(first) == [(0, "east", 0), (1, "east", 1), (2, "east", 2), (3, "east", 3)]
    assert places(second) == [(4, "west", 0), (5, "west", 1), (6, "west", 6), (7, "west", 7)]
    assert places(last) == [(8, "west", 8)]
    assert places(choose(wide, QueuesAsked(page=4, size=4))) == []


def test_the_queues_of_one_broker_keep_their_numbers(wide: GroupState) -> None:
    chosen = choose(wide, QueuesAsked(broker="west", page=2, size=3))

    assert (places(chosen), chosen.count) == ([(7, "west", 7), (8, "west", 8)], 5)
    assert choose(wide, QueuesAsked(topic="none")).count == 0


def test_a_page_of_queues_is_the_same_part_of_the_whole_list(get: Get, group: Group) -> None:
    tell(group, "east", 10, ["orders", 3, 9, 4, None], ["orders", 0, 9, 8, T0])

    whole = get(f"/groups/{group.pk}/queues")["rows"]
    second = get(f"/groups/{group.pk}/queues", page=2, size=3)

    assert [row["lag"] for row in whole] == [1, None, None, 5]
    assert (second["rows"], second["count"], second["pages"]) == (whole[3:], 4, 2)
