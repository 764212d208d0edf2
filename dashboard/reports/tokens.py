"""Tokens: made, found again by their digest, revoked. A token is shown once; what is kept cannot open anything."""

from __future__ import annotations

import hashlib
import secrets

from django.db import transaction
from django.db.models import Q

from dashboard.audit.operations import append
from dashboard.clusters.models import Cluster
from dashboard.common.fields import printable
from dashboard.reports.models import ReportToken

PREFIX = "ekr_"  # by which a search through logs and code finds tokens that were left there
BYTES = 32
HINT = len(PREFIX) + 6
USED_EVERY_MS = 60_000


def digest_of(token: str) -> str:
    """Digest a token. It has 256 random bits: nobody guesses it, so that the digest need not be slow."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@transaction.atomic
def make(*, cluster: Cluster, group: str, author: str, now: int, note: str = "") -> tuple[str, ReportToken]:
    """Make a token for a group's clients; give it as well: this is the one time that anybody sees it."""
    token = PREFIX + secrets.token_urlsafe(BYTES)
    row = ReportToken.objects.create(
        cluster=cluster,
        group_name=group,
        digest=digest_of(token),
        hint=token[:HINT],
        note=printable(note)[:200],
        made_by=printable(author),
        made_at=now,
    )
    _audit(row, "make a report token", author, now)
    return token, row


@transaction.atomic
def revoke(*, token: int, author: str, now: int) -> bool:
    """Revoke a token for good; False: it was revoked before, or there is none."""
    rows = ReportToken.objects.filter(pk=token, revoked_at=None)
    if not rows.update(revoked_at=now, revoked_by=printable(author)):
        return False
    _audit(ReportToken.objects.select_related("cluster").get(pk=token), "revoke a report token", author, now)
    return True


def find(*, authorization: str) -> ReportToken | None:
    """Find the token of a header ``Bearer …``, if it is one that is not revoked."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return None
    rows = ReportToken.objects.select_related("cluster")
    return rows.filter(digest=digest_of(token.strip()), revoked_at=None).first()


def note_use(*, token: ReportToken, now: int) -> None:
    """Note that a token was used, once a minute."""
    late = Q(used_at=None) | Q(used_at__lt=now - USED_EVERY_MS)
    ReportToken.objects.filter(late, pk=token.pk).update(used_at=now)


def _audit(row: ReportToken, verb: str, author: str, now: int) -> None:
    detail = {"token": row.hint, "note": row.note, "cluster": row.cluster.name, "group": row.group_name}
    append(at=now, author=author, verb=verb, subject=f"{row.cluster.name} {row.group_name}", detail=detail)
