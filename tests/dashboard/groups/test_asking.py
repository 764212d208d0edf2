from __future__ import annotations

import pytest

from dashboard.audit.models import AuditEntry
from dashboard.clusters.models import Cluster, Command, CommandReceipt
from dashboard.demo import orders as demo
from dashboard.groups import asking
from dashboard.groups.asking import Asked, Refused, ask, obstacle_to_recompute, tell, told, words_of
from dashboard.groups.models import Group, Member
from dashboard.groups.recording.orders import RECOMPUTE
from dashboard.people.roles import Access, Role, Scope
from rebalance_engine.events import CommandOutcome, ReceiptAnswer
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db
ANN = Access("ann", (Scope(Role.OPERATOR),))
VERA = Access("vera", (Scope(Role.VIEWER), Scope(Role.OPERATOR, groups="other")))


@pytest.fixture
def group(cluster: Cluster) -> Group:
    Cluster.objects.update(is_read_only=False, is_demo=True, watched_at=T0 + 60_000)
    cluster.refresh_from_db()
    return Group.objects.create(cluster=cluster, name="billing", added_at=T0)


def order(group: Group, verb: str = RECOMPUTE, *, access: Access = ANN, at: int = 0, **more: str) -> Command:
    asked = Asked(verb=verb, **{"reason": "to see", **more})
    return ask(cluster=group.cluster, group=group, asked=asked, access=access, author_id=None, now=T0 + at)


def test_an_order_is_a_row_and_stands_in_the_audit_log(group: Group) -> None:
    order(group)

    row, entry = Command.objects.get(), AuditEntry.objects.get()
    assert (row.verb, row.group_name, row.author_name, row.reason) == (RECOMPUTE, "billing", "ann", "to see")
    assert (entry.author, entry.verb, entry.subject) == ("ann", RECOMPUTE, "shop billing")


def test_who_only_looks_at_this_group_orders_nothing_of_it(group: Group) -> None:
    with pytest.raises(Refused, match="needs the role operator for this group; you have viewer"):
        order(group, access=VERA)

    assert not Command.objects.exists()
    assert not AuditEntry.objects.exists()


def test_brokers_concern_all_groups_and_so_need_the_role_for_all(group: Group) -> None:
    only_billing = Access("bo", (Scope(Role.OPERATOR, groups="billing"),))
    asked = Asked(verb=demo.SLOW_BROKER, target="broker-a")

    with pytest.raises(Refused, match="for all groups of this cluster; you have none"):
        ask(cluster=group.cluster, group=None, asked=asked, access=only_billing, author_id=None, now=T0)
    ask(cluster=group.cluster, group=None, asked=asked, access=ANN, author_id=None, now=T0)
    assert Command.objects.get().target == "broker-a"


def test_a_demo_offers_every_member_to_choose_from(group: Group) -> None:
    Member.objects.bulk_create(
        Member(group=group, client_id=f"c{number:03}", at=T0, observed_at=T0, origin="admin answer")
        for number in range(201)
    )

    clients = asking.buttons(group=group, access=ANN, now=T0)["clients"]

    assert clients == [f"c{number:03}" for number in range(201)]


def test_recompute_is_not_offered_where_it_would_do_nothing(group: Group) -> None:
    assert obstacle_to_recompute(group=group, access=ANN, now=T0) == ""
    group.is_notified = False
    assert "Notification is switched off" in obstacle_to_recompute(group=group, access=ANN, now=T0)
    group.member_count = 0
    assert "Nobody is a member" in obstacle_to_recompute(group=group, access=ANN, now=T0)
    group.gone_at = T0
    assert "The group is gone" in obstacle_to_recompute(group=group, access=ANN, now=T0)
    group.model = "BROADCASTING"
    assert "broadcasts" in obstacle_to_recompute(group=group, access=ANN, now=T0)
    group.cluster.is_read_only = True
    assert "--writable" in obstacle_to_recompute(group=group, access=ANN, now=T0)


@pytest.mark.parametrize(
    ("watched_at", "words"),
    [
        (T0 - 33_000, "Nothing of the cluster has answered for 33\u00a0s: it is unknown who is a member."),
        (None, "Nothing of the cluster has answered yet: it is unknown who is a member."),
    ],
)
def test_nobody_is_made_to_recompute_where_nothing_answers(group: Group, watched_at: int | None, words: str) -> None:
    group.cluster.watched_at = watched_at
    group.member_count = 0  # as it was seen last

    with pytest.raises(Refused, match=words) as refused:
        order(group)

    assert refused.value.status == 409
    assert asking.buttons(group=group, access=ANN, now=T0)["recompute_obstacle"] == words


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        (Asked(verb=RECOMPUTE, reason="  "), "needs a reason"),
        (Asked(verb=RECOMPUTE, reason="x" * 501), "has 501 characters; it may have 500"),
        (Asked(verb="drop table"), "drop table cannot be ordered here; needed is one of demo.add"),
        (Asked(verb=demo.SLOW_BROKER, target="broker-a"), "cannot be ordered here"),
        (Asked(verb=demo.KILL_CONSUMER, how="gently"), "one of leave, crash, silent"),
    ],
)
def test_nonsense_is_refused_in_words(group: Group, asked: Asked, word: str) -> None:
    with pytest.raises(Refused, match=word):
        ask(cluster=group.cluster, group=group, asked=asked, access=ANN, author_id=None, now=T0)

    assert not Command.objects.exists()


def test_a_broker_that_the_demo_has_not_is_refused(group: Group) -> None:
    asked = Asked(verb=demo.HEAL_BROKER, target="broker-z")

    with pytest.raises(Refused, match="one of broker-a"):
        ask(cluster=group.cluster, group=None, asked=asked, access=ANN, author_id=None, now=T0)


def test_nothing_is_played_on_a_real_cluster(group: Group) -> None:
    group.cluster.is_demo = False

    with pytest.raises(Refused, match="cannot be ordered here"):
        order(group, demo.ADD_CONSUMER)


def test_a_group_of_which_the_demo_can_order_nothing_says_so(group: Group) -> None:
    group.name = "invoices"

    with pytest.raises(Refused, match="does as its configuration says"):
        order(group, demo.ADD_CONSUMER)


def test_nobody_orders_without_end(group: Group) -> None:
    for number in range(asking.MOST_ORDERS):
        order(group, demo.ADD_CONSUMER, at=number)

    with pytest.raises(Refused, match="Wait a moment") as refused:
        order(group, demo.ADD_CONSUMER, at=asking.MOST_ORDERS)
    assert (refused.value.status, refused.value.wait_s) == (429, 60)
    order(group, demo.ADD_CONSUMER, at=asking.WITHIN_MS + 1)


def end(row: Command, outcome: CommandOutcome, at: int) -> None:
    row.taken_at, row.taken_epoch = row.ordered_at, 1
    row.finished_at, row.outcome = T0 + at, outcome.value
    row.save()


@pytest.mark.parametrize("outcome", [CommandOutcome.DONE, CommandOutcome.FAILED])
def test_a_group_is_let_compute_anew_once_in_the_time_in_which_it_is_probed_once(
    group: Group, outcome: CommandOutcome
) -> None:
    other = Group.objects.create(cluster=group.cluster, name="other", added_at=T0)
    first = order(group)

    with pytest.raises(
        asking.TooSoon, match="members of the group were told to recompute less than 5 s ago"
    ) as refused:
        order(group, at=100)
    assert (refused.value.status, refused.value.wait_s) == (429, 5)
    order(other, at=100)
    with pytest.raises(asking.TooSoon, match="still under way"):
        order(group, at=5_000)
    end(first, outcome, 4_000)
    with pytest.raises(asking.TooSoon, match="less than 5 s") as refused:
        order(group, at=4_500)
    assert refused.value.wait_s == 1
    order(group, at=5_000)

    assert Command.objects.filter(group_name="billing").count() == 2
    assert AuditEntry.objects.count() == 3


@pytest.mark.parametrize("outcome", [CommandOutcome.REFUSED, CommandOutcome.EXPIRED])
def test_an_order_that_notified_nobody_lets_the_next_one_pass(group: Group, outcome: CommandOutcome) -> None:
    end(order(group), outcome, 50)

    order(group, at=100)


def test_an_order_that_nobody_took_is_in_nobodys_way_for_ever(group: Group) -> None:
    first = order(group)

    order(group, at=first.deadline - T0 + asking.GRACE_MS + 1)


def test_what_became_of_an_order_is_told(group: Group) -> None:
    row = order(group, demo.KILL_CONSUMER, target="127.0.0.1@billing-1", how="silent")
    assert row.parameters == {"how": "silent"}
    states = [tell(row, T0).state, tell(row, row.deadline + 60_000).state]
    row.taken_at, row.taken_epoch = T0 + 5, 1
    states.append(tell(row, T0 + 6).state)
    row.finished_at, row.outcome, row.detail = T0 + 9, CommandOutcome.DONE.value, "it went"
    row.save()
    for client, answer in [("A", ReceiptAnswer.CHANGED), ("B", ReceiptAnswer.CHANGED), ("C", ReceiptAnswer.UNKNOWN)]:
        CommandReceipt.objects.create(command=row, client_id=client, answer=answer.value, at=T0 + 9)

    (last,) = told(group=group, now=T0 + 10)

    assert [*states, last.state] == ["waiting", "expired", "taken", "done"]
    assert last.receipts == (("changed", 2), ("unknown", 1))
    assert not last.is_open
    assert tell(order(group, at=20), T0 + 20).is_open


def test_everything_that_can_be_ordered_has_words() -> None:
    verbs = [RECOMPUTE, *demo.VERBS]

    assert set(asking.OF_MEMBERS) | set(asking.OF_BROKERS) == set(demo.VERBS)
    assert [verb for verb in verbs if words_of(verb) == verb] == []
    assert len({asking.outcome_words(each.value) for each in CommandOutcome}) == len(CommandOutcome)
    assert len({asking.receipt_words(each.value) for each in ReceiptAnswer}) == len(ReceiptAnswer)
