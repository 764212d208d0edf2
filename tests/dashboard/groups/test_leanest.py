from __future__ import annotations

import pytest

from dashboard.groups.leanest import Division, division_of
from dashboard.groups.models import Group, Round
from dashboard.groups.rebalancing import rebalance_once
from tests.dashboard.story import T0, held, joined, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def join(client: str, after: dict[str, list[int]]) -> Round:
    """A and B have two queues each; somebody joins, and then all have what they have after it."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(joined(client, 5_000, low=4_000), *seen(client, 5_000)[1:], held(client, 5_100, []), at=5_100)
    turn(5_200)
    told(*(held(each, 6_000, queues) for each, queues in after.items()), at=6_000)
    turn(6_100)
    return Round.objects.get()


def test_a_round_says_how_it_divided_and_how_many_moves_were_needed() -> None:
    row = join("C", {"A": [0, 1], "B": [2], "C": [3]})

    assert (division_of(row), row.move_count) == (Division("AVG", is_strategy_assumed=False, fewest=1, moved=1), 1)


def test_what_moved_for_the_order_of_names_alone_was_not_needed() -> None:
    row = join("0", {"0": [0, 1], "A": [2], "B": [3]})

    assert (division_of(row), row.move_count) == (Division("AVG", is_strategy_assumed=False, fewest=1, moved=3), 3)


def test_nothing_is_said_of_what_is_not_kept() -> None:
    row = join("C", {"A": [0, 1], "B": [2], "C": [3]})
    row.before = b""
    assert division_of(row) == Division("AVG", is_strategy_assumed=False, fewest=None)

    row.after = b""
    assert division_of(row) is None
