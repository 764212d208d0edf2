from __future__ import annotations

from dashboard.api.group_shapes import GroupRow, MemberOut, QueueOut, member_out, row_out
from dashboard.api.round_shapes import round_row
from dashboard.api.unknown import NOT_YET
from dashboard.groups.listing import listed
from dashboard.groups.models import Group, Member, Round
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import Departure
from tests.dashboard.story import T0, left, told


def test_why_something_is_unknown_stands_last_in_every_row_of_a_table() -> None:
    assert [list(shape.model_fields)[-1] for shape in (GroupRow, MemberOut, QueueOut)] == ["unknown"] * 3


def test_a_row_says_what_the_overview_does(group: Group) -> None:
    row = row_out(listed(group=group), None)

    assert (row.says, row.cluster, row.round_moves) == ("held as wanted", "shop", 1)


def test_of_queues_that_all_members_left_none_moved(group: Group) -> None:
    told(*(left(client, 20_000, Departure.UNREGISTERED) for client in "ABC"))
    for at in (20_100, 150_000):
        rebalance_once(group=group.pk, now=T0 + at)
    row = row_out(listed(group=Group.objects.get()), None)
    of_round = round_row(Round.objects.latest("number"), T0 + 151_000)

    assert (row.members, row.round_moves, row.round_left, row.round_to_move) == (0, 0, 4, None)
    assert (of_round.moves, of_round.left, of_round.to_move) == (0, 4, None)
    before = round_row(Round.objects.get(number=1), T0 + 151_000)
    assert (before.moves, before.left) == (1, 0)


def test_queues_without_owner_or_with_two_are_no_figures_of_a_group_that_broadcasts(group: Group) -> None:
    Group.objects.update(model="BROADCASTING", orphan_count=0, double_count=0)

    row = row_out(listed(group=Group.objects.get(pk=group.pk)), None)

    assert (row.orphans, row.doubles) == (None, None)
    assert row.unknown["orphans"] == row.unknown["doubles"] == "broadcasting: every member has every queue"


def test_a_member_that_came_after_the_state_was_shown_is_not_said_to_hold_nothing(group: Group) -> None:
    member = Member.objects.get(client_id="A", group=group)

    row = member_out({"member": member, "addresses": []}, {}, is_target_known=True)

    assert (row.held, row.unknown["held"], row.target) == (None, NOT_YET, None)
