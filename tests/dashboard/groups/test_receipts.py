from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.clusters.models import Cluster, Command, CommandReceipt
from dashboard.groups import receipts
from dashboard.groups.models import Group, Round
from tests.dashboard.story import T0, add_cluster

ORDERED = {"verb": "group.recompute", "author_name": "ada", "reason": "to see", "ordered_at": T0}


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="billing", added_at=T0)


def ordered(group: Group, **answers: str) -> Command:
    """Order a recompute that was carried out, with what it did to each member."""
    row = Command.objects.create(
        cluster=group.cluster,
        group_name=group.name,
        deadline=T0 + 30_000,
        taken_at=T0 + 500,
        taken_epoch=1,
        finished_at=T0 + 6_000,
        outcome="done",
        **ORDERED,
    )
    CommandReceipt.objects.bulk_create(
        CommandReceipt(command=row, client_id=client, answer=answer, at=T0 + 6_000)
        for client, answer in answers.items()
    )
    return row


def conclusion(row: Command, group: Group) -> str:
    found = receipts.receipt_of(group=group, number=row.pk, now=T0 + 7_000)
    assert found is not None
    return receipts.conclusion_of(found.order)


def test_a_receipt_is_kept_of_each_member_when_nothing_changed_too(group: Group) -> None:
    row = ordered(group, B="unchanged", A="unchanged")

    found = receipts.receipt_of(group=group, number=row.pk, now=T0 + 7_000)

    assert found is not None
    assert [(each.client_id, each.answer) for each in found.members] == [("A", "unchanged"), ("B", "unchanged")]
    assert (found.member_count, found.order.counts, found.rounds) == (2, (0, 2, 0, 0), ())
    assert conclusion(row, group).startswith("Nothing changed")


@pytest.mark.parametrize(
    ("answers", "begins"),
    [
        ({"A": "changed", "B": "unchanged"}, "Members hold other queues than before"),
        ({"A": "unchanged", "B": "unknown"}, "No member is known to have changed"),
        ({"A": "unchanged", "B": "not asked"}, "No member is known to have changed"),
        ({}, "It has no receipt of any member"),
    ],
    ids=str,
)
def test_what_came_of_it_is_said_in_a_sentence(group: Group, answers: dict[str, str], begins: str) -> None:
    assert conclusion(ordered(group, **answers), group).startswith(begins)


def test_what_changed_stands_before_what_did_not(group: Group) -> None:
    row = ordered(group, A="not asked", B="unknown", C="unchanged", D="changed")

    found = receipts.receipt_of(group=group, number=row.pk, now=T0 + 7_000)

    assert found is not None
    assert [each.client_id for each in found.members] == ["D", "C", "B", "A"]
    assert {answer: bool(receipts.meaning_of(answer)) for answer in receipts.ANSWERS} == dict.fromkeys(
        receipts.ANSWERS, True
    )


@pytest.mark.parametrize(
    ("outcome", "answers", "says"),
    [
        ("failed", {"A": "unchanged", "B": "unknown"}, "It was not carried out to its end; what is known of each"),
        ("failed", {"A": "unknown"}, "It was not carried out to its end; whether members were notified is not known"),
        ("failed", {"A": "not asked", "B": "not asked"}, "It failed before anything was sent"),
        ("failed", {}, "It failed, and has no receipt of any member"),
        ("refused", {"A": "not asked"}, "It was refused: no member was notified"),
        ("refused", {}, "It was refused: no member was notified"),
        ("expired", {}, "Nobody carried it out: no member was notified"),
    ],
)
def test_an_order_that_was_not_done_says_whether_it_reached_members(
    group: Group, outcome: str, answers: dict[str, str], says: str
) -> None:
    row = ordered(group, **answers)
    Command.objects.update(outcome=outcome)

    assert conclusion(row, group).startswith(says)


@pytest.mark.parametrize("outcome", ["failed", "refused", "expired"])
def test_of_an_order_that_was_not_done_nobody_is_said_to_have_been_notified(outcome: str) -> None:
    told = {answer: receipts.meaning_of(answer, outcome) for answer in receipts.ANSWERS}

    assert told == {
        "changed": "It held other queues afterwards than before.",
        "unchanged": "It held afterwards what it held before.",
        "unknown": "Whether it was notified is not known.",
        "not asked": "It was not notified: nothing was sent.",
    }
    assert "was notified" in receipts.meaning_of("unchanged", "done")


def test_what_an_order_that_failed_did_is_not_said_to_be_nothing(group: Group) -> None:
    ordered(group)
    Command.objects.update(outcome="failed")

    assert receipts.page_of(group=group, number=1, now=T0).rows[0].is_known is False
    Command.objects.update(outcome="refused")
    assert receipts.page_of(group=group, number=1, now=T0).rows[0].is_known is True


def test_an_order_that_waits_has_no_receipt_yet(group: Group) -> None:
    row = Command.objects.create(cluster=group.cluster, group_name=group.name, deadline=T0 + 30_000, **ORDERED)

    assert conclusion(row, group).startswith("It is not over")


def test_rounds_that_were_open_meanwhile_are_named(group: Group) -> None:
    row = ordered(group, A="changed")
    spans = ((-9_000, -1), (-3_500, 2_000), (3_000, 3_000), (6_001, 6_500))
    for number, (at, until) in enumerate(spans, 1):
        lasted = {"opened_at": T0 + at, "last_cause_at": T0 + at, "closed_at": T0 + until, "state": "closed"}
        Round.objects.create(group=group, number=number, wave=number, cause="held changed", **lasted)

    found = receipts.receipt_of(group=group, number=row.pk, now=T0 + 7_000)

    assert found is not None
    assert [each.number for each in found.rounds] == [2, 3]


def test_a_round_that_is_open_still_is_named_though_it_began_before_the_order(group: Group) -> None:
    row = ordered(group, A="changed")
    Round.objects.create(group=group, number=1, wave=1, cause="manual", opened_at=T0 - 9_000, last_cause_at=T0 - 9_000)

    found = receipts.receipt_of(group=group, number=row.pk, now=T0 + 7_000)

    assert found is not None
    assert [each.number for each in found.rounds] == [1]


def test_orders_come_in_pages_with_as_many_questions_as_ever(group: Group) -> None:
    for _number in range(receipts.A_PAGE + 1):
        ordered(group, A="unchanged")

    with CaptureQueriesContext(
        connection,
    ) as asked:
        first = receipts.page_of(group=group, number=0, now=T0)
    last = receipts.page_of(group=group, number=9, now=T0)

    assert len(asked) == 3
    assert (first.number, first.pages, first.count, len(first.rows)) == (1, 2, 51, 50)
    assert (last.number, len(last.rows)) == (2, 1)
    assert first.rows[0].told.row.pk > last.rows[0].told.row.pk


def test_orders_of_others_are_not_this_groups(group: Group) -> None:
    other = Group.objects.create(cluster=group.cluster, name="other", added_at=T0)
    row = ordered(other, A="changed")

    assert receipts.receipt_of(group=group, number=row.pk, now=T0) is None
    assert receipts.page_of(group=group, number=1, now=T0).rows == ()


def test_the_group_of_an_order_is_found_by_cluster_and_name(group: Group) -> None:
    elsewhere = Group.objects.create(cluster=add_cluster("shop-2"), name="billing", added_at=T0)
    here, there, gone = ordered(group), ordered(elsewhere), ordered(group)
    Command.objects.filter(pk=gone.pk).update(group_name="nobody")

    found = receipts.groups_of(commands=[here.pk, there.pk, gone.pk, 10**9])

    assert found == {here.pk: (group.pk, "group.recompute"), there.pk: (elsewhere.pk, "group.recompute")}
