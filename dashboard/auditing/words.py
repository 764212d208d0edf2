"""What stands in the audit log, in the reader's language: actions, and the names of their details.

An entry stays as it was written; its digest is of that. What has no words here is shown as it is.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from dashboard.common.sayings import in_words
from dashboard.groups.asking import words_of

KEPT_BY_CONFIG = "by-config.publish"  # as ``plans/operations.py`` says it, a room beside this one


def action_words(verb: str) -> str:
    """Translate what was done."""
    return _("Keep a by-config version") if verb == KEPT_BY_CONFIG else in_words(words_of(verb))


def detail_words(name: str) -> str:
    """Translate the name of a detail."""
    words = {
        "clients": _("clients"),
        "cluster": _("cluster"),
        "clusters": _("clusters"),
        "command": _("order"),
        "date_joined": _("joined"),
        "days": _("days"),
        "deleted with it": _("deleted with it"),
        "email": _("address"),
        "first_name": _("first name"),
        "group": _("group"),
        "groups": _("groups"),
        "has a password": _("has a password"),
        "is_active": _("may log in"),
        "is_staff": _("staff"),
        "is_superuser": _("superuser"),
        "last_login": _("last login"),
        "last_name": _("last name"),
        "name": _("name"),
        "note": _("note"),
        "outcome": _("what became of it"),
        "parameters": _("parameters"),
        "permissions": _("permissions"),
        "queues": _("queues"),
        "reason": _("reason"),
        "report": _("report"),
        "role": _("role"),
        "target": _("object"),
        "token": _("token"),
        "user": _("person"),
        "user_permissions": _("permissions"),
        "username": _("name"),
        "version": _("version"),
    }
    return words.get(name, name)
