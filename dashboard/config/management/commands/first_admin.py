"""``manage.py first_admin``: make the first admin, and show the password this once."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.common.clock import now_ms
from dashboard.people.operations import FIRST_ADMIN, make_first_admin, reset_password


class Command(BaseCommand):
    """Does nothing where somebody is there already; ``--reset NAME`` gives that person a new password."""

    help = "Make the first admin and show the password once, or give a person a new password."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a name."""
        parser.add_argument("--reset", metavar="NAME", help="give this person a new random password")

    def handle(self, *, reset: str | None, **_options: object) -> None:
        """Write name and password, each on a line of its own."""
        if reset is not None:
            try:
                self._show(reset, reset_password(username=reset, author="manage.py first_admin", now=now_ms()))
            except get_user_model().DoesNotExist:
                raise CommandError(f"nobody is called {reset!r}") from None
            return
        password = make_first_admin(now=now_ms())
        if password is None:
            self.stdout.write("Somebody is there already. A new password: manage.py first_admin --reset NAME")
        else:
            self._show(FIRST_ADMIN, password)

    def _show(self, name: str, password: str) -> None:
        self.stdout.write(f"name:     {name}\npassword: {password}  (shown this once)")
