"""Appending to the audit log, in the transaction of what is done: what is not in the log was not done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from django.conf import settings
from django.db import transaction

from dashboard.audit.anchor import note
from dashboard.audit.models import AuditEntry
from dashboard.common.fields import printable

BEGINNING = "0" * 64


def append(
    *, at: int, author: str, verb: str, subject: str = "", detail: Mapping[str, object] | None = None
) -> AuditEntry:
    """Add an entry to the chain.

    Two that append at once would fork it: the second one's number is taken, its transaction fails, and with it what
    it was going to do.
    """
    with transaction.atomic():
        last = AuditEntry.objects.select_for_update(no_key=True).order_by("-number").first()
        entry = AuditEntry(
            number=1 if last is None else last.number + 1,
            at=at,
            author=printable(author),
            verb=printable(verb),
            subject=printable(subject),
            detail=json.dumps(detail or {}, sort_keys=True),
            previous=BEGINNING if last is None else last.digest,
        )
        entry.digest = digest_of(entry)
        entry.save(force_insert=True)
        transaction.on_commit(lambda: note(settings.AUDIT_ANCHOR, entry.number, entry.digest), robust=True)
    return entry


def digest_of(entry: AuditEntry) -> str:
    """Digest an entry, the digest of the one before included."""
    columns = [entry.number, entry.at, entry.author, entry.verb, entry.subject, entry.detail, entry.previous]
    return hashlib.sha256(json.dumps(columns).encode()).hexdigest()
