"""What a by-config assignment would do wrong, before it does. Pure: values in, findings with their subjects out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.common.shown import shown
from dashboard.groups.risks import risk_words
from dashboard.groups.told import BY_HAND
from dashboard.plans.questions import RETRY
from rebalance_engine.findings import spell
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel, MessageQueue

MOST_SHOWN = 12
LONGEST_NAME = 80


class Grade(Enum):
    """How grave it is."""

    WRONG = "wrong"  # cannot be kept
    RISKY = "risky"  # can be, by somebody who says that it was read
    NOTE = "note"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        kind: its name, which never changes.
        subjects: queues or clients, sorted.
    """

    kind: str
    grade: Grade
    words: str
    subjects: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What somebody acknowledges: this kind about these subjects, and no others."""
        digest = hashlib.sha256("\n".join(self.subjects).encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.kind}:{digest[:16]}"

    @property
    def shown(self) -> tuple[str, ...]:
        """The first subjects."""
        return self.subjects[:MOST_SHOWN]

    @property
    def more(self) -> int:
        """How many there are besides."""
        return len(self.subjects) - len(self.shown)

    @property
    def named(self) -> str:
        """Its words with the names of the first subjects, where there is no markup."""
        names = ", ".join(shown(each, LONGEST_NAME) for each in self.shown)
        if not names:
            return self.words
        more = " " + _("and %(n)s more") % {"n": self.more} if self.more else ""
        return f"{self.words}: {names}{more}"


def check(assignment: Mapping[str, Iterable[MessageQueue]], view: GroupView, former: Collection[str]) -> list[Check]:
    """Look at an assignment, for the group as it is now.

    Args:
        former: clients that were members once, and are none now.
    """
    lists = {client: tuple(queues) for client, queues in assignment.items()}
    named = {queue for queues in lists.values() for queue in queues}
    online, topics = set(view.clients.distinct), _subscribed(view)
    there = set(view.queues)
    missing = sorted(queue for queue in there if queue.topic in topics and queue not in named)
    retry = [queue for queue in missing if queue.topic.startswith(RETRY)]
    found = [
        *_twice(lists),
        _unknown_queues(queue for queue in named if queue not in there),
        _unowned(queue for queue in missing if not queue.topic.startswith(RETRY)),
        _retry(retry, has_any=any(topic.startswith(RETRY) for topic in topics)),
        _strangers(lists.keys() - online - set(former)),
        _offline((lists.keys() - online) & set(former)),
        _idle(client for client in online if not lists.get(client)),
        _unsubscribed(lists, view, online),
        _others(view),
    ]
    return sorted((each for each in found if each is not None), key=lambda each: list(Grade).index(each.grade))


def to_acknowledge(checks: Iterable[Check]) -> list[Check]:
    """Give those that somebody must have read."""
    return [each for each in checks if each.grade is Grade.RISKY]


def refusals(checks: Iterable[Check]) -> list[Check]:
    """Give those with which nothing can be kept."""
    return [each for each in checks if each.grade is Grade.WRONG]


def _subscribed(view: GroupView) -> set[str]:
    """Give the topics that somebody subscribes to; all of the group's while nobody is online."""
    members = view.clients.distinct
    return {topic for topic in view.queues.topics if not members or any(view.subscribes(c, topic) for c in members)}


def _twice(lists: Mapping[str, tuple[MessageQueue, ...]]) -> list[Check]:
    counts = Counter(queue for queues in lists.values() for queue in queues)
    owners = Counter(queue for queues in lists.values() for queue in set(queues))
    both = _spelt(queue for queue, count in owners.items() if count > 1)
    again = _spelt(queue for queue, count in counts.items() if count > 1 and owners[queue] == 1)
    found = []
    if both:
        words = ngettext(
            "%(n)s queue is listed twice: two members would consume it, and each message twice",
            "%(n)s queues are listed twice: two members would consume each, and each message twice",
            len(both),
        )
        found.append(Check("listed twice", Grade.WRONG, words % {"n": len(both)}, both))
    if again:
        words = ngettext(
            "%(n)s queue is listed twice for the same member",
            "%(n)s queues are listed twice for the same member",
            len(again),
        )
        found.append(Check("listed twice", Grade.WRONG, words % {"n": len(again)}, again))
    return found or [Check("listed twice", Grade.FINE, _("no queue is listed twice"))]


def _unknown_queues(queues: Iterable[MessageQueue]) -> Check:
    unknown = _spelt(queues)
    if not unknown:
        return Check(
            "unknown queue", Grade.FINE, _("all queues that are named are in the routes of the group's topics")
        )
    return _risky("unknown queue", unknown)


def _unowned(queues: Iterable[MessageQueue]) -> Check:
    left = _spelt(queues)
    if not left:
        return Check("without owner", Grade.FINE, _("every queue has an owner"))
    return _risky("without owner", left)


def _retry(queues: Iterable[MessageQueue], *, has_any: bool) -> Check | None:
    left = _spelt(queues)
    if left:
        return _risky("retry left out", left)
    return Check("retry left out", Grade.FINE, _("the %RETRY% queues have owners")) if has_any else None


def _strangers(clients: Iterable[str]) -> Check:
    names = tuple(sorted(clients))
    if not names:
        return Check("unknown client", Grade.FINE, _("all clients that are named are known"))
    return _risky("unknown client", names)


def _offline(clients: Iterable[str]) -> Check:
    names = tuple(sorted(clients))
    if not names:
        return Check("client offline", Grade.FINE, _("nobody who is named is offline"))
    return _risky("client offline", names)


def _idle(clients: Iterable[str]) -> Check | None:
    names = tuple(sorted(clients))
    if not names:
        return None
    words = ngettext("%(n)s member is given nothing", "%(n)s members are given nothing", len(names))
    return Check("idle member", Grade.NOTE, words % {"n": len(names)}, names)


def _unsubscribed(lists: Mapping[str, tuple[MessageQueue, ...]], view: GroupView, online: set[str]) -> Check:
    wrong = tuple(
        sorted(
            f"{client}: {topic}"
            for client, queues in lists.items()
            if client in online
            for topic in {queue.topic for queue in queues}
            if not view.subscribes(client, topic)
        )
    )
    if not wrong:
        return Check("topic not subscribed", Grade.FINE, _("every member subscribes to what it is given"))
    return _risky("topic not subscribed", wrong)


def _others(view: GroupView) -> Check | None:
    if view.model is MessageModel.BROADCASTING:
        return _risky("not divided", ())
    others = tuple(sorted(set(view.strategies.values()) - BY_HAND))
    if not others:
        return None
    words = _("members divide by %(names)s now: this becomes the target once all of them use CONFIG")
    return Check("not by config", Grade.NOTE, words % {"names": ", ".join(others)}, ())


def _risky(kind: str, subjects: tuple[str, ...]) -> Check:
    return Check(kind, Grade.RISKY, risk_words(kind, len(subjects)), subjects)


def _spelt(queues: Iterable[MessageQueue]) -> tuple[str, ...]:
    return tuple(map(spell, sorted(queues)))
