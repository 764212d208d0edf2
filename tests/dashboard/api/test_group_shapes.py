from __future__ import annotations

from dashboard.api.group_shapes import GroupRow, MemberOut, QueueOut, member_out, row_out
from dashboard.api.unknown import NOT_YET
from dashboard.groups.listing import listed
from dashboard.groups.models import Group, Member


def test_why_something_is_unknown_stands_last_in_every_row_of_a_table() -> None:
    assert [list(shape.model_fields)[-1] for shape in (GroupRow, MemberOut, QueueOut)] == ["unknown"] * 3


def test_a_row_says_what_the_overview_does(group: Group) -> None:
    row = row_out(listed(group=group), None)

    assert (row.says, row.cluster, row.round_moves) == ("held as wanted", "shop", 1)


def test_a_member_that_came_after_the_state_was_shown_is_not_said_to_hold_nothing(group: Group) -> None:
    member = Member.objects.get(client_id="A", group=group)

    row = member_out({"member": member, "addresses": []}, {}, is_target_known=True)

    assert (row.held, row.unknown["held"], row.target) == (None, NOT_YET, None)
