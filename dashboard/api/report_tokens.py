"""Tokens by which clients of a group report: made, listed and revoked by admins of the group, as on their page."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Schema, Status
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_of
from dashboard.api.shapes import LARGEST_TABLE, Body, Instant, Page, Paging, Text
from dashboard.api.site import does, ends, reads_as
from dashboard.clusters.shell import visible_clusters
from dashboard.common.clock import now_ms
from dashboard.groups.views import access_in
from dashboard.people.roles import Access, Role
from dashboard.reports import queries, tokens
from dashboard.reports.models import ReportToken
from dashboard.reports.views import LONGEST_GROUP, LONGEST_NOTE

ADDRESS = "/report-tokens"
ONE = ADDRESS + "/{int:pk}"


class TokenIn(Body):
    """Of which group of which cluster the token is to be; ``note`` says for whom."""

    cluster: str = Field(max_length=LONGEST_GROUP)
    group: str = Field(min_length=1, max_length=LONGEST_GROUP)
    note: str = Field(default="", max_length=LONGEST_NOTE)


class TokenOut(Schema):
    """A token, by its beginning: what opens the door is not kept. ``used_at`` null: no use is noted yet."""

    id: int
    cluster: Text
    group: Text
    hint: str
    note: Text
    made_by: Text
    made_at: Instant
    used_at: Instant | None
    revoked_by: Text | None
    revoked_at: Instant | None


class MadeToken(TokenOut):
    """A token that was just made; ``token`` is told this once."""

    token: str


@reads_as(Role.ADMIN, ADDRESS, name="api report tokens", answer=Page[TokenOut])
def report_tokens(request: HttpRequest, asked: Query[Paging]) -> Page[TokenOut] | HttpResponse:
    """List the tokens of the groups of which the caller is an admin: the good ones first, then the newest."""
    rows = queries.tokens_of(access=access_in(request), most=LARGEST_TABLE)
    return page_of(rows, _out, asked, now_ms(), Form(TokenOut, "report-tokens"))


@does(Role.ADMIN, ADDRESS, name="api report tokens", status=201, answer=MadeToken)
def make_report_token(request: HttpRequest, wanted: TokenIn) -> Status[MadeToken]:
    """Make a token for a group's clients; the answer is the one time that anybody sees it."""
    access, group = access_in(request), wanted.group.strip()
    cluster = next((each for each in visible_clusters(access=access) if each.name == wanted.cluster), None)
    if cluster is None or not group:
        raise Problem(422, f"cluster is {wanted.cluster!r}, group {group!r}; needed are one that you see, and a name")
    if not access.may(Role.ADMIN, cluster=cluster.name, group=group):
        raise Problem(403, f"you are no admin of the group {group!r}; needed is the role admin for it")
    token, row = tokens.make(cluster=cluster, group=group, author=access.name, now=now_ms(), note=wanted.note.strip())
    return Status(201, MadeToken(**_out(row).model_dump(), token=token))


@reads_as(Role.ADMIN, ONE, name="api report token", answer=TokenOut)
def report_token(request: HttpRequest, pk: int) -> TokenOut:
    """Give one token, by its beginning."""
    return _out(_find(pk, access_in(request)))


@ends(Role.ADMIN, ONE, name="api report token", answer=TokenOut)
def revoke_report_token(request: HttpRequest, pk: int) -> TokenOut:
    """Revoke a token for good."""
    access = access_in(request)
    row = _find(pk, access)
    if not tokens.revoke(token=pk, author=access.name, now=now_ms()):
        raise Problem(409, "it was revoked before")
    row.refresh_from_db(fields=["revoked_by", "revoked_at"])
    return _out(row)


def _find(pk: int, access: Access) -> ReportToken:
    """Give a token.

    Raises:
        Http404: there is none, or the person is no admin of its group.
    """
    row = queries.token_of(pk=pk, access=access)
    if row is None:
        raise Http404("there is no such token, or it is not yours to revoke")
    return row


def _out(row: ReportToken) -> TokenOut:
    return TokenOut(
        id=row.pk,
        cluster=row.cluster.name,
        group=row.group_name,
        hint=row.hint,
        note=row.note,
        made_by=row.made_by,
        made_at=row.made_at,
        used_at=row.used_at,
        revoked_by=row.revoked_by or None,
        revoked_at=row.revoked_at,
    )
