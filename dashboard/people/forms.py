"""Logging in, with limits."""

from __future__ import annotations

from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from dashboard.common.clock import now_ms
from dashboard.people.operations import forget_attempts, try_once

TOO_OFTEN = "too_often"
WITHIN_MS = 5 * 60_000
MOST_FOR_A_NAME = 10  # wrong passwords for one name from one address
MOST_FROM_AN_ADDRESS = 50  # for all names together
MOST_FOR_A_NAME_ANYWHERE = 100  # from all addresses together


class LogInForm(AuthenticationForm):
    """Django's form; who tries too often waits, whether the password is right or wrong."""

    error_messages = {
        **AuthenticationForm.error_messages,
        TOO_OFTEN: _("Too many attempts. Wait five minutes, then try again."),
    }

    def clean(self) -> dict[str, object]:
        """Count, then check."""
        name = str(self.cleaned_data.get("username", ""))[:200].casefold()
        limits = _limits(name, self.request)
        answers = [try_once(what=what, most=most, within_ms=WITHIN_MS, now=now_ms()) for what, most in limits]
        if not all(answers):
            raise ValidationError(self.error_messages[TOO_OFTEN], code=TOO_OFTEN)
        cleaned = super().clean()
        for number, (what, _most) in enumerate(limits):
            forget_attempts(what=what, only_last=number > 0)
        return cleaned


def _limits(name: str, request: HttpRequest | None) -> list[tuple[str, int]]:
    address = request.META.get("REMOTE_ADDR", "") if request else ""
    return [
        (f"log in {name} from {address}", MOST_FOR_A_NAME),
        (f"log in from {address}", MOST_FROM_AN_ADDRESS),
        (f"log in {name}", MOST_FOR_A_NAME_ANYWHERE),
    ]
