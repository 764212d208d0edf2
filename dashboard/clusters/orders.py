"""What people ordered of a cluster: taken by its watcher, each once, and finished with a receipt for each member."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce, Greatest

from dashboard.clusters.models import Cluster, Command, CommandReceipt
from dashboard.common.fields import printable
from dashboard.common.names import known_as
from rebalance_engine.events import CommandOutcome, ReceiptAnswer

AT_ONCE = 20
NEVER_TAKEN = "nobody carried it out before its deadline"
ABANDONED = "the watcher that took it ended before it said what came of it; it is not carried out a second time"
UNTOLD = "what came of it could not be stored; it may have been carried out, and is not carried out a second time"


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an order; ``receipts`` is client id -> what it did to that member."""

    outcome: CommandOutcome
    detail: str = ""
    receipts: Mapping[str, ReceiptAnswer] | None = None


def take(*, cluster: str, epoch: int, now: int, in_hand: Collection[int] = ()) -> list[Command]:
    """Take the orders that wait, oldest first; those past their deadline, or that nobody has in hand, end here.

    Args:
        epoch: the lease of the watcher that asks; where another one has it, nothing is taken.
        in_hand: the numbers of the orders that it carries out now. One that was taken by a dead watcher, or by this one
            and is not among them, is finished by nobody.
    """
    with transaction.atomic():
        row = Cluster.objects.select_for_update(no_key=True).get(name=cluster)
        if row.lease_epoch != epoch:
            return []
        waiting = Command.objects.filter(cluster=row, finished_at=None)
        _end(waiting.filter(taken_at=None, deadline__lt=now), CommandOutcome.EXPIRED, NEVER_TAKEN, now)
        _end(waiting.filter(~Q(taken_epoch=epoch), taken_at__isnull=False), CommandOutcome.FAILED, ABANDONED, now)
        _end(waiting.filter(taken_epoch=epoch).exclude(pk__in=in_hand), CommandOutcome.FAILED, UNTOLD, now)
        orders = list(waiting.filter(taken_at=None, ordered_at__lte=now).order_by("ordered_at", "pk")[:AT_ONCE])
        Command.objects.filter(pk__in=[order.pk for order in orders]).update(taken_at=now, taken_epoch=epoch)
    for order in orders:
        order.taken_at, order.taken_epoch = now, epoch
    return orders


def finish(*, order: int, epoch: int, done: Done, now: int) -> bool:
    """Write down what came of an order; False: it is another watcher's, or was finished before."""
    with transaction.atomic():
        mine = Command.objects.filter(pk=order, taken_epoch=epoch, finished_at=None)
        if not mine.update(finished_at=_end_at(now), outcome=done.outcome.value, detail=printable(done.detail)):
            return False
        CommandReceipt.objects.bulk_create(
            CommandReceipt(command_id=order, client_id=known_as(client), answer=answer.value, at=now)
            for client, answer in (done.receipts or {}).items()
        )
    return True


def _end(orders: QuerySet[Command], outcome: CommandOutcome, detail: str, now: int) -> None:
    orders.update(finished_at=_end_at(now), outcome=outcome.value, detail=detail)


def _end_at(now: int) -> Greatest:
    """Say when an order ended: not before it was taken, by whose clock ever."""
    return Greatest(now, Coalesce("taken_at", now))
