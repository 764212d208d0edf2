from __future__ import annotations

from dataclasses import replace

from dashboard.groups.small import HELD, MOST_COLUMNS, MOST_ROWS, NOBODY, TWO, UNKNOWN, Small, figures_of, shrink
from dashboard.push.messages import Cell, GroupState, Queues
from dashboard.push.runs import pack
from tests.dashboard.push.states import cell, head


def state(*members: Cell, size: int = 4, model: str = "CLUSTERING") -> GroupState:
    return GroupState(replace(head(), model=model), (Queues("orders", "east", (0, size)),), members, (), ())


def test_a_small_group_is_itself() -> None:
    small = shrink(state(cell("A", held=(0, 2)), cell("B", held=(2, 2))))

    assert small == Small(4, ((0, 1), (2, 3)), (HELD,) * 4)


def test_faults_are_seen() -> None:
    small = shrink(state(cell("A", held=(0, 2)), cell("B", held=(1, 1))))

    assert small.faults == (HELD, TWO, NOBODY, NOBODY)


def test_what_nobody_is_known_to_hold_is_unknown_while_somebody_is_silent() -> None:
    given = state(cell("A", held=(0, 2)), cell("B", held=None))
    small = shrink(replace(given, head=replace(given.head, orphans=None)))

    assert small.faults == (HELD, HELD, UNKNOWN, UNKNOWN)


def test_what_name_servers_disagree_on_is_unknown_and_nothing_else() -> None:
    given = state(cell("A", held=(0, 2)))
    given = replace(given, head=replace(given.head, orphans=1, disputed=(3, 1)))

    assert shrink(given).faults == (HELD, HELD, NOBODY, UNKNOWN)
    assert figures_of(given)["disputed"] == 1


def test_what_nobody_is_known_to_hold_is_unknown_while_a_broker_does_not_tell_who_is_a_member() -> None:
    given = state(cell("A", held=(0, 2)))
    given = replace(given, head=replace(given.head, orphans=None, untold=("west",)))

    assert shrink(given).faults == (HELD, HELD, UNKNOWN, UNKNOWN)
    assert figures_of(given)["untold"] == 1


def test_broadcasting_members_have_no_faults() -> None:
    assert shrink(state(cell("A", held=(0, 4)), cell("B", held=()), model="BROADCASTING")).faults == (HELD,) * 4


def test_a_large_group_is_shrunk_and_a_fault_of_one_queue_still_shows() -> None:
    members = [cell(f"{n:03}", held=pack(list(range(n * 100, n * 100 + (99 if n == 7 else 100))))) for n in range(100)]

    small = shrink(state(*members, size=10_000))

    assert (small.columns, len(small.bands)) == (MOST_COLUMNS, MOST_ROWS)
    assert small.faults.count(NOBODY) == 1


def test_without_queues_there_is_nothing() -> None:
    assert shrink(GroupState(head(), (), (), (), ())) == Small(0, (), ())
