"""A departure that somebody of this room ordered is told as the order's receipt has it, and no other is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.clusters.models import Cluster, Command, CommandReceipt
from dashboard.clusters.orders import Done
from dashboard.config.carrying import killed
from dashboard.groups.models import Holding, Member, Round, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import CommandOutcome, Exactness, MemberLeft, ReceiptAnswer
from tests.dashboard.story import T0, held, left, listed, route, seen, told

UNKNOWN = "A left: whether cleanly or lost is unknown"


@pytest.fixture(autouse=True)
def settled(cluster: Cluster) -> None:
    """A and B are members of the demo's group."""
    Cluster.objects.filter(pk=cluster.pk).update(is_demo=True)
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]), listed(10, "A", "B"))
    rebalance_once(group=Member.objects.get(client_id="A").group_id, now=T0 + 20)


def order(
    taken: int = 5_000, finished: int = 5_200, *, client: str = "A", how: str | None = None, verb: str = "kill_consumer"
) -> Command:
    """Somebody ordered it, and it was done; times in ms."""
    row = Command.objects.create(
        cluster=Cluster.objects.get(),
        verb=f"demo.{verb}",
        group_name="g",
        target=client,
        parameters={} if how is None else {"how": how},
        author_name="ada",
        ordered_at=T0 + taken - 100,
        deadline=T0 + taken + 30_000,
        taken_at=T0 + taken,
        taken_epoch=1,
        finished_at=T0 + finished,
        outcome=CommandOutcome.DONE.value,
    )
    CommandReceipt.objects.create(command=row, client_id=client, answer="changed", at=T0 + finished)
    return row


def gone(at: int = 6_000, low: int = 4_000) -> MemberLeft:
    return replace(left("A", at), exactness=Exactness.between(T0 + low, T0 + at))


def cause() -> tuple[str, str, str, int | None, int]:
    row = RoundCause.objects.get()
    return row.cause, row.evidence, row.origin, row.at_low, row.at


def after(row: Command) -> list[MemberLeft]:
    """What is stated once the receipt is stored."""
    done = Done(CommandOutcome.DONE, "A of g crashes", {row.target: ReceiptAnswer.CHANGED})
    return killed(row, done, T0 + 5_300)


def test_a_kill_that_was_ordered_is_told_by_its_order_when_looks_see_who_is_gone() -> None:
    row = order()

    told(*after(row))
    assert Member.objects.get(client_id="A").left_at is None
    told(gone())

    words = f"A was killed by order {row.pk} of ada"
    assert cause() == ("member left", words, "operator", T0 + 5_000, T0 + 6_000)
    assert Member.objects.get(client_id="A").departure == "connection closed"
    ended = Holding.objects.filter(member__client_id="A").values_list("until_high", flat=True)
    assert list(ended) == [T0 + 6_000, T0 + 6_000], "it is dead: it cannot have its queues still"


def test_a_receipt_that_is_stored_after_looks_saw_who_is_gone_is_told_too_and_so_is_its_round() -> None:
    told(gone())
    rebalance_once(group=Member.objects.get(client_id="A").group_id, now=T0 + 6_100)
    assert (cause()[1], Round.objects.get().opened_low) == (UNKNOWN, T0 + 4_000)
    row = order()

    told(*after(row))
    told(*after(row))

    words = f"A was killed by order {row.pk} of ada"
    assert cause() == ("member left", words, "operator", T0 + 5_000, T0 + 6_000)
    ended = Holding.objects.filter(member__client_id="A").values_list("until_high", flat=True)
    assert list(ended) == [T0 + 6_000, T0 + 6_000]
    assert (Round.objects.get().opened_low, Round.objects.get().opened_at) == (T0 + 5_000, T0 + 6_000)


@pytest.mark.parametrize(
    "other",
    [
        {"client": "B"},
        {"how": "silent"},
        {"how": "leave"},
        {"verb": "stall_consumer"},
        {"taken": 6_001, "finished": 6_100},
    ],
    ids=["another client", "silent", "leaves", "another verb", "after it"],
)
def test_what_no_receipt_says_is_not_told(other: dict) -> None:
    row = order(**other)

    told(gone(), *(after(row) if other.get("client") != "B" else []))

    assert cause()[1] == UNKNOWN


def test_a_kill_long_before_it_was_listed_last_or_of_an_earlier_life_explains_nothing() -> None:
    order()

    told(gone(60_000, low=30_000))

    assert cause()[1] == UNKNOWN


def test_no_cluster_but_the_demo_has_such_orders() -> None:
    Cluster.objects.update(is_demo=False)
    row = order()

    told(gone(), *after(row))

    assert cause()[1] == UNKNOWN
