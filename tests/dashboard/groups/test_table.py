from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups import table
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.table import InWords, in_words
from dashboard.push.publish import group_snapshot
from rebalance_engine.events import EXACT, ConsumeType, MemberSeen
from tests.dashboard.story import EAST, T0, held, missed, route, seen, told


@pytest.fixture
def group(cluster: Cluster) -> int:
    """Two members, four queues: 0 as wanted, 1 has two owners, 2 has none, 3 should be let go; and a stray."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1, 3, 7]), held("B", 10, [1]))
    turn(20)
    del cluster
    return Group.objects.get().pk


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def said(group: int, **around: object) -> InWords:
    snapshot = group_snapshot(group=group)
    assert snapshot is not None
    return in_words(snapshot.state, around)


def kinds(found: InWords) -> dict[int, tuple[str, str]]:
    return {row.queue_id: (row.kind, row.words) for row in found.rows}


def test_each_queue_is_said_as_the_map_draws_it(group: int) -> None:
    assert kinds(said(group)) == {
        0: ("ok", "held and wanted"),
        1: ("two", "two owners"),
        2: ("none", "no owner"),
        3: ("let", "held, should let go"),
        7: ("stray", "not in any route"),
    }
    rows = {row.queue_id: row for row in said(group).rows}
    assert (rows[1].held, rows[2].wanted, rows[7].held) == (("A", "B"), ("B",), ("A",))


def test_nobody_is_said_to_have_no_owner_while_somebody_does_not_answer(group: int) -> None:
    told(missed("B", 5_000))
    turn(5_100)

    assert kinds(said(group))[2] == ("unknown", "unknown: no answer")


def test_a_broker_that_is_away_and_a_move_are_said(group: int) -> None:
    move = {"topic": "orders", "broker": "east", "id": 0, "from": "B", "to": "A", "at": T0}

    assert {kind for kind, _ in kinds(said(group, away=["east"])).values()} == {"away", "stray"}
    [moved] = [row.moved for row in said(group, moves=[move]).rows if row.moved]
    assert moved == "moved from B to A at 22:13:20"


def test_of_many_queues_those_are_left_out_that_are_held_as_wanted(group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_ROWS", 4)

    found = said(group)

    assert (set(kinds(found)), found.left_out) == ({1, 2, 3, 7}, 1)


def test_where_somebody_pops_nobody_has_what_nobody_owns_and_of_who_does_not_answer_that_is_unknown(group: int) -> None:
    pops = MemberSeen(at=T0 + 30, source=EAST, exactness=EXACT, group="g", client="B", consume_type=ConsumeType.POP)
    told(pops, held("A", 40, [0, 1, 3]))
    turn(100)
    [none] = [row for row in said(group).rows if row.queue_id == 2]
    assert (none.words, none.held, none.is_told) == ("no owner: who takes messages by POP takes these too", (), True)

    told(missed("A", 5_000))
    turn(5_100)

    assert [row.is_told for row in said(group).rows if row.queue_id == 2] == [False]
