"""The page of the audit log."""

from __future__ import annotations

from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import verify
from dashboard.auditing import queries
from dashboard.auditing.words import action_words, detail_words, value_words
from dashboard.groups.views import access_in
from dashboard.people.gate import needs
from dashboard.people.roles import Role

AT_ONCE = 5_000  # of more entries the whole log is verified only when somebody asks for it


@require_safe
@never_cache
@needs(Role.ADMIN)
def audit(request: HttpRequest) -> HttpResponse:
    """Show who did what: ``?person= &action= &object= &since= &until= &page= &verify=yes``."""
    if not queries.may_read(access_in(request)):
        raise PermissionDenied(_("The audit log is about every cluster and group: it is for admins of all of them."))
    wanted = queries.read_filter(request.GET)
    number = request.GET.get("page", "1")
    page = queries.page_of(wanted=wanted, number=int(number) if number.isdecimal() and len(number) < 10 else 1)
    is_asked = request.GET.get("verify") == "yes"
    is_verified = is_asked or AuditEntry.objects.count() <= AT_ONCE
    fields = {name: getattr(wanted, name) for name in ("person", "action", "object", "since", "until")}
    context = {
        "page": page,
        "wanted": wanted,
        "rows": [
            (
                row,
                action_words(row.verb),
                [(detail_words(name), value_words(name, each)) for name, each in pairs],
                receipt,
            )
            for row, pairs, receipt in page.rows
        ],
        "actions": [(verb, action_words(verb)) for verb in queries.actions()],
        "verdict": verify(path=settings.AUDIT_ANCHOR) if is_verified else None,
        "query": urlencode({name: text for name, text in fields.items() if text}),
    }
    return render(request, "auditing/audit.html", context)
