"""Those who should see the same and do not: processes of one id, subscriptions, brokers, NameServers.

A difference may only be that one was asked a moment after another. So each of these is confirmed no sooner than all
who are compared have been asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from rebalance_engine.findings.finding import Finding, FindingKind, count_of, first_rows, named, retry_topic
from rebalance_engine.group import GroupView
from rebalance_engine.tables import QueueTable

EXPIRES_S = 120  # ``BrokerConfig.channelExpiredTimeout``
LISTS_AGAIN_MS = 30_000  # brokers are asked for members each 10 s
ROUTES_AGAIN_MS = 70_000  # NameServers are asked for routes each 30 s
READABLE, WRITABLE = 4, 2  # ``PermName``


@dataclass(frozen=True, slots=True)
class Division:
    """What one NameServer says of a topic's queues on one broker."""

    read_queues: int
    permission: int
    has_master: bool

    @property
    def readable_queues(self) -> int:
        """How many queues members divide."""
        return self.read_queues if self.has_master and self.permission & READABLE else 0

    def __str__(self) -> str:
        """Say it in short: ``4 queues, permission RW``."""
        letters = ("R" if self.permission & READABLE else "-") + ("W" if self.permission & WRITABLE else "-")
        master = "" if self.has_master else ", no master"
        return f"{count_of(self.read_queues, 'queue', 'queues')}, permission {letters}{master}"


Expressions = Mapping[str, str]  # of the topics of one member, as ``TAG *``
Divisions = Mapping[str, Mapping[str, Division]]  # of one topic: by NameServer, by broker


def duplicate_ids(
    view: GroupView, lists: Mapping[str, tuple[str, ...]], addresses: Mapping[str, Mapping[str, tuple[str, ...]]]
) -> Iterator[Finding]:
    """Find client ids under which several connections are registered at one broker: each counts as a member.

    Args:
        lists: the members as each broker lists them, an id as often as it is registered.
        addresses: of each id, by broker, from where it is connected.
    """
    for client in view.clients.distinct:
        twice = {broker: listed.count(client) for broker, listed in lists.items() if listed.count(client) > 1}
        several = {broker: told for broker, told in addresses.get(client, {}).items() if len(told) > 1}
        most = max([*twice.values(), *map(len, several.values())], default=0)
        if most < 2:
            continue
        sentence = (
            f"{most} connections call themselves {client}: members count it {count_of(most, 'time', 'times')} when they"
            f" divide, and only the first share is taken. Two processes have one id, or one that is gone has not"
            f" expired yet (within {EXPIRES_S} s)."
        )
        proof = [f"{broker} lists {client} {count} times" for broker, count in sorted(twice.items())]
        proof += [f"{broker} has it from {', '.join(sorted(told))}" for broker, told in sorted(several.items())]
        yield Finding(
            FindingKind.DUPLICATE_CLIENT_ID,
            view.group,
            client,
            sentence,
            first_rows(proof),
            confirm_after_ms=LISTS_AGAIN_MS,
        )


def subscription_mismatch(view: GroupView, told: Mapping[str, Expressions]) -> Iterator[Finding]:
    """Find that members of one group subscribe to different topics, or to one topic by different expressions.

    Who said nothing is not compared, nor who subscribes to nothing, as one that assigns itself queues does.
    """
    retry = retry_topic(view.group)
    said = {
        client: {topic: expression for topic, expression in told[client].items() if topic != retry}
        for client in view.clients.distinct
        if client in told
    }
    said = {client: topics for client, topics in said.items() if topics}
    kinds = Counter(tuple(sorted(topics.items())) for topics in said.values())
    if len(kinds) < 2:
        return
    different = _different_topics([dict(kind) for kind in kinds])
    sentence = (
        f"Members subscribe to different things ({named(different)}): each broker keeps what the last heartbeat said,"
        " so that messages are left out or go to members that do not want them."
    )
    proof = first_rows(
        f"{client} subscribes to {', '.join(f'{topic} {expression}' for topic, expression in sorted(topics.items()))}"
        for client, topics in said.items()
    )
    yield Finding(FindingKind.SUBSCRIPTION_MISMATCH, view.group, view.group, sentence, proof)


def _different_topics(kinds: list[dict[str, str]]) -> list[str]:
    every = {topic for kind in kinds for topic in kind}
    return sorted(topic for topic in every if len({kind.get(topic) for kind in kinds}) > 1)


def different_lists(view: GroupView, lists: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    """Find that brokers list different members: a member asks any one of them, so that shares do not fit together.

    Only brokers that have queues of the group are compared: all members know them, and are registered with them.
    """
    brokers = {view.queues.brokers[number] for number in set(view.queues.broker.tolist())}
    compared = {broker: frozenset(listed) for broker, listed in sorted(lists.items()) if broker in brokers}
    everywhere = frozenset[str]().union(*compared.values())
    lacking = {broker: sorted(everywhere - listed) for broker, listed in compared.items() if everywhere - listed}
    if not lacking:
        return
    broker, missing = next(iter(lacking.items()))
    one = " (and 1 more broker lacks some)" if len(lacking) == 2 else ""
    others = f" (and {len(lacking) - 1} more brokers lack some)" if len(lacking) > 2 else one
    sentence = (
        f"Brokers list different members: {broker} does not have {named(missing)}{others}. Who asks there divides the"
        " queues by fewer."
    )
    proof = first_rows(f"{broker} lists {', '.join(sorted(listed)) or 'nobody'}" for broker, listed in compared.items())
    yield Finding(
        FindingKind.DIFFERENT_MEMBER_LISTS,
        view.group,
        view.group,
        sentence,
        proof,
        confirm_after_ms=LISTS_AGAIN_MS,
    )


def different_routes(view: GroupView, routes: Mapping[str, Divisions]) -> Iterator[Finding]:
    """Find topics of which NameServers give different queues: a member divides what the one that it asks says.

    Those that were not asked are not there; one that has no route of the topic is, with no brokers.
    """
    for topic in sorted(routes):
        told = routes[topic]
        sizes = {
            server: {broker: each.readable_queues for broker, each in brokers.items() if each.readable_queues}
            for server, brokers in told.items()
        }
        if len({tuple(sorted(size.items())) for size in sizes.values()}) < 2:
            continue
        least, most = (f(sum(size.values()) for size in sizes.values()) for f in (min, max))
        how = f"{least} or {most} queues" if least != most else f"{most} queues each, and not the same"
        without = (f"{server} has no route of {topic}" for server, brokers in sorted(told.items()) if not brokers)
        sees = (
            f"{server or 'a NameServer'} says {broker}: {each}"
            for server, brokers in sorted(told.items())
            for broker, each in sorted(brokers.items())
        )
        sentence = f"NameServers disagree on {topic} ({how}): members that ask different ones divide different queues."
        proof = first_rows(chain(without, sees))
        yield Finding(
            FindingKind.DIFFERENT_ROUTES, view.group, topic, sentence, proof, confirm_after_ms=ROUTES_AGAIN_MS
        )


def disputed_queues(queues: QueueTable, routes: Mapping[str, Divisions]) -> frozenset[int]:
    """Find the numbers of queues that some NameServer of those that answer does not have in its route of their topic.

    Args:
        queues: all that any NameServer told of, also of those that do not answer any more.
        routes: as :func:`different_routes` takes them.
    """
    found: list[int] = []
    for topic, told in routes.items():
        mine = queues.of_topic(topic)
        if not mine or not told:
            continue
        least = [
            min(brokers[broker].readable_queues if broker in brokers else 0 for brokers in told.values())
            for broker in queues.brokers
        ]
        column = slice(mine.start, mine.stop)
        is_agreed = queues.queue_id[column] < np.array(least, dtype=np.int64)[queues.broker[column]]
        found += (mine.start + np.flatnonzero(~is_agreed)).tolist()
    return frozenset(found)


def without_permission(view: GroupView, routes: Mapping[str, Divisions]) -> Iterator[Finding]:
    """Find queues that nobody should have because the topic may not be read there: no alarm, but worth a word."""
    for topic in sorted(routes):
        for broker in sorted({broker for brokers in routes[topic].values() for broker in brokers}):
            told = {server: brokers[broker] for server, brokers in routes[topic].items() if broker in brokers}
            if not all(
                each.read_queues and each.has_master and not each.permission & READABLE for each in told.values()
            ):
                continue
            size = max(each.read_queues for each in told.values())
            its = "its queue has" if size == 1 else f"its {size} queues have"
            sentence = f"{topic} may not be read on {broker}: {its} no owner on purpose."
            proof = first_rows(f"{server or 'a NameServer'} says {each}" for server, each in sorted(told.items()))
            yield Finding(FindingKind.ON_PURPOSE, view.group, f"{topic}/{broker}", sentence, proof)
