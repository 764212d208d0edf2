"""What was ordered of a group, and its receipt: what an order did to each member, kept when it changed nothing too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from dashboard.clusters.models import Command, CommandReceipt
from dashboard.groups.asking import Told, tell
from dashboard.groups.models import Group, Round
from rebalance_engine.events import CommandOutcome, ReceiptAnswer

A_PAGE = 50
MOST_MEMBERS = 500  # on a page; the table in the API has all
MOST_ROUNDS = 12
ANSWERS = tuple(answer.value for answer in ReceiptAnswer)


@dataclass(frozen=True, slots=True)
class Order:
    """An order as a row of the list: how many members it did what to, in the order of ``ANSWERS``."""

    told: Told
    counts: tuple[int, ...]

    @property
    def is_known(self) -> bool:
        """Whether it is known what it did to members: not while it is open, nor where it was begun and failed."""
        if self.told.is_open:
            return False
        return bool(sum(self.counts)) or self.told.state != CommandOutcome.FAILED.value


@dataclass(frozen=True, slots=True)
class OrdersPage:
    """One page of a group's orders, the newest first."""

    rows: tuple[Order, ...]
    number: int
    pages: int
    count: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """One order with what it did to each member (the first ``MOST_MEMBERS``), and rounds that were open meanwhile."""

    order: Order
    members: tuple[CommandReceipt, ...]
    member_count: int
    rounds: tuple[Round, ...]


def orders_of(*, group: Group) -> QuerySet[Command]:
    """Give everything that was ordered of a group, the newest first."""
    return Command.objects.filter(cluster=group.cluster_id, group_name=group.name).order_by("-pk")


def page_of(*, group: Group, number: int, now: int) -> OrdersPage:
    """Give a page of a group's orders; one that is not there is the nearest."""
    rows = orders_of(group=group)
    count = rows.count()
    pages = max(1, -(-count // A_PAGE))
    number = min(max(1, number), pages)
    found = rows.prefetch_related("receipts")[(number - 1) * A_PAGE : number * A_PAGE]
    return OrdersPage(tuple(_order(row, now) for row in found), number, pages, count)


def receipt_of(*, group: Group, number: int, now: int) -> Receipt | None:
    """Give one order with its receipt; None where the group had no such order, or it is not kept any more."""
    row = orders_of(group=group).filter(pk=number).prefetch_related("receipts").first()
    if row is None:
        return None
    members = sorted(row.receipts.all(), key=lambda each: (ANSWERS.index(each.answer), each.client_id))
    rounds = _open_meanwhile(group, row, now).order_by("number").defer("before", "after")[:MOST_ROUNDS]
    return Receipt(_order(row, now), tuple(members[:MOST_MEMBERS]), len(members), tuple(rounds))


def _open_meanwhile(group: Group, row: Command, now: int) -> QuerySet[Round]:
    """Find the rounds that were open while an order was carried out: what members held may have changed by them."""
    began = Q(opened_at__lte=now if row.finished_at is None else row.finished_at)
    return Round.objects.filter(began, Q(closed_at=None) | Q(closed_at__gte=row.ordered_at), group=group)


def groups_of(*, commands: Iterable[int]) -> dict[int, tuple[int, str]]:
    """Find the group that each of some orders was for: order -> the group's key, and the order's verb.

    An order for none, and one for a group that is not known any more, is left out.
    """
    found = list(
        Command.objects.filter(pk__in=list(commands), group_name__isnull=False).values_list(
            "pk", "cluster", "group_name", "verb"
        )
    )
    names = {name for _pk, _cluster, name, _verb in found if name is not None}
    known = Group.objects.filter(cluster__in={cluster for _pk, cluster, *_rest in found}, name__in=names)
    keys = {(cluster, name): pk for pk, cluster, name in known.values_list("pk", "cluster", "name")}
    return {pk: (keys[cluster, name], verb) for pk, cluster, name, verb in found if name and (cluster, name) in keys}


def meaning_of(answer: str, outcome: str | None = CommandOutcome.DONE.value) -> str:
    """Say in a sentence what an answer of a receipt means, of an order that ended so."""
    meanings = {
        ReceiptAnswer.CHANGED.value: _("It held other queues afterwards than before."),
        ReceiptAnswer.UNCHANGED.value: _("It was notified, and held afterwards what it held before."),
        ReceiptAnswer.UNKNOWN.value: _(
            "Before or afterwards it did not tell what it held, or had no turn to be asked."
        ),
        ReceiptAnswer.NOT_ASKED.value: _("No broker that notified its members had it as one: nothing asked it."),
    }
    if outcome != CommandOutcome.DONE.value:
        meanings |= {
            ReceiptAnswer.UNCHANGED.value: _("It held afterwards what it held before."),
            ReceiptAnswer.UNKNOWN.value: _("Whether it was notified is not known."),
            ReceiptAnswer.NOT_ASKED.value: _("It was not notified: nothing was sent."),
        }
    return meanings.get(answer, answer)


def conclusion_of(order: Order) -> str:
    """Say in a sentence what came of an order."""
    if order.told.is_open:
        return _("It is not over: what it does to each member stands here when it is.")
    counts = {answer: n for answer, n in zip(ANSWERS, order.counts, strict=True) if n}
    if order.told.state != CommandOutcome.DONE.value:
        return _of_undone(order.told.state, set(counts))
    return _of_members(counts) if counts else _("It has no receipt of any member.")


def _of_undone(state: str, answers: Set[str]) -> str:
    """Say of an order that was not carried out, or not to its end, whether it reached members."""
    if answers - {ReceiptAnswer.NOT_ASKED.value, ReceiptAnswer.UNKNOWN.value} or len(answers) > 1:
        return _("It was not carried out to its end; what is known of each member stands below.")
    if ReceiptAnswer.UNKNOWN.value in answers:
        return _("It was not carried out to its end; whether members were notified is not known.")
    if state == CommandOutcome.REFUSED.value:
        return _("It was refused: no member was notified.")
    if state == CommandOutcome.EXPIRED.value:
        return _("Nobody carried it out: no member was notified.")
    if answers:
        return _("It failed before anything was sent: no member was notified.")
    return _("It failed, and has no receipt of any member: what became of it, above, is all that is known.")


def _of_members(counts: Mapping[str, int]) -> str:
    if ReceiptAnswer.CHANGED.value in counts:
        return _(
            "Members hold other queues than before: they had not what they should have,"
            " or something else changed in the same seconds."
        )
    if ReceiptAnswer.UNKNOWN.value in counts or ReceiptAnswer.NOT_ASKED.value in counts:
        return _("No member is known to have changed anything; of some it is not known.")
    return _("Nothing changed: every member was notified, and held afterwards what it held before.")


def _order(row: Command, now: int) -> Order:
    told = tell(row, now)
    counts = dict(told.receipts)
    return Order(told, tuple(counts.get(answer, 0) for answer in ANSWERS))
