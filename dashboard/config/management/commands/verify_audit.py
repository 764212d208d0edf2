"""``manage.py verify_audit``: is the audit log still what was written?"""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.audit import anchor
from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import verify


class Command(BaseCommand):
    """Goes through the whole log; the exit status is 1 where something is wrong."""

    help = "Verify the audit log: its chain of digests, and its end against the anchor in the home."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take whether an anchor is to be begun."""
        parser.add_argument(
            "--begin-anchor", action="store_true", help="where there is none: note the last entry in a new one"
        )

    def handle(self, *, begin_anchor: bool, **_options: object) -> None:
        """Verify."""
        path = settings.AUDIT_ANCHOR
        if begin_anchor:
            self._begin()
        verdict = verify(path=path)
        if not verdict.is_whole:
            more = "\n".join(verdict.troubles)
            raise CommandError(f"the audit log is not what was written; {len(verdict.troubles)} found:\n{more}")
        words = f"{verdict.count} entries, none changed, none missing; the last one is {verdict.digest}"
        self.stdout.write(f"{words}; the anchor tells up to entry {verdict.noted}")

    def _begin(self) -> None:
        path = settings.AUDIT_ANCHOR
        if path.exists():
            raise CommandError(f"there is an anchor at {path}; move it away first, if it is no longer to count")
        last = AuditEntry.objects.order_by("-number").first()
        if last is not None:
            anchor.note(path, last.number, last.digest)
