"""What a group's members are, together: their programs, and how their listeners take messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from rebalance_engine.events import ConsumeType

MOST_PROGRAMS = 3
BROADCASTING = "BROADCASTING"
POP = ConsumeType.POP.value


class Kind(Protocol):
    """A member, as it is stored or as it was shown; empty and None are unknown."""

    @property
    def language(self) -> str:
        """Of the client library."""

    @property
    def version(self) -> str:
        """Of the client library."""

    @property
    def is_orderly(self) -> bool | None:
        """How its listener takes messages."""


def programs_of(members: Iterable[Kind]) -> str:
    """Say which client libraries the members use, the most used first: ``Java 5.5.0 (2), Java 4.9.7 (1)``."""
    names = [f"{member.language.title()} {member.version}".strip() for member in members]
    counts = Counter(name for name in names if name)
    if not names:
        return ""
    if not counts:
        return _("versions unknown")
    unknown = names.count("")
    if len(counts) == 1 and not unknown:
        return next(iter(counts))
    first = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    words = [f"{name} ({n})" for name, n in first[:MOST_PROGRAMS]]
    rest = len(first) - len(words)
    if rest:
        words.append(ngettext("%(n)s more version", "%(n)s more versions", rest) % {"n": rest})
    if unknown:
        words.append(ngettext("unknown of %(n)s", "unknown of %(n)s", unknown) % {"n": unknown})
    return ", ".join(words)


def listeners_of(members: Iterable[Kind], *, model: str | None) -> str:
    """Say how messages are taken: orderly, concurrently or both; broadcasting groups get all of them everywhere."""
    if model == BROADCASTING:
        return _("broadcasting: every member has every queue")
    told = [member.is_orderly for member in members]
    orderly, concurrent, unknown = (sum(each is kind for each in told) for kind in (True, False, None))
    if not told:
        return ""
    if unknown == len(told):
        return _("orderly or concurrent: unknown")
    if not unknown and not (orderly and concurrent):
        return _("orderly") if orderly else _("concurrent")
    counts = ((_("orderly"), orderly), (_("concurrent"), concurrent), (_("unknown"), unknown))
    return ", ".join(f"{words} ({n})" for words, n in counts if n)


def popping_of(consume_types: Iterable[str | None]) -> str:
    """Say how many members take messages by POP, as they said themselves: their queues have no owners."""
    n = sum(each == POP for each in consume_types)
    words = ngettext(
        "POP: %(n)s member takes messages from queues that nobody owns",
        "POP: %(n)s members take messages from queues that nobody owns",
        n,
    )
    return words % {"n": n} if n else ""
