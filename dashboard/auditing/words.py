"""What stands in the audit log, in the reader's language: actions, and their details with their values.

An entry stays as it was written; its digest is of that. What has no words here is shown as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from django.utils.translation import gettext as _

from dashboard.audit.audited import CHANGED
from dashboard.common.sayings import in_words
from dashboard.groups.asking import outcome_words, words_of
from dashboard.groups.risks import read_risk

ABOUT_A_PERSON = frozenset({"password", "first_name", "last_name", "email"})  # of which the log has no value
KEPT_BY_CONFIG = "by-config.publish"  # as ``plans/operations.py`` says it, a room beside this one


def action_words(verb: str) -> str:
    """Translate what was done."""
    return _("Keep a by-config version") if verb == KEPT_BY_CONFIG else in_words(words_of(verb))


def detail_words(name: str) -> str:
    """Translate the name of a detail."""
    words = {
        "acknowledged": _("acknowledged"),
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
        "how": _("how"),
        "is_active": _("may log in"),
        "is_staff": _("staff"),
        "is_superuser": _("superuser"),
        "last_login": _("last login"),
        "last_name": _("last name"),
        "makes its topic": _("may make its topic"),
        "name": _("name"),
        "namesrv": _("NameServers"),
        "note": _("note"),
        "outcome": _("what became of it"),
        "parameters": _("parameters"),
        "password": _("password"),
        "permissions": _("permissions"),
        "queues": _("queues"),
        "read only": _("only looked at"),
        "reads only": _("reads only"),
        "reason": _("reason"),
        "report": _("report"),
        "role": _("role"),
        "sha256": _("SHA-256 of the document"),
        "target": _("object"),
        "token": _("token"),
        "user": _("person"),
        "user_permissions": _("permissions"),
        "username": _("name"),
        "version": _("version"),
    }
    return words.get(name, name)


def value_words(name: str, value: object) -> str:
    """Translate what stands in a detail; names, reasons and what has no words here stay as they are."""
    if name == "acknowledged" and isinstance(value, list):
        return "; ".join(read_risk(each).sentence for each in value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None:
        return _("nothing")
    if isinstance(value, Mapping):
        return _mapping_words(name, value)
    if isinstance(value, list):
        return ", ".join(value_words(name, each) for each in value) or _("nothing")
    return _known_words(name, value) if isinstance(value, str) else json.dumps(value)


def _mapping_words(name: str, value: Mapping[str, object]) -> str:
    """Say what it was and is; or each value with its name."""
    if value.keys() == {"before", "after"}:
        was, now = (value_words(name, value[key]) or _("nothing") for key in ("before", "after"))
        return _("%(before)s → %(after)s") % {"before": was, "after": now}
    return ", ".join(f"{detail_words(key)}: {value_words(key, each)}" for key, each in value.items())


def _known_words(name: str, value: str) -> str:
    if name == "outcome":
        return outcome_words(value)
    words = {
        ("role", "viewer"): _("viewer"),
        ("role", "operator"): _("operator"),
        ("role", "admin"): _("admin"),
        ("how", "crash"): _("crash"),
        ("how", "silent"): _("falls silent"),
        ("how", "leave"): _("leaves"),
    }
    return _("changed") if name in ABOUT_A_PERSON and value == CHANGED else words.get((name, value), value)
