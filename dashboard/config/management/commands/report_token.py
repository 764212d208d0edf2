"""``manage.py report_token``: tokens with which a group's clients report."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.clusters.models import Cluster
from dashboard.common.admin import instant
from dashboard.common.clock import now_ms
from dashboard.common.shown import shown
from dashboard.reports.models import ReportToken
from dashboard.reports.tokens import make, revoke

AUTHOR = "manage.py"


class Command(BaseCommand):
    """Makes, lists and revokes tokens; what it does is in the audit log."""

    help = "Make, list or revoke the tokens with which a group's clients report to this control room."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take one of three things to do."""
        doing = parser.add_subparsers(dest="doing", required=True, metavar="make|list|revoke")
        making = doing.add_parser("make", help="make one; it is written on standard output, this once")
        making.add_argument("--cluster", required=True, metavar="NAME")
        making.add_argument("--group", required=True, metavar="NAME", help="of consumers, or of producers")
        making.add_argument("--note", default="", metavar="TEXT", help="whose it is, or what for")
        doing.add_parser("list", help="list all, without what could open anything")
        revoking = doing.add_parser("revoke", help="revoke one for good")
        revoking.add_argument("number", type=int, metavar="NUMBER", help="as the list has it")

    def handle(self, *, doing: str, **asked: object) -> None:
        """Do it."""
        if doing == "make":
            self._make(str(asked["cluster"]), str(asked["group"]), str(asked["note"]))
        elif doing == "list":
            self._list()
        else:
            self._revoke(int(str(asked["number"])))

    def _make(self, name: str, group: str, note: str) -> None:
        cluster = Cluster.objects.filter(name=name).first()
        if cluster is None:
            there = ", ".join(Cluster.objects.values_list("name", flat=True)) or "none"
            raise CommandError(f"there is no cluster {name!r}; there are: {there}")
        if not group:
            raise CommandError("the group is empty; needed is its name")
        token, _row = make(cluster=cluster, group=group, author=AUTHOR, now=now_ms(), note=note)
        self.stdout.write(token)

    def _list(self) -> None:
        for row in ReportToken.objects.select_related("cluster").order_by("pk"):
            state = (
                "good" if row.revoked_at is None else f"revoked {instant(row.revoked_at)} by {shown(row.revoked_by)}"
            )
            used = "never used" if row.used_at is None else f"used {instant(row.used_at)}"
            whose = f"{shown(row.cluster.name)} {shown(row.group_name)}"
            made = f"made {instant(row.made_at)} by {shown(row.made_by)}"
            self.stdout.write(f"{row.pk}  {row.hint}…  {whose}  {state}, {used}, {made}  {shown(row.note)}".rstrip())

    def _revoke(self, number: int) -> None:
        if not revoke(token=number, author=AUTHOR, now=now_ms()):
            raise CommandError(f"there is no good token {number}; `report_token list` lists them")
        self.stdout.write(f"token {number} is revoked")
