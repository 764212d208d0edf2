from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client

from dashboard.common.templatetags.evenkeel import moment
from dashboard.groups import pictured, rounds
from dashboard.groups.models import Group, Handoff, Round, RoundCause
from dashboard.groups.pictured import Load, loads_of, pictures_of, state_json
from dashboard.people.roles import Role
from dashboard.push.models import Step
from rebalance_engine.events import Exactness, Fact
from tests.dashboard.groups.test_rounds import begun, close, turn
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, joined, left, missed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture
def group(cluster: object) -> Group:
    del cluster
    return begun()


def test_loads_before_and_after(group: Group) -> None:
    del group
    close()

    assert loads_of(Round.objects.get()) == [
        Load("A", 2, 2),
        Load("B", 2, 1),
        Load("C", None, 1),
    ]


def test_what_a_round_came_to_is_unknown_where_it_was_seen_with_the_one_that_took_over(group: Group) -> None:
    del group
    close()
    told(*joining("D", 15_000), *joining("E", 19_000))
    turn(19_200)
    _, first, second = Round.objects.order_by("number")

    pictures = pictures_of(first)

    assert (first.superseded_by, pictures["after"], pictures["why"]) == (second.number, None, {"after": "unknown"})
    assert pictures["before"] is not None
    assert Load("A", 2, None) in loads_of(first)
    assert Load("E", None, 0) in loads_of(second)


def joining(client: str, at: int) -> list[Fact]:
    return [joined(client, at, low=at - 100), *seen(client, at)[1:], held(client, at + 100, [])]


def test_before_a_round_is_before_its_first_handoff_where_that_came_before_its_beginning_was_seen(group: Group) -> None:
    del group
    close()
    Handoff.objects.filter(round__number=1).update(dropped_at=T0 + 4_500, dropped_low=None)
    row = Round.objects.get()
    row.before = row.after  # as where its beginning was seen after all that it did
    row.opened_at = T0 + 8_000

    assert [(load.client, load.before) for load in loads_of(row)] == [("A", 2), ("B", 2), ("C", None)]
    assert pictures_of(row)["before_at"] == T0 + 4_500


def test_before_a_round_is_before_its_earliest_cause_where_more_was_shown_before_that_was_told(group: Group) -> None:
    """As where a broker's list without C is told later than what C has."""
    del group
    close()
    row = Round.objects.get()
    row.before = row.after
    RoundCause.objects.filter(round=row).update(at=T0 + 4_900, at_high=T0 + 5_000)

    pictures = pictures_of(row)

    assert isinstance(before := pictures["before"], dict)
    assert [cell["client"] for cell in before["members"]] == ["A", "B"]
    assert pictures["before_at"] == T0 + 4_900
    Step.objects.all().delete()
    assert pictures_of(row)["before_at"] >= T0 + 5_000  # what is drawn then was shown later, and is told so


def test_before_a_round_that_was_over_when_it_was_seen_is_when_what_is_shown_was_seen(
    group: Group, client: Client
) -> None:
    close()
    row = Round.objects.get()
    Round.objects.update(opened_at=row.closed_at, opened_low=None, last_cause_at=row.closed_at)
    RoundCause.objects.update(at=row.closed_at, at_high=row.closed_at, observed_at=row.closed_at)
    Handoff.objects.all().delete()
    row.refresh_from_db()
    client.force_login(person(Role.VIEWER))

    page = client.get(f"/groups/{group.pk}/rounds/1/").content.decode()

    assert pictures_of(row)["before_at"] == T0 + 20
    assert 'Before<small><time datetime="2023-11-14T22:13:20.020Z"' in page
    assert page.count(f"<span>2023-11-14 {moment(row.closed_at)}  UTC</span>") == 1


@pytest.mark.parametrize(("low", "before"), [(57_000, 57_000), (60_000, 59_999), (None, 20)])
def test_before_a_round_that_was_over_when_it_was_seen_is_when_it_may_have_begun_and_not_when_all_was_quiet_since(
    group: Group, low: int | None, before: int
) -> None:
    """Nothing was told of the group for most of a minute, as nothing changed."""
    del group
    close()
    at = T0 + 60_000
    times = {"opened_at": at, "closed_at": at, "last_cause_at": at, "settled_at": None}
    Round.objects.update(opened_low=None if low is None else T0 + low, **times)
    RoundCause.objects.update(at=at, at_high=at, observed_at=at)
    Handoff.objects.all().delete()

    assert pictures_of(Round.objects.get())["before_at"] == T0 + before


def test_before_a_round_in_which_somebody_let_go_is_not_before_another_one_had_taken_it_in_an_earlier_one(
    group: Group,
) -> None:
    del group
    close()
    row = Round.objects.get()
    times = {"opened_at": T0 + 90_000, "opened_low": T0 + 89_000, "closed_at": T0 + 92_000, "settled_at": None}
    times["last_cause_at"] = T0 + 90_000
    Round.objects.update(**times)
    RoundCause.objects.update(at=T0 + 90_000, at_high=T0 + 90_000)
    taken = {"taken_at": T0 + 8_000, "taken_low": T0 + 8_000, "taken_high": T0 + 8_000}
    dropped = {"dropped_at": T0 + 90_500, "dropped_low": T0 + 7_000, "dropped_high": None}
    Handoff.objects.filter(round=row).update(**taken, **dropped)
    row.refresh_from_db()

    assert pictures_of(row)["before_at"] == T0 + 90_000


def lost() -> Round:
    """B was killed, did not answer the look after that, and is seen to be gone."""
    told(missed("B", 60_000), held("A", 60_000, [0, 1]))
    turn(60_100)
    gone = replace(left("B", 61_000), exactness=Exactness.between(T0 + 59_000, T0 + 61_000))
    told(gone, held("A", 62_000, [0, 1, 2, 3]))
    turn(62_100)
    return Round.objects.latest("number")


@pytest.mark.parametrize(("told_last", "had"), [(59_500, 2), (20, None)])
def test_what_a_lost_one_had_is_known_where_it_told_so_until_it_may_have_been_lost(
    told_last: int, had: int | None
) -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(held("B", told_last, [2, 3]))
    turn(told_last + 10)

    row = lost()

    assert [(load.client, load.before) for load in loads_of(row)] == [("A", 2), ("B", had)]
    before = pictures_of(row)["before"]
    assert isinstance(before, dict)
    assert [cell["held"] is None for cell in before["members"]] == [False, had is None]


def test_states_of_a_round_are_plain_values(group: Group) -> None:
    row = rounds.find(group=group, number=1)
    assert row is not None

    assert state_json(b"") is None
    assert isinstance(state_json(bytes(row.before)), dict)
    assert rounds.find(group=group, number=2) is None
    assert [cause.evidence for cause in rounds.causes_of(row)] == ["C joined"]


def test_a_picture_that_there_is_none_of_says_why(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    row = Round.objects.get(group=group)
    assert pictures_of(row)["why"] == {}

    row.before = row.after = b""
    assert pictures_of(row)["why"] == {"before": "first", "after": "unknown"}
    row.number = 2
    assert pictures_of(row)["why"] == {"before": "unknown", "after": "unknown"}
    monkeypatch.setattr(pictured, "LARGEST_STATE", 3)
    row.number, row.before = 1, b"long"
    assert pictures_of(row)["why"] == {"before": "large", "after": "unknown"}
