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
        "days": _("days"),
        "group": _("group"),
        "groups": _("groups"),
        "note": _("note"),
        "outcome": _("what became of it"),
        "parameters": _("parameters"),
        "queues": _("queues"),
        "reason": _("reason"),
        "report": _("report"),
        "role": _("role"),
        "target": _("object"),
        "token": _("token"),
        "version": _("version"),
    }
    return words.get(name, name)
