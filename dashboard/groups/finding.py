"""What is typed into the overview's search: words that stand in a row, or in what its group consumes and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from dashboard.clusters.models import Cluster, Queue
from dashboard.groups.models import Member, Subscription

MOST_WORDS = 6  # that are looked for beyond the rows: each costs as many queries
MOST_TOPICS = 500


@dataclass(frozen=True, slots=True)
class Search:
    """Words, each with the groups (their numbers) that have it in a client id, a topic or a queue."""

    words: tuple[tuple[str, frozenset[int]], ...]

    @classmethod
    def of(cls, text: str, *, clusters: Sequence[Cluster]) -> Search:
        """Look for what was typed among the members, topics and queues of clusters."""
        words = text.split()
        pks = [cluster.pk for cluster in clusters]
        beyond = [_groups_with(word, pks) if place < MOST_WORDS else frozenset() for place, word in enumerate(words)]
        return cls(tuple((word.casefold(), groups) for word, groups in zip(words, beyond, strict=True)))

    def finds(self, group: int, text: str) -> bool:
        """Ask whether every word stands in a row's text, or in what belongs to its group."""
        folded = text.casefold() if self.words else ""
        return all(word in folded or group in groups for word, groups in self.words)


def _groups_with(word: str, clusters: Sequence[int]) -> frozenset[int]:
    members = Member.objects.filter(client_id__icontains=word, left_at=None, group__cluster__in=clusters)
    topics = Subscription.objects.filter(topic__icontains=word, group__cluster__in=clusters)
    found = {*members.values_list("group", flat=True), *topics.values_list("group", flat=True)}
    return frozenset(found | _by_queue(word, clusters))


def _by_queue(word: str, clusters: Sequence[int]) -> set[int]:
    """Find the groups of queues: ``broker``, ``topic/broker``, ``broker/topic`` or ``topic/broker/0``."""
    queues = Queue.objects.filter(_as_queue(word.split("/")), gone_at=None, topic__cluster__in=clusters)
    named = queues.values_list("topic__cluster", "topic__name").distinct()[:MOST_TOPICS]
    topics = set(named)
    rows = Subscription.objects.filter(topic__in={name for _, name in topics}, group__cluster__in=clusters)
    groups = rows.values_list("group__cluster", "topic", "group")
    return {group for cluster, topic, group in groups if (cluster, topic) in topics}


def _as_queue(parts: list[str]) -> Q:
    if len(parts) == 1:
        return Q(broker__icontains=parts[0])
    *names, last = parts
    number = Q(queue_id=int(last)) if last.isdecimal() and len(last) < 10 and len(parts) > 2 else None
    if number is not None:
        parts = names
    if len(parts) != 2:
        return Q(pk=None)
    one, other = parts
    either = Q(topic__name__icontains=one, broker__icontains=other) | Q(
        broker__icontains=one, topic__name__icontains=other
    )
    return either if number is None else either & number
