from __future__ import annotations

import pytest
from django.test import Client

from dashboard.groups.left_open import left_open
from dashboard.groups.models import Group, Round
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.story import worst
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, joined, listed, missed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def superseded() -> Round:
    """B joins, and A gives it nothing yet; then C joins, for whom there is no queue."""
    told(route(2), listed(0, "A"), *seen("A"), held("A", 10, [0, 1]))
    turn(20)
    told(joined("B", 10_000), listed(10_000, "A", "B"), held("B", 10_100, []), held("A", 10_200, [0, 1]))
    turn(10_300)
    told(joined("C", 20_000), listed(20_000, "A", "B", "C"))
    told(held("A", 20_100, [0, 1]), held("B", 20_200, []), held("C", 20_300, []))
    turn(20_400)
    return Round.objects.select_related("group").get(closed_at=None)


def test_what_a_superseded_round_left_to_be_handed_over_is_counted_besides_what_the_open_one_moves() -> None:
    row = superseded()

    assert (row.number, row.move_count, left_open(row)) == (2, 0, 1)
    said = sentence_of(row, {**worst([], {}), "left_open": left_open(row)}, now=T0 + 21_000)
    assert "0 queues are to change owner" in said
    assert "1 queue more is still to change owner by an earlier round, which this one superseded." in said


def test_what_has_been_taken_is_left_open_no_longer() -> None:
    superseded()
    told(held("A", 22_000, [0]), held("B", 22_100, [1]), held("C", 22_200, []))
    turn(22_300)

    assert left_open(Round.objects.select_related("group").get(number=2)) == 0


def test_while_somebody_does_not_answer_it_is_unknown() -> None:
    superseded()
    told(missed("C", 22_000))
    turn(22_100)

    assert left_open(Round.objects.select_related("group").get(number=2)) is None


def test_a_round_that_superseded_none_has_nothing_of_others() -> None:
    superseded()
    row = Round.objects.select_related("group").get(number=1)

    assert left_open(row) == 0


def test_the_page_of_an_open_round_says_it_and_what_took_means(client: Client) -> None:
    client.force_login(person(Role.VIEWER))
    row = superseded()

    pages = [client.get(f"/groups/{row.group_id}/rounds/{number}/").content.decode() for number in (1, 2)]

    assert "and 1 more by an earlier round, which this one superseded" in pages[1]
    assert "begin and end are when each was seen" in pages[0]
