from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.roles import Role
from rebalance_engine.events import Cause
from tests.dashboard.persons import person
from tests.dashboard.plans.test_costs import a_round, hand
from tests.dashboard.story import T0, add_cluster, held, route, seen, told


@pytest.fixture(autouse=True)
def group(db: None) -> Group:  # noqa: ARG001 - it opens the database
    add_cluster()
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    row = Group.objects.get()
    rebalance_once(group=row.pk, now=T0 + 20)
    return row


def whatif(*words: str, group: str = "g") -> str:
    out = StringIO()
    call_command("whatif", "--cluster", "shop", "--group", group, *words, stdout=out)
    return out.getvalue()


def test_the_command_answers_what_the_page_answers(client: Client, group: Group) -> None:
    client.force_login(person(Role.VIEWER))
    query = {"add": "C", "remove": "A", "strategy": "STICKY", "format": "json"}
    page = client.get(f"/groups/{group.pk}/plan/", query).json()

    told = json.loads(whatif("--add", "C", "--remove", "A", "--strategy", "STICKY", "--json"))

    assert told | {"at": 0} == page | {"at": 0}


def test_for_people_it_says_the_strategies_and_the_moves() -> None:
    said = whatif("--remove", "A")

    assert "* AVG (its own)                           2 moves, loads 4 to 4, 0 idle" in said
    assert "orders/east/0: A -> B (owner left)" in said
    assert "a handoff because owner left: what it costs is unknown" in said
    row = a_round(Group.objects.get(), 9, (Cause.MEMBER_LEFT, "A"))
    hand(row, range(2), "A", "B", pause_low=100, pause_high=200)
    assert "owner left: paused for 100 to 200 ms, the median of 2 such handoffs" in whatif("--remove", "A")


def test_what_cannot_be_known_is_said() -> None:
    assert "MACHINE_ROOM                       cannot be known: MACHINE_ROOM needs" in whatif(
        "--strategy", "MACHINE_ROOM"
    )
    rooms = '{"consumer_idcs": ["x"]}'
    assert "* MACHINE_ROOM                            4 moves" in whatif(
        "--strategy", "MACHINE_ROOM", "--params", rooms
    )


def test_a_bad_question_and_an_unknown_group_are_refused() -> None:
    with pytest.raises(CommandError, match="'Z' is no member"):
        whatif("--remove", "Z")
    with pytest.raises(CommandError, match="there is no group 'nope'"):
        whatif(group="nope")
