"""Who is asking: a person's browser by its log-in, a person's program by a token. The gate then asks for roles.

A token takes the place of the log-in, so that the gate, scopes and the audit log see the person. It comes in a header
that no other site can make a browser send: it needs no further token against forged requests.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from dashboard.api import tokens
from dashboard.api.errors import database_away, is_of_the_api, refused
from dashboard.api.models import ApiToken
from dashboard.common.clock import now_ms
from dashboard.people.gate import is_open

logger = logging.getLogger(__name__)

ASK_AGAIN_S = 10
READING = frozenset({"GET", "HEAD", "OPTIONS"})
OWN = "api one token"  # the address of one of the caller's tokens
NEEDED = "needed is a log-in, or Authorization: Bearer <token>, as it was shown when it was made"


class ApiMiddleware:
    """Lets a token stand for its person, and answers those who are nobody in the API's own way."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass on; what an address of the API does not do at all, it says in the API's way too."""
        is_head = request.method == "HEAD" and is_of_the_api(request)
        if is_head:
            request.method = "GET"  # as that, and whoever sends the answer leaves its body out
        answer = self.get_response(request)
        if is_head:
            request.method = "HEAD"
        if answer.status_code != HTTPStatus.METHOD_NOT_ALLOWED or not is_of_the_api(request):
            return answer
        allowed = answer.headers.get("Allow", "")
        told = refused(answer.status_code, f"{request.method} is not done here; needed is {allowed}")
        told["Allow"] = allowed
        return told

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponseBase],
        _arguments: tuple[object, ...],
        _named: dict[str, object],
    ) -> HttpResponseBase | None:
        """Find out who is asking: the first that is asked of the database."""
        try:
            return None if is_open(view) else _who_asks(request, view)
        except OperationalError as error:
            return _away(request, error)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """Say of a database that does not answer, or is locked for too long, that it is a matter of time."""
        if not isinstance(exception, OperationalError):
            return None
        return _away(request, exception)


def _away(request: HttpRequest, error: OperationalError) -> HttpResponse:
    logger.warning("%s %s is answered with 503: %s", request.method, request.path_info[:200], error)
    told = database_away(request, ASK_AGAIN_S)
    told["Retry-After"] = str(ASK_AGAIN_S)
    told._has_been_logged = True  # type: ignore[attr-defined] # Django's own mark; else it is an error besides
    return told


def _who_asks(request: HttpRequest, view: Callable[..., HttpResponseBase]) -> HttpResponseBase | None:
    authorization = request.headers.get("Authorization", "")
    is_of_the_api = getattr(view, "is_of_the_api", False)
    if is_of_the_api and authorization:
        return _by_token(request, authorization)
    if request.user.is_authenticated or not is_of_the_api:
        return None
    return refused(401, f"nobody is logged in; {NEEDED}")


def _ends_itself(request: HttpRequest, token: ApiToken) -> bool:
    """Ask whether a token is revoked by itself: whoever finds one that leaked may end it, whatever else it may do."""
    found = request.resolver_match
    is_own = found is not None and found.url_name == OWN and found.kwargs.get("pk") == token.pk
    return is_own and request.method == "DELETE"


def _by_token(request: HttpRequest, authorization: str) -> HttpResponseBase | None:
    now = now_ms()
    token = tokens.find(authorization=authorization, now=now)
    if token is None or not token.user.is_active:
        return refused(401, f"there is no token that is good; {NEEDED}")
    if token.is_read_only and request.method not in READING and not _ends_itself(request, token):
        return refused(403, f"this token may only read; {request.method} needs one that may also change")
    tokens.note_use(token=token, now=now)
    request.user = token.user
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined] # Django's own mark; see above
    return None
