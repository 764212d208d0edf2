"""Orders of the demo's brokers; those of its members are orders of their group."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Status
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.lists import page_read
from dashboard.api.orders import OrderOut, OrderRow, form_of, order_row, whole_order
from dashboard.api.shapes import Body, Page, Paging
from dashboard.api.site import does, reads
from dashboard.clusters.models import Cluster, Command
from dashboard.common.clock import now_ms
from dashboard.groups import asking
from dashboard.groups.order_views import find_demo
from dashboard.groups.views import access_in
from dashboard.people.roles import Access, Role

ADDRESS = "/clusters/{int:pk}/demo/orders"


class DemoOrderIn(Body):
    """What to order of a broker of the demo: ``demo.slow_broker``, ``demo.restart_broker`` or ``demo.heal_broker``."""

    verb: str = Field(max_length=40)
    target: str = Field(max_length=1_000)
    reason: str = Field(default="", max_length=10 * asking.LONGEST_REASON)


@reads(ADDRESS, name="api demo orders", answer=Page[OrderRow], is_table=True)
def demo_orders(request: HttpRequest, pk: int, asked: Query[Paging]) -> Page[OrderRow] | HttpResponse:
    """List what was ordered of a demo, newest first: of its brokers, and of the groups that the caller may see."""
    found, now = find_demo(request, pk), now_ms()
    return page_read(
        _orders(found, access_in(request)), lambda row: order_row(row, now), asked, now, form_of(f"orders-{found.name}")
    )


@does(Role.OPERATOR, ADDRESS, name="api demo orders", status=202, answer=OrderRow)
def order_of_demo(request: HttpRequest, pk: int, asked: DemoOrderIn) -> Status[OrderRow]:
    """Order something of a broker of the demo, for operators of all groups of it."""
    found, access, now = find_demo(request, pk), access_in(request), now_ms()
    if not access.may_everywhere(Role.OPERATOR, cluster=found.name):
        raise Problem(403, asking.obstacle_to_ordering(cluster=found, group=None, access=access))
    what = asking.Asked(verb=asked.verb, target=asked.target, reason=asked.reason)
    try:
        row = asking.ask(cluster=found, group=None, asked=what, access=access, author_id=request.user.pk, now=now)
    except asking.Refused as refusal:
        raise Problem(refusal.status, str(refusal), wait_s=refusal.wait_s) from refusal
    return Status(202, order_row(row, now))


@reads(ADDRESS + "/{int:number}", name="api one demo order", answer=OrderOut)
def one_demo_order(request: HttpRequest, pk: int, number: int) -> OrderOut:
    """Give one order of a demo with its receipts."""
    row = _orders(find_demo(request, pk), access_in(request)).filter(pk=number).first()
    if row is None:
        raise Http404(f"there is no order {number} of this demo, or it is not kept any more, or you may not see it")
    return whole_order(row, now_ms())


def _orders(cluster: Cluster, access: Access) -> QuerySet[Command]:
    rows = Command.objects.filter(cluster=cluster, verb__startswith="demo.")
    names = rows.filter(group_name__isnull=False).values_list("group_name", flat=True).distinct()
    hidden = [name for name in names if not access.may(Role.VIEWER, cluster=cluster.name, group=name or "")]
    return rows.exclude(group_name__in=hidden).order_by("-pk").prefetch_related("receipts")
