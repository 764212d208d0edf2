"""Tokens of the API, of whoever asks: listed and revoked. Making one is for a person on the page ``/api/`` alone.

A token that could make tokens would never end: whoever found one that is good for a day made the next of it, good for a
year, and revoking the first would not help.
"""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Schema

from dashboard.api import tokens
from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_read
from dashboard.api.models import ApiToken
from dashboard.api.shapes import Instant, Page, Paging, Text
from dashboard.api.site import ends, reads
from dashboard.common.clock import now_ms
from dashboard.people.roles import Role

ONE = "/tokens/{int:pk}"


class ApiTokenOut(Schema):
    """A token, by its beginning: what opens the door is not kept. ``used_at`` null: no use is noted yet."""

    id: int
    hint: str
    note: Text
    is_read_only: bool
    is_good: bool
    made_at: Instant
    expires_at: Instant
    used_at: Instant | None
    revoked_at: Instant | None


@reads("/tokens", name="api tokens", answer=Page[ApiTokenOut], is_table=True)
def api_tokens(request: HttpRequest, asked: Query[Paging]) -> Page[ApiTokenOut] | HttpResponse:
    """List the caller's own tokens, the newest first."""
    rows, now = ApiToken.objects.filter(user=request.user.pk).order_by("-pk"), now_ms()
    return page_read(rows, lambda row: _out(row, now), asked, now, Form(ApiTokenOut, "api-tokens"))


@reads(ONE, name="api one token", answer=ApiTokenOut)
def api_token(request: HttpRequest, pk: int) -> ApiTokenOut:
    """Give one of the caller's own tokens, by its beginning."""
    return _out(_find(request, pk), now_ms())


@ends(Role.VIEWER, ONE, name="api one token", answer=ApiTokenOut)
def revoke_api_token(request: HttpRequest, pk: int) -> ApiTokenOut:
    """Revoke one of the caller's own tokens for good; it may be the one with which it is asked."""
    row, now = _find(request, pk), now_ms()
    if not tokens.revoke(token=pk, user=row.user, now=now):
        raise Problem(409, "it was revoked before")
    row.refresh_from_db(fields=["revoked_at"])
    return _out(row, now)


def _find(request: HttpRequest, pk: int) -> ApiToken:
    """Give a token of whoever asks.

    Raises:
        Http404: there is none, or it is another person's; which of the two is not told.
    """
    row = ApiToken.objects.filter(pk=pk, user=request.user.pk).select_related("user").first()
    if row is None:
        raise Http404("there is no such token, or it is not yours")
    return row


def _out(row: ApiToken, now: int) -> ApiTokenOut:
    return ApiTokenOut(
        id=row.pk,
        hint=row.hint,
        note=row.note,
        is_read_only=row.is_read_only,
        is_good=row.revoked_at is None and row.expires_at > now,
        made_at=row.made_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
    )
