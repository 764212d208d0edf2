"""What a group's members are, together: their programs, and how they take messages: by queues of theirs, or without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from rebalance_engine.events import ConsumeType
from rebalance_engine.proxied import is_of_grpc

MOST_PROGRAMS = 3
BROADCASTING = "BROADCASTING"
POP = ConsumeType.POP.value
MOST_NAMED = 3


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


def popping_words(n: int) -> str:
    """Say how many members take messages by POP, as they said themselves: their queues have no owners."""
    words = ngettext(
        "POP: %(n)s member takes messages from queues that nobody owns",
        "POP: %(n)s members take messages from queues that nobody owns",
        n,
    )
    return words % {"n": n} if n else ""


def without_owners(
    *,
    consume_types: Mapping[str, str | None],
    proxied: Collection[str],
    popped_by: Mapping[str, Sequence[str]] | None,
    strategy: str,
) -> dict[str, object]:
    """Say of a group's members, now or then, who of them takes messages without owning queues; for a page's head.

    Args:
        consume_types: of each member, by its client id, as it said itself.
        proxied: the client ids of those that seem to come through a proxy.
        popped_by: what brokers are set to give by POP.
        strategy: by what the group divides; empty is unknown, or nothing.
    """
    popping = {client for client, each in consume_types.items() if each == POP}
    return {
        "popping": popping_words(len(popping)),
        "set_to_pop": set_to_pop(popped_by),
        "through_proxies": through_proxies(proxied),
        # no strategy, and nobody who would use one: all take messages without owning queues
        "divides_nothing": bool(consume_types) and not strategy and popping.union(proxied) >= consume_types.keys(),
    }


def set_to_pop(popped_by: Mapping[str, Sequence[str]] | None) -> str:
    """Say which topics brokers are set to give the group by POP: a setting, which who divides by itself ignores."""
    told = {broker: topics for broker, topics in (popped_by or {}).items() if topics}
    if not told:
        return ""
    words = _(
        "Set to POP for %(topics)s on %(brokers)s: members that let the broker divide own none of these queues,"
        " others own theirs as ever"
    )
    topics = sorted({topic for topics in told.values() for topic in topics})
    return words % {"topics": _named(topics), "brokers": _named(sorted(told))}


def is_proxied(client: str, *, strategy: str, is_silent: bool) -> bool:
    """Ask whether a member seems to come through a proxy: it tells nothing of what it holds, and its id is of gRPC."""
    return is_silent and not strategy and is_of_grpc(client)


def through_proxies(silent: Iterable[str]) -> str:
    """Say how many of the silent members, given by client id, seem to come through a proxy, by their form."""
    n = sum(map(is_of_grpc, silent))
    words = ngettext(
        "%(n)s silent member has an id as gRPC clients have: through a proxy they own no queues, and cannot be asked",
        "%(n)s silent members have ids as gRPC clients have: through a proxy they own no queues, and cannot be asked",
        n,
    )
    return words % {"n": n} if n else ""


def _named(names: Sequence[str]) -> str:
    rest = len(names) - MOST_NAMED
    more = [ngettext("%(n)s more", "%(n)s more", rest) % {"n": rest}] if rest > 0 else []
    return ", ".join([*names[:MOST_NAMED], *more])
