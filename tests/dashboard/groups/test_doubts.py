"""What somebody may have had who did not answer, and left: told as uncertain wherever handoffs are told."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.groups.doubts import all_doubts_of, doubted, merged, surely
from dashboard.groups.ending import tell_ended
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Handoff, Member, Round
from dashboard.groups.owner_lanes import owner_lanes
from dashboard.groups.story import time_bar
from dashboard.health.figures import Figures
from dashboard.pauses.queries import pauses_of
from dashboard.people.roles import Role
from dashboard.plans.costs import expected_costs
from rebalance_engine.events import Departure
from tests.dashboard.groups.test_owned import had, let_go
from tests.dashboard.groups.test_story import join, settle, turn
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, left, told

pytestmark = pytest.mark.usefixtures("cluster")
NOW = T0 + 200_000


@pytest.fixture
def row() -> Round:
    """B let queue 3 go, exactly, and C took it 10 s later; D never told what it had, from 5 s after that drop on."""
    settle()
    join()
    let_go("B", 3, 20_000)
    had("C", 3, 30_000, None)
    told(*[held(client, 70_000, mine) for client, mine in (("A", [0, 1]), ("B", [2]), ("C", [3]))], at=70_000)
    turn(70_100)
    tell_ended(group=Group.objects.get().pk, now=T0 + 70_200)
    return Round.objects.get(closed_at__isnull=False)


def was_silent(left: int | None, client: str = "D") -> None:
    gone = {} if left is None else {"left_at": T0 + left, "departure": "heartbeat expired"}
    when = dict.fromkeys(("at", "at_low", "at_high", "observed_at"), T0 + 25_000)
    Member.objects.create(group=Group.objects.get(), client_id=client, origin="admin answer", **when, **gone)


@pytest.mark.parametrize("left", [150_000, None])
def test_wherever_a_handoff_is_told_only_that_is_certain_in_which_everybody_answered(
    row: Round, client: Client, left: int | None
) -> None:
    stored = Handoff.objects.get(queue_id=3)
    assert stored.unowned_low == 10_000
    was_silent(left)
    group = Group.objects.get()

    lane = next(each for each in lanes_of(row, now=NOW) if each.queue_id == 3)
    pauses = pauses_of(group=group, since=T0, now=NOW)
    client.force_login(person(Role.VIEWER))
    listed = client.get(f"/api/v1/groups/{group.pk}/handoffs").json()["rows"]

    assert lane.unowned == (5_000, 10_000)
    assert [(each.unowned.low, each.unowned.high, each.pause.low) for each in pauses.handoffs] == [
        (5_000, 10_000, 5_000)
    ]
    assert [each.cost.unowned.low for each in pauses.rounds if each.cost is not None] == [5_000]
    assert [(each["unowned_low"], each["unowned_high"]) for each in listed] == [(5_000, 10_000)]
    samples = {
        sample.labels["bound"]: sample.value
        for family in Figures(now=NOW).collect()
        for sample in family.samples
        if sample.name == "queue_pause_seconds"
    }
    assert samples == {"low": 5.0}
    assert {each.low for each in expected_costs(group=group).values()} == {5_000}


def test_the_admin_shows_handoffs_as_they_are_known_now(row: Round, admin_client: Client) -> None:
    stored = Handoff.objects.get(round=row, queue_id=3)
    addresses = [f"/admin/groups/handoff/{address}" for address in ("", f"{stored.pk}/change/")]
    before = [admin_client.get(address).content.decode() for address in addresses]
    was_silent(150_000)

    after = [admin_client.get(address).content.decode() for address in addresses]

    assert ["5.0\u00a0s\u00a0– 10.0\u00a0s" in page for page in (before[0], after[0])] == [False, True]
    assert ["5.0\u00a0s<" in page for page in (before[1], after[1])] == [False, True]


@pytest.mark.parametrize("departure", [Departure.UNREGISTERED, Departure.UNKNOWN])
def test_who_leaves_after_a_handoff_was_told_may_have_had_the_queue_since_its_last_word(
    row: Round, departure: Departure
) -> None:
    was_silent(None)
    Member.objects.filter(client_id="D").update(held_seen_at=T0 + 25_000)
    told(left("D", 150_000, departure), at=150_000)

    (lane,) = [each for each in lanes_of(row, now=NOW) if each.queue_id == 3]
    (pause,) = pauses_of(group=row.group, since=T0, now=NOW).handoffs

    assert lane.unowned == (pause.unowned.low, pause.unowned.high) == (5_000, 10_000)
    assert {each.low for each in expected_costs(group=row.group).values()} == {5_000}


def test_what_a_superseded_round_left_is_doubted_beyond_its_end(row: Round) -> None:
    Round.objects.filter(pk=row.pk).update(
        **dict.fromkeys(("opened_low", "opened_at", "last_cause_at"), T0 + 9_000), closed_at=T0 + 21_000
    )
    was_silent(150_000)
    assert Handoff.objects.get(queue_id=3).taken_at == T0 + 30_000

    samples = [sample for each in Figures(now=NOW).collect() for sample in each.samples]

    assert [each.value for each in samples if each.name == "queue_pause_seconds"] == [5.0]


def test_the_time_bar_and_owners_over_time_tell_from_when_to_when_nobody_knows(row: Round) -> None:
    was_silent(150_000)

    bar = time_bar(group=row.group, since=T0, now=NOW)
    lanes = owner_lanes(group=row.group, since=T0, until=NOW)

    assert bar["none"] == [[T0 + 20_000, T0 + 25_000, 1]]
    assert bar["doubts"] == lanes["doubts"] == [[T0 + 25_000, T0 + 150_000]]


def test_who_comes_through_a_proxy_has_no_queues_and_raises_no_doubt(row: Round) -> None:
    was_silent(150_000, "host@7@0@1abcdefgh")
    was_silent(None, "host@8@0@1abcdefgh")

    assert all_doubts_of(groups=[row.group_id], since=T0) == {}


def test_what_is_stored_stays_as_it_was_seen(row: Round) -> None:
    was_silent(150_000)

    told_again = doubted(Handoff.objects.filter(round=row), group=row.group_id)

    assert [each.unowned_low for each in told_again] == [5_000]
    assert Handoff.objects.get(queue_id=3).unowned_low == 10_000


def test_doubts_of_several_members_are_one_time() -> None:
    assert surely(0, 100, [(10, 20), (15, 30), (90, 200)]) == 70
    assert merged([(50, 70), (10, 30), (20, 40), (95, 99)], since=15, until=60) == [[15, 40], [50, 60]]
    assert all_doubts_of(groups=[], since=0) == {}


def test_what_is_in_doubt_is_left_out_once(row: Round) -> None:
    when = dict.fromkeys(("at", "at_low", "at_high", "observed_at"), T0 + 15_000)
    gone = {"left_at": T0 + 24_000, "departure": "heartbeat expired"}
    Member.objects.create(group=Group.objects.get(), client_id="D", origin="admin answer", **when, **gone)

    lane = next(each for each in lanes_of(row, now=NOW) if each.queue_id == 3)
    (stored,) = doubted(Handoff.objects.filter(queue_id=3), group=row.group_id)

    assert lane.unowned[0] == stored.unowned_low == 6_000


def test_of_a_time_in_parts_all_doubts_between_its_ends_are_left_out() -> None:
    doubts = [(50, 60), (90, 110)]
    assert surely(0, 40, doubts) == 40
    assert surely(0, 70, doubts) == 60
    assert surely(0, 40, doubts, until=100) == 20, "20 of the 100 ms are in doubt, and may be of these 40"
    assert surely(0, 100, doubts, until=100) == surely(0, 100, doubts) == 80
    assert surely(0, 10, doubts, until=100) == 0
