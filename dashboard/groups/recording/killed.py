"""How somebody left whom a person of this room had killed: as the order's receipt says, and nobody else could."""

from __future__ import annotations

from dataclasses import replace

from dashboard.clusters.models import CommandReceipt
from dashboard.common.fields import source_columns
from dashboard.demo.orders import KILL_CONSUMER
from dashboard.demo.script import Going
from dashboard.groups.models import Member
from dashboard.groups.recording.book import GroupBook
from rebalance_engine.events import CommandOutcome, Departure, Exactness, MemberLeft, Origin, ReceiptAnswer, Source

LISTED_MS = 5_000  # brokers may list somebody for so long after his connections broke


def as_ordered(book: GroupBook, row: Member, fact: MemberLeft) -> MemberLeft:
    """Give a departure that looks bound as an order explains it; as it is, where none surely does.

    One does whose receipt names this very client, that let it crash, and was carried out in this life of it, not after
    it was seen to be gone, and not long before it was listed last.
    """
    if not book.cluster.is_demo:
        return fact
    low = source_columns(fact)["at_low"]
    low = low if isinstance(low, int) else 0
    kills = CommandReceipt.objects.filter(
        command__cluster=book.cluster,
        command__group_name=row.group.name,
        command__verb=KILL_CONSUMER,
        command__outcome=CommandOutcome.DONE.value,
        command__taken_at__lte=fact.at,
        command__finished_at__gte=max(row.at, low - LISTED_MS, (row.held_seen_at or 0) - LISTED_MS),
        client_id=row.client_id,
        answer=ReceiptAnswer.CHANGED.value,
    )
    receipt = kills.select_related("command").order_by("-command__finished_at").first()
    if receipt is None or not _crashes(receipt.command.parameters):
        return fact
    order = receipt.command
    began = max(order.taken_at or 0, low)
    return replace(
        fact,
        source=Source(origin=Origin.OPERATOR, detail=f"order {order.pk} of {order.author_name}"),
        exactness=Exactness.between(began, fact.at),
        departure=Departure.CONNECTION_CLOSED,
    )


def _crashes(parameters: object) -> bool:
    """Whether an order was to break its connections; any other way it may have left otherwise."""
    how = parameters.get("how", Going.CRASHES.value) if isinstance(parameters, dict) else Going.CRASHES.value
    return bool(how == Going.CRASHES.value)
