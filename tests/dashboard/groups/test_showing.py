import pytest

from dashboard.groups.models import Finding, Group, Round
from dashboard.groups.queries import look_at
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.showing import converged, count_orphans, number_queues, row_of, said_by_all
from dashboard.groups.words import state_of
from dashboard.push.messages import Queues
from dashboard.push.publish import group_state
from rebalance_engine.events import EXACT, MemberListSeen, QueueTaken, SubscriptionsSeen
from tests.dashboard.story import (
    EAST,
    ORDERS,
    REPORT,
    T0,
    held,
    joined,
    listed,
    missed,
    queue,
    route,
    seen,
    told,
    uses,
)

pytestmark = pytest.mark.usefixtures("cluster")


def test_queues_are_numbered_broker_by_broker() -> None:
    told(route(2), route(3, topic="bills", broker="west"), *seen("A"))
    look = look_at(group=Group.objects.get())
    assert number_queues(look) == (Queues("orders", "east", (0, 2)),)


def test_a_strategy_that_all_members_say_is_named_though_its_target_cannot_be_known() -> None:
    told(route(2), *seen("A"), *seen("B"), uses("A", 5, "CONFIG"))
    group = Group.objects.get()
    assert said_by_all(look_at(group=group).members) == "mixed: AVG, CONFIG"

    told(uses("B", 6, "CONFIG"))
    rebalance_once(group=group.pk, now=T0 + 20)

    state = group_state(group=group.pk)
    assert state is not None
    assert (state.head.strategy, state.head.is_target_known) == ("CONFIG", False)
    group.refresh_from_db()
    assert group.strategy == row_of(group).strategy == "CONFIG"


def test_orphans_are_unknown_while_an_answer_is_missing() -> None:
    told(route(2), *seen("A"), held("A", 10, [0]))
    group = Group.objects.get()
    assert count_orphans(look_at(group=group)) == 1

    told(missed("A", 20))

    assert count_orphans(look_at(group=group)) is None


def test_that_no_queue_is_unowned_or_owned_twice_is_not_known_by_looks_from_before_the_last_change() -> None:
    told(route(2), *seen("A"), *seen("B"), listed(0, "A", "B"), held("A", 10, [0]), held("B", 10, [1]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    assert figures(group) == (0, 0, True, "held as wanted")

    told(joined("C", 5_000), held("C", 5_100, []))
    rebalance_once(group=group.pk, now=T0 + 5_200)
    assert figures(group) == (None, None, None, "unknown who holds what since the last change")

    told(held("A", 5_300, [0]), held("B", 5_300, [1]))
    rebalance_once(group=group.pk, now=T0 + 5_400)
    assert figures(group)[:2] == (0, 0)


def test_what_should_be_held_may_be_unknown_though_it_is_known_what_is() -> None:
    told(route(2), *seen("A"), uses("A", 5, "CONFIG"), held("A", 10, [0, 1]))
    group = Group.objects.get()

    rebalance_once(group=group.pk, now=T0 + 20)

    assert figures(group) == (0, 0, None, "unknown who should have what")


def test_members_of_whom_one_divides_by_a_class_of_its_own_are_named_and_what_they_hold_is_known() -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, [1]))
    told(uses("B", 20, "com.shop.Mine"), held("A", 30, [0]), held("B", 30, [1]))
    group = Group.objects.get()

    rebalance_once(group=group.pk, now=T0 + 40)

    assert figures(group) == (0, 0, None, "unknown who should have what")
    assert row_of(group).strategy == "mixed: AVG, com.shop.Mine"


def test_a_change_that_no_rebalance_has_seen_leaves_it_open_whether_all_is_held_as_wanted() -> None:
    told(route(2), *seen("A"), held("A", 10, [0, 1]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)

    told(joined("B", 5_000))

    assert figures(group) == (0, 0, None, "a newer change is being computed")


def figures(group: Group) -> tuple[int | None, int | None, bool | None, str]:
    """Give what the overview's row says."""
    group.refresh_from_db()
    row = row_of(group)
    return row.orphans, row.doubles, row.is_converged, state_of(row).words


def test_queues_with_two_owners_are_unknown_while_an_answer_is_missing_but_those_that_are_known() -> None:
    told(route(2), *seen("A"), *seen("B"), *seen("C"), held("A", 10, [0]), held("B", 10, [1]), held("C", 10, []))
    group = Group.objects.get()
    assert twice(group, 15) == (0, ())

    told(missed("C", 20))
    assert twice(group, 25) == (None, ())

    told(held("B", 30, [0, 1]), held("A", 31, [0]))
    assert twice(group, 35) == (1, ())


def twice(group: Group, at: int) -> tuple[int | None, tuple[int, ...]]:
    """Rebalance, and give how many queues have two owners, and which perhaps have, as state and row both say."""
    rebalance_once(group=group.pk, now=T0 + at)
    group.refresh_from_db()
    state = group_state(group=group.pk)
    assert state is not None
    assert state.head.doubles == group.double_count == row_of(group).doubles
    assert sum(state.head.perhaps_twice[1::2]) == group.perhaps_twice_count == row_of(group).perhaps_twice
    return state.head.doubles, state.head.perhaps_twice


def test_a_second_owner_is_only_perhaps_one_until_the_first_has_told_again() -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, [1]))
    group = Group.objects.get()
    assert twice(group, 15) == (0, ())

    told(held("B", 40_000, [0, 1]))
    assert twice(group, 40_010) == (None, (0, 1))
    assert state_of(row_of(group)).words == "1 of 2 queues perhaps with two owners: not all have answered since"
    assert not Finding.objects.filter(kind="double owner").exists()

    told(held("A", 40_100, [0]))
    assert twice(group, 40_110) == (1, ())
    assert Finding.objects.filter(kind="double owner", cleared_at=None).exists()


def test_two_owners_from_before_the_last_change_are_only_perhaps_so_still() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [1, 2, 3]))
    group = Group.objects.get()
    assert twice(group, 15) == (1, ())

    told(joined("C", 5_000))

    assert twice(group, 5_010) == (None, (1, 1))


def took(client: str, at: int, number: int) -> QueueTaken:
    return QueueTaken(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client=client, queue=queue(number))


def test_who_took_a_queue_by_their_own_word_have_it_both() -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, [1]))
    told(took("B", 20, 0), held("A", 30, [0]))

    assert twice(Group.objects.get(), 40) == (1, ())


def test_where_nobody_is_a_member_all_queues_are_orphans_once_somebody_has_said_so() -> None:
    told(
        route(2),
        SubscriptionsSeen(at=T0, source=EAST, exactness=EXACT, group="g", client=None, subscriptions=(ORDERS,)),
    )
    group = Group.objects.get()
    assert count_orphans(look_at(group=group)) is None

    told(MemberListSeen(at=T0 + 10, source=EAST, exactness=EXACT, group="g", broker="east", clients=()))

    assert count_orphans(look_at(group=group)) == 2


def test_a_group_that_was_never_rebalanced_shows_nothing_as_zero() -> None:
    told(route(2), *seen("A"))
    row = row_of(Group.objects.get())

    assert (row.members, row.queues, row.orphans, row.doubles, row.is_converged) == (None, None, None, None, None)


def test_a_state_tells_what_each_should_have_and_has() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1, 2]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)

    state = group_state(group=group.pk)

    assert state is not None
    assert [(cell.client, cell.target, cell.held) for cell in state.members] == [
        ("A", (0, 2), (0, 3)),
        ("B", (2, 2), None),
    ]


@pytest.mark.parametrize(
    ("is_held_as_wanted", "members", "orphans", "doubles", "is_converged"),
    [
        (True, 4, 0, 0, True),
        (True, 4, 2, 2, False),  # members that disagree: each holds what it wants
        (True, 4, 0, 1, False),
        (None, 4, None, 1, False),  # somebody does not answer, and two have one for certain
        (None, 4, None, None, None),
        (False, 4, 0, 0, False),
        (True, None, 0, 0, True),
        (True, 0, 3, 0, False),
        (True, 0, 0, 0, None),
    ],
)
def test_what_certainly_has_no_owner_or_two_has_not_converged_though_it_is_held_as_wanted(
    is_held_as_wanted: bool | None,
    members: int | None,
    orphans: int | None,
    doubles: int | None,
    is_converged: bool | None,
) -> None:
    assert converged(is_held_as_wanted, members=members, orphans=orphans, doubles=doubles) is is_converged


def test_the_head_names_the_first_silent_members_and_the_row_of_the_round_all() -> None:
    told(route(4), *[joined(f"C{number:02}", 10) for number in range(30)])
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)

    state = group_state(group=Group.objects.get().pk)
    assert state is not None
    assert state.head.round is not None
    assert state.head.round.unknown_members == tuple(f"C{number:02}" for number in range(20))
    assert len(Round.objects.get().unknown_members) == 30
    assert sum(cell.held is None for cell in state.members) == 30
