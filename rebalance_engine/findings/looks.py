"""Faults that a single look at a group can prove.

One look makes a finding *suspected*; confirming it takes a second look, which is not this room's business.
Nothing is found about what is unknown: a queue is an orphan only when every member has said what it holds,
and when all NameServers that answer say that it is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.findings.finding import Finding, FindingKind, first_rows, retry_topic, spell
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.ownership import Ownership


def find_faults(view: GroupView) -> tuple[Finding, ...]:
    """Find everything that this look proves, in the order of ``FindingKind``."""
    if view.model is MessageModel.BROADCASTING:
        return ()  # every member has every queue: nothing to be orphaned, owned twice or idle over
    return (*orphan_queues(view), *double_owners(view), *idle_consumers(view), *strategy_mismatch(view))


def orphan_queues(view: GroupView) -> Iterator[Finding]:
    """Find queues that no member holds, where somebody subscribes to the topic and everybody answered.

    Not in a group of which members pop: they take the messages of queues that nobody holds too.
    """
    if view.held is None or not view.everybody_answered or not len(view.clients) or view.popping:
        return
    proof = first_rows(f"{client_id} answered, and does not hold it" for client_id in view.clients.distinct)
    retries, clients = retry_topic(view.group), tuple(view.clients.distinct)
    answered = "the only member answered, and does not hold it"
    if len(clients) > 1:
        answered = f"all {len(clients)} members answered, and none holds it"
    for queue in _wanted(view, view.unowned):
        name = spell(queue)
        if queue.topic == retries:
            sentence = f"No member consumes {name}: {answered}, so that messages that failed there wait."
            yield Finding(FindingKind.RETRY_UNOWNED, view.group, name, sentence, proof, told_by=clients)
        else:
            sentence = f"No member consumes {name}: {answered}."
            yield Finding(FindingKind.ORPHAN_QUEUE, view.group, name, sentence, proof, told_by=clients)


def double_owners(view: GroupView) -> Iterator[Finding]:
    """Find queues that two client ids hold or more at one time; members that have not answered do not matter."""
    if view.held is None:
        return
    for number in view.held.owned_twice().tolist():
        if number in view.perhaps_twice:
            continue
        queue, owners = spell(view.queues[number]), view.held.owners_of(number)
        sentence = f"{len(owners)} members hold {queue}: {', '.join(owners)}."
        proof = first_rows(f"{client_id} holds {queue}" for client_id in owners)
        yield Finding(FindingKind.DOUBLE_OWNER, view.group, queue, sentence, proof, told_by=owners)


def idle_consumers(view: GroupView) -> Iterator[Finding]:
    """Find members that answered that they hold nothing, though topics that they subscribe to have queues."""
    if view.held is None:
        return
    loads, excused = view.held.loads(), view.silent | view.popping | {client_id for client_id, _ in view.strays}
    sizes = {
        topic: end - start for topic, (start, end) in zip(view.queues.topics, pairwise(view.queues.starts), strict=True)
    }
    said: dict[frozenset[str] | None, tuple[str, tuple[str, ...]] | None] = {}  # many idle members say the same
    for client_id in view.clients.distinct:
        number = view.held.clients.number(client_id)
        if number is None or loads[number] or client_id in excused:
            continue
        subscribed = view.topics_of.get(client_id)
        if subscribed not in said:
            said[subscribed] = _idle_over(view, subscribed, sizes)
        if (words := said[subscribed]) is not None:
            sentence, topics = f"{client_id} is idle: {words[0]}", words[1]
            proof = (f"{client_id} answered, and holds nothing", *topics)
            yield Finding(FindingKind.IDLE_CONSUMER, view.group, client_id, sentence, proof, told_by=(client_id,))


def _idle_over(
    view: GroupView, subscribed: frozenset[str] | None, sizes: Mapping[str, int]
) -> tuple[str, tuple[str, ...]] | None:
    """Say over which queues a member with these topics is idle; None where these have none, or it is disputed which."""
    mine = {topic: size for topic, size in sizes.items() if subscribed is None or topic in subscribed}
    if not mine or not mine.keys().isdisjoint(view.disputed_topics):
        return None
    most = max(mine.values())
    clients = view.clients.distinct
    too_many = f"; with {len(clients)} members for {most} queues some must be" if len(clients) > most else ""
    topics = first_rows(_known_of(topic, size, subscribed) for topic, size in mine.items())
    return f"it holds none of the {sum(mine.values())} queues of its topics{too_many}.", topics


def _known_of(topic: str, size: int, subscribed: frozenset[str] | None) -> str:
    if subscribed is None:
        return f"what it subscribes to is unknown; the group consumes {topic}, which has {size} queues"
    return f"it subscribes to {topic}, which has {size} queues"


def strategy_mismatch(view: GroupView) -> Iterator[Finding]:
    """Find that members divide the same queues by different strategies."""
    told = {
        client_id: view.strategies[client_id] for client_id in view.clients.distinct if client_id in view.strategies
    }
    counts = Counter(told.values())
    if len(counts) > 1:
        by = ", ".join(f"{name} by {count}" for name, count in counts.most_common())
        sentence = f"Members use {len(counts)} strategies ({by}): queues can be left out or owned twice."
        proof = first_rows(f"{client_id} uses {name}" for client_id, name in told.items())
        yield Finding(FindingKind.STRATEGY_MISMATCH, view.group, view.group, sentence, proof)


def by_config_gaps(view: GroupView, config: Mapping[str, Iterable[MessageQueue] | None]) -> Iterator[Finding]:
    """Find what is wrong with a by-config assignment, whether members follow it yet or not.

    A queue of a subscribed topic that no member's list names; one that several lists name; one that the group
    does not have; a list for a client that is not a member.
    """
    lists = {client_id: list(queues or ()) for client_id, queues in config.items()}
    effective = {client_id: lists[client_id] for client_id in view.clients.distinct if client_id in lists}
    named = Ownership.from_lists(view.queues, view.clients, effective)
    sizes = first_rows(
        f"{client_id} is given {len(lists.get(client_id, []))} queues" for client_id in view.clients.distinct
    )
    for name in map(spell, _wanted(view, named.unowned())):
        yield _gap(view, name, f"No member's list names {name}.", sizes)
    for number in named.owned_twice().tolist():
        queue, owners = spell(view.queues[number]), named.owners_of(number)
        yield _gap(view, queue, f"{len(owners)} lists name {queue}.", first_rows(f"{c} is given it" for c in owners))
    for client_id in sorted(lists.keys() - effective.keys()):
        row = f"{client_id} is given {len(lists[client_id])} queues"
        yield _gap(view, client_id, f"There is a list for {client_id}, which is not a member.", (row,))
    for client_id, queues in effective.items():
        numbers = view.queues.numbers_of(queues).tolist()
        for unknown in sorted({spell(queue) for queue, number in zip(queues, numbers, strict=True) if number < 0}):
            yield _gap(view, unknown, f"The group has no queue {unknown}.", (f"{client_id} is given {unknown}",))


def _gap(view: GroupView, subject: str, sentence: str, proof: tuple[str, ...]) -> Finding:
    return Finding(FindingKind.BY_CONFIG_GAP, view.group, subject, sentence, proof)


def _wanted(view: GroupView, numbers: NDArray[np.intp]) -> Iterator[MessageQueue]:
    """Give those queues to whose topic somebody subscribes."""
    topics = {topic for topic in view.queues.topics if any(view.subscribes(c, topic) for c in view.clients.distinct)}
    return (queue for queue in view.queues.take(numbers) if queue.topic in topics)
