"""Orders: what was ordered of a group and what became of it, and ordering something."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Schema, Status
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_read
from dashboard.api.shapes import Body, Instant, Page, Paging, Text
from dashboard.api.site import does, reads
from dashboard.clusters.models import Command, CommandReceipt
from dashboard.common.clock import now_ms
from dashboard.groups import asking
from dashboard.groups.models import Group
from dashboard.groups.receipts import ANSWERS, orders_of
from dashboard.groups.recording.orders import RECOMPUTE
from dashboard.groups.views import access_in, find_group
from dashboard.people.roles import Role


class OrderIn(Body):
    """What to order: ``group.recompute`` of any clustering group; of the demo's groups also what its page offers."""

    verb: str = Field(default=RECOMPUTE, max_length=40)
    reason: str = Field(default="", max_length=10 * asking.LONGEST_REASON)
    target: str = Field(default="", max_length=1_000)
    how: str = Field(default="", max_length=40)


class OrderRow(Schema):
    """An order; ``state`` is waiting, taken, done, refused, failed or expired. ``receipts`` counts members' answers."""

    id: int
    verb: str
    target: Text | None
    reason: Text
    author: Text
    ordered_at: Instant
    deadline: Instant
    taken_at: Instant | None
    finished_at: Instant | None
    state: str
    detail: Text
    receipts: dict[str, int]


class ReceiptOut(Schema):
    """What an order did to one member: changed, unchanged, unknown, not asked."""

    client_id: Text
    answer: str
    at: Instant
    detail: Text


class OrderOut(OrderRow):
    """One order with the receipt of each member."""

    members: list[ReceiptOut]


@reads("/groups/{int:pk}/orders", name="api orders", answer=Page[OrderRow], is_table=True)
def orders(request: HttpRequest, pk: int, asked: Query[Paging]) -> Page[OrderRow] | HttpResponse:
    """List what was ordered of a group, newest first."""
    found, now = find_group(request, pk), now_ms()
    rows = orders_of(group=found).prefetch_related("receipts")
    return page_read(rows, lambda row: order_row(row, now), asked, now, form_of(f"orders-{found.name}"))


@does(Role.OPERATOR, "/groups/{int:pk}/orders", name="api orders", status=202, answer=OrderRow)
def order(request: HttpRequest, pk: int, asked: OrderIn) -> Status[OrderRow]:
    """Order something; its watcher carries it out, and ``GET …/orders/<id>`` tells what became of it."""
    found, access, now = find_group(request, pk), access_in(request), now_ms()
    if not access.may(Role.OPERATOR, cluster=found.cluster.name, group=found.name):
        raise Problem(403, asking.obstacle_to_ordering(cluster=found.cluster, group=found, access=access))
    what = asking.Asked(verb=asked.verb, target=asked.target, reason=asked.reason, how=asked.how)
    try:
        row = asking.ask(
            cluster=found.cluster, group=found, asked=what, access=access, author_id=request.user.pk, now=now
        )
    except asking.Refused as refusal:
        raise Problem(refusal.status, str(refusal), wait_s=refusal.wait_s) from refusal
    return Status(202, order_row(row, now))


@reads("/groups/{int:pk}/orders/{int:number}", name="api one order", answer=OrderOut)
def one_order(request: HttpRequest, pk: int, number: int) -> OrderOut:
    """Give one order with its receipts."""
    found, now = find_group(request, pk), now_ms()
    return whole_order(_find(found, number), now)


@reads("/groups/{int:pk}/orders/{int:number}/receipts", name="api receipts", answer=Page[ReceiptOut], is_table=True)
def receipts(request: HttpRequest, pk: int, number: int, asked: Query[Paging]) -> Page[ReceiptOut] | HttpResponse:
    """List what an order did to each member; it is kept when nothing changed too."""
    rows = _find(find_group(request, pk), number).receipts.order_by("client_id")
    return page_read(rows, _receipt, asked, now_ms(), Form(ReceiptOut, f"receipts-{number}"))


def _find(group: Group, number: int) -> Command:
    """Give an order of a group.

    Raises:
        Http404: it had none with this number, or it is not kept.
    """
    row = orders_of(group=group).filter(pk=number).prefetch_related("receipts").first()
    if row is None:
        raise Http404(f"there is no order {number} of this group, or it is not kept any more")
    return row


def _receipt(row: CommandReceipt) -> ReceiptOut:
    return ReceiptOut(client_id=row.client_id, answer=row.answer, at=row.at, detail=row.detail)


def form_of(name: str) -> Form[OrderRow]:
    """Say how orders are written as a table: the receipts counted by their answers."""
    columns = [*list(OrderRow.model_fields)[:-1], *(answer.replace(" ", "_") for answer in ANSWERS)]
    return Form(OrderRow, name, columns, _fields)


def _fields(row: OrderRow) -> list[object]:
    counts = (row.receipts.get(answer, 0) for answer in ANSWERS)
    return [*list(row.model_dump().values())[:-1], *counts]


def whole_order(row: Command, now: int) -> OrderOut:
    """Shape an order with the receipt of each member."""
    receipts = [_receipt(each) for each in row.receipts.order_by("client_id")]
    return OrderOut(**order_row(row, now).model_dump(), members=receipts)


def order_row(row: Command, now: int) -> OrderRow:
    """Shape an order."""
    told = asking.tell(row, now)
    return OrderRow(
        id=row.pk,
        verb=row.verb,
        target=row.target or None,
        reason=row.reason,
        author=row.author_name,
        ordered_at=row.ordered_at,
        deadline=row.deadline,
        taken_at=row.taken_at,
        finished_at=row.finished_at,
        state=told.state,
        detail=row.detail,
        receipts=dict(told.receipts),
    )
