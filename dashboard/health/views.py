"""``/healthz`` and ``/metrics``."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import CollectorRegistry

from dashboard.common.clock import now_ms
from dashboard.health.callers import may_read
from dashboard.health.figures import Figures
from dashboard.people.gate import open_to_all
from dashboard.people.queries import access_of


@require_safe
@never_cache
@open_to_all
def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 once pages can be served: the database answers, and its tables are there."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM clusters_cluster LIMIT 1")
    except DatabaseError:
        return HttpResponse("the database does not answer\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
@open_to_all
def metrics(request: HttpRequest) -> HttpResponse:
    """Give the figures to this machine, to whoever has the token once one is set, and to who is logged in."""
    is_let_in = may_read(
        address=request.META.get("REMOTE_ADDR", ""),
        is_forwarded="HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META,
        authorization=request.headers.get("Authorization", ""),
        token=settings.METRICS_TOKEN,
    )
    if not is_let_in and not access_of(user=request.user).may_see_everything():
        return HttpResponse("needs the token of EVENKEEL_METRICS_TOKEN\n", status=401, content_type="text/plain")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(now=now_ms()))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
