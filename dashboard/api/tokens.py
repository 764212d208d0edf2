"""Tokens of people: made, found again by their digest, revoked. A token is shown once."""

from __future__ import annotations

import hashlib
import logging
import secrets

from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.db.models import Q, QuerySet

from dashboard.api.models import ApiToken
from dashboard.audit.operations import append
from dashboard.common.fields import printable
from dashboard.common.waiting import no_waiting

logger = logging.getLogger(__name__)

PREFIX = "eka_"  # by which a search through logs and code finds tokens that were left there
BYTES = 32
HINT = len(PREFIX) + 6
USED_EVERY_MS = 60_000
DAY_MS = 24 * 3_600_000
LONGEST_DAYS = 366
DEFAULT_DAYS = 90
MOST = 50  # good ones of one person


class TooMany(Exception):
    """The person has as many good tokens as anybody may have."""


def digest_of(token: str) -> str:
    """Digest a token. It has 256 random bits: nobody guesses it, so that the digest need not be slow."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@transaction.atomic
def make(*, user: User, is_read_only: bool, days: int, note: str, now: int) -> tuple[str, ApiToken]:
    """Make a token for a person; give it as well: this is the one time that anybody sees it.

    Raises:
        TooMany: there are enough.
        ValueError: it is to be good for no time that it may be.
    """
    if not 1 <= days <= LONGEST_DAYS:
        raise ValueError(f"{days} days; needed are 1 to {LONGEST_DAYS}")
    if good(user=user, now=now).count() >= MOST:
        raise TooMany(f"there are {MOST} good tokens of {user.get_username()} already; revoke one first")
    token = PREFIX + secrets.token_urlsafe(BYTES)
    row = ApiToken.objects.create(
        user=user,
        digest=digest_of(token),
        hint=token[:HINT],
        note=printable(note)[:200],
        is_read_only=is_read_only,
        made_at=now,
        expires_at=now + days * DAY_MS,
    )
    detail = {"token": row.hint, "note": row.note, "reads only": is_read_only, "days": days}
    append(at=now, author=user.get_username(), verb="make an API token", subject=user.get_username(), detail=detail)
    return token, row


@transaction.atomic
def revoke(*, token: int, user: User, now: int) -> bool:
    """Revoke a person's token for good; False: it was revoked before, or there is none of this person."""
    rows = ApiToken.objects.filter(pk=token, user=user, revoked_at=None)
    row = rows.first()
    if row is None or not rows.update(revoked_at=now):
        return False
    name = user.get_username()
    append(at=now, author=name, verb="revoke an API token", subject=name, detail={"token": row.hint, "note": row.note})
    return True


def good(*, user: User, now: int) -> QuerySet[ApiToken]:
    """Give the tokens of a person that open something."""
    return ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=now)


def find(*, authorization: str, now: int) -> ApiToken | None:
    """Find the token of a header ``Bearer …``, if it is one that is good."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return None
    rows = ApiToken.objects.select_related("user").filter(revoked_at=None, expires_at__gt=now)
    return rows.filter(digest=digest_of(token.strip())).first()


def note_use(*, token: ApiToken, now: int) -> None:
    """Note that a token was used, once a minute, if that can be done at once: no request waits or fails for it."""
    if token.used_at is not None and token.used_at >= now - USED_EVERY_MS:
        return
    late = Q(used_at=None) | Q(used_at__lt=now - USED_EVERY_MS)
    try:
        with no_waiting():
            ApiToken.objects.filter(late, pk=token.pk).update(used_at=now)
    except OperationalError as error:
        logger.debug("that token %s… was used is not noted: %s", token.hint, error)
