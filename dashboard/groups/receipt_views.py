"""The pages of what was ordered of a group: a list, and of each order the receipt."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dashboard.common.clock import now_ms
from dashboard.groups import receipts
from dashboard.groups.recording.orders import RECOMPUTE
from dashboard.groups.views import find_group
from dashboard.people.gate import needs
from dashboard.people.roles import Role
from rebalance_engine.events import CommandOutcome


@require_safe
@needs(Role.VIEWER)
def receipt_list(request: HttpRequest, pk: int) -> HttpResponse:
    """List what was ordered of a group, the newest first; ``?page=``."""
    found, now = find_group(request, pk), now_ms()
    asked = request.GET.get("page", "")
    number = int(asked) if asked.isdecimal() and len(asked) < 7 else 1
    page = receipts.page_of(group=found, number=number, now=now)
    return render(request, "groups/receipts.html", {"group": found, "page": page, "now": now})


@require_safe
@needs(Role.VIEWER)
def receipt_page(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Show one order: who ordered it and why, what came of it, and what it did to each member."""
    found, now = find_group(request, pk), now_ms()
    receipt = receipts.receipt_of(group=found, number=number, now=now)
    if receipt is None:
        raise Http404(_("There is no such order of this group, or it is not kept any more."))
    told = receipt.order.told
    is_recompute = told.row.verb == RECOMPUTE
    context = {
        "group": found,
        "receipt": receipt,
        "order": told,
        "has_settled": is_recompute and told.state == CommandOutcome.DONE.value,
        "conclusion": receipts.conclusion_of(receipt.order) if is_recompute else "",
        "members": [
            (each, receipts.meaning_of(each.answer, told.state) if is_recompute else "") for each in receipt.members
        ],
        "now": now,
    }
    return render(request, "groups/receipt.html", context)
