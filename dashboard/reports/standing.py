"""Whether who reports is what it says: a member, or a producer, of the token's group, and of brokers that are there.

Brokers tell who is one; what none of them tells yet may be told in a moment.

======================================================  ================================================
the client of a producer's facts                        is
======================================================  ================================================
listed, or was, as a producer of the token's group      taken
listed as one of other groups alone                     refused, 403
not listed, and the group is known of consumers alone   to come again, 503
not listed, though each master told since its words     to come again, 503
not listed, and that says nothing yet                   taken
======================================================  ================================================
"""

from __future__ import annotations

from dashboard.clusters.models import Broker, Cluster, Producer, ProducerBroker, Route
from dashboard.clusters.senders import gone_of
from dashboard.common.names import known_as, unescape
from dashboard.groups.models import Group, Member, MemberList
from dashboard.reports.reading import OF_CONSUMERS, Foreign, Malformed, Said, Unacceptable
from rebalance_engine.events import ProducerFact

NEW_MS = 120_000  # a broker that is new is seen by then
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


def _check_producer(cluster: Cluster, said: Said, first: int, now: int) -> None:
    """Insist on a producer of the group, as brokers list them; an empty group is unknown."""
    group, client = known_as(said.group), known_as(said.reporter)
    listed = list(Producer.objects.filter(cluster=cluster, client_id=client).values_list("group_name", "gone_at"))
    if any(name in {group, ""} for name, _gone_at in listed):
        return
    others = sorted({name for name, gone_at in listed if gone_at is None})
    if others:
        seen = f"brokers list client {said.reporter!r} as a producer of {', '.join(map(repr, map(unescape, others)))}"
        raise Foreign(f"{seen}; this token is of group {said.group!r}")
    is_of_consumers = Group.objects.filter(cluster=cluster, name=group).exists()
    if is_of_consumers and not Producer.objects.filter(cluster=cluster, group_name=group).exists():
        seen = f"{said.group!r} is a group of consumers, and no broker lists a producer of it"
        raise TooEarly(f"{seen}; needed is a token of the producer's group, or a broker that lists it")
    words = min([first, *_told_lately(cluster, client, now)])
    if gone_of(last_words={(cluster.pk, client): words}, now=now):
        seen = f"no broker lists client {said.reporter!r} as a producer of {said.group!r}"
        raise TooEarly(f"{seen}; send the report again when it has been seen")


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
