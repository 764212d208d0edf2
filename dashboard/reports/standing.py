"""Whether who reports is what it says: a member, or a producer, of the group, and of queues and brokers that are there.

Brokers tell who is one; what none of them tells yet may be told in a moment.

======================================================  ================================================
the client of a producer's facts                        is
======================================================  ================================================
listed, or was, as a producer of the token's group      taken
listed as one of other groups alone                     refused, 403, once these brokers told since its words
listed as one of other groups alone, before that        to come again, 503
not listed, and the group is known of consumers alone   to come again, 503
not listed, though each master told since its words     to come again, 503
not listed, and that says nothing yet                   taken
======================================================  ================================================

A queue that nobody knows is of a route that was not looked at yet, or of none: a watcher that is at work has looked by
two minutes after the words.
"""

from __future__ import annotations

from collections.abc import Collection

from dashboard.clusters.models import Broker, Cluster, Producer, ProducerBroker, ProducerList, Queue, Route
from dashboard.clusters.senders import SETTLED_MS, gone_of
from dashboard.common.names import known_as, unescape
from dashboard.groups.models import Group, Member, MemberList
from dashboard.reports.reading import OF_CONSUMERS, Foreign, Malformed, Said, Unacceptable
from rebalance_engine.events import Fact, ProducerFact
from rebalance_engine.findings import spell
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.system_groups import INNER_PRODUCER

NEW_MS = 120_000  # a broker that is new is seen by then
LOGICAL = "__syslo__"  # the brokers of static topics, which are none
LATELY_MS = 600_000  # words from before are those of another run


class TooEarly(Unacceptable):
    """Brokers tell who is a member, and this client is none of them yet: the same report may be taken in a moment."""

    status = 503


def check_standing(*, cluster: Cluster, said: Said, now: int) -> None:
    """Hold the facts of a client to what brokers and NameServers tell of it.

    Args:
        now: the control room's time, UTC epoch ms.

    Raises:
        TooEarly, Foreign, Malformed: it may not say that, or not yet.
    """
    if any(isinstance(fact, OF_CONSUMERS) for fact in said.facts):
        _check_member(cluster, said)
        _check_queues(cluster, said, now)
    sent = [fact for fact in said.facts if isinstance(fact, ProducerFact)]
    if sent:
        _check_producer(cluster, said, min(fact.at for fact in sent), now)
        _check_brokers(cluster, sent, now)


def _check_member(cluster: Cluster, said: Said) -> None:
    """Insist on a client that brokers list, where they do list members: a report makes nobody a member."""
    group, client = known_as(said.group), known_as(said.reporter)
    if Member.objects.filter(group__cluster=cluster, group__name=group, client_id=client).exists():
        return
    lists = MemberList.objects.filter(group__cluster=cluster, group__name=group)
    if lists.exists() and not any(client in each.clients or each.missing is not None for each in lists):
        seen = f"no broker lists client {said.reporter!r} as a member of {said.group!r} yet"
        raise TooEarly(f"{seen}; send the report again when it has been seen")


def _check_queues(cluster: Cluster, said: Said, now: int) -> None:
    """Insist on queues that some route has or had, or that a look saw somebody hold, where a watcher looks at all."""
    if cluster.watched_at is None:
        return
    facts = {queue: fact.at for fact in said.facts for queue in _queues_in(fact)}
    topics = {known_as(queue.topic) for queue in facts}
    rows = Queue.objects.filter(topic__cluster=cluster, topic__name__in=topics)
    known = set(rows.values_list("topic__name", "broker", "queue_id"))
    for queue, at in facts.items():
        place = (known_as(queue.topic), known_as(queue.broker), queue.queue_id)
        if place in known or queue.broker.startswith(LOGICAL):
            continue
        seen = f"no route of cluster {cluster.name!r} is known to have had {spell(queue)}"
        if min(now, cluster.watched_at) - at < NEW_MS:
            raise TooEarly(f"{seen} yet; send the report again when it has been looked at")
        raise Malformed(f"{seen}; needed is a queue of some route")


def _queues_in(fact: Fact) -> tuple[MessageQueue, ...]:
    """Give the queues that a fact of a consumer is about."""
    if not isinstance(fact, OF_CONSUMERS):
        return ()
    queue, queues = getattr(fact, "queue", None), getattr(fact, "queues", ())
    return queues if queue is None else (queue,)


def _check_producer(cluster: Cluster, said: Said, first: int, now: int) -> None:
    """Insist on a producer of the group, as brokers list them; an empty group is unknown."""
    group, client = known_as(said.group), known_as(said.reporter)
    rows = Producer.objects.filter(cluster=cluster, client_id=client).exclude(group_name=INNER_PRODUCER)
    listed = list(rows.values_list("group_name", "gone_at", "broker"))
    if any(name in {group, ""} for name, _gone_at, _broker in listed):
        return
    others = sorted({name for name, gone_at, _broker in listed if gone_at is None})
    if others:
        seen = f"brokers list client {said.reporter!r} as a producer of {', '.join(map(repr, map(unescape, others)))}"
        brokers = {broker for _name, gone_at, broker in listed if gone_at is None}
        if not _have_told_since(cluster, brokers, first):
            raise TooEarly(f"{seen}, and were not asked since; send the report again when they have been")
        raise Foreign(f"{seen}; this token is of group {said.group!r}")
    is_of_consumers = Group.objects.filter(cluster=cluster, name=group).exists()
    if is_of_consumers and not Producer.objects.filter(cluster=cluster, group_name=group).exists():
        seen = f"{said.group!r} is a group of consumers, and no broker lists a producer of it"
        raise TooEarly(f"{seen}; needed is a token of the producer's group, or a broker that lists it")
    words = min([first, *_told_lately(cluster, client, now)])
    if gone_of(last_words={(cluster.pk, client): words}, now=now):
        seen = f"no broker lists client {said.reporter!r} as a producer of {said.group!r}"
        raise TooEarly(f"{seen}; send the report again when it has been seen")


def _have_told_since(cluster: Cluster, brokers: Collection[str], at: int) -> bool:
    """Whether each of these brokers told its producers so long after an instant that it knew who had begun by then."""
    lists = ProducerList.objects.filter(cluster=cluster, broker__in=brokers)
    return all(seen_at > at + SETTLED_MS for seen_at in lists.values_list("observed_at", flat=True))


def _told_lately(cluster: Cluster, client: str, now: int) -> list[int]:
    """Give the instants of what is kept of its words: who goes on talking is to be listed all the same."""
    rows = ProducerBroker.objects.filter(cluster=cluster, client_id=client).values_list("sends", "backoffs")
    told = (each[0] for kept in rows for part in kept for each in part)
    return [at for at in told if at > now - LATELY_MS]


def _check_brokers(cluster: Cluster, sent: list[ProducerFact], now: int) -> None:
    """Insist on brokers of the cluster, where any is known."""
    if not Broker.objects.filter(cluster=cluster).exists():
        return
    named = {known_as(fact.broker): fact for fact in sent}
    known = set(Broker.objects.filter(cluster=cluster, name__in=named).values_list("name", flat=True))
    known |= set(Route.objects.filter(topic__cluster=cluster, broker__in=named).values_list("broker", flat=True))
    for name, fact in named.items():
        if name not in known:
            seen = f"cluster {cluster.name!r} has no broker {fact.broker!r} that is known"
            if now - fact.at < NEW_MS:
                raise TooEarly(f"{seen} yet; send the report again when it has been seen")
            raise Malformed(f"{seen}; needed is one that its NameServers name")
