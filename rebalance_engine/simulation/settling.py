"""Who should hold what when all is quiet, and whether he does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from rebalance_engine.consumer.profiles import Truncation
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageQueue
from rebalance_engine.plan import Plan, target
from rebalance_engine.remoting.bodies.routes import TopicRouteData
from rebalance_engine.simulation.breach import Rule, hold
from rebalance_engine.simulation.broker import BrokerProcess
from rebalance_engine.simulation.choosing import chosen
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.ledger import Ledger
from rebalance_engine.simulation.sessions import short

NEXT_HEARTBEAT = 40_000  # ms; ``heartbeatBrokerInterval``, and what a few timeouts put it off


def queues_of(topic: str, route: TopicRouteData) -> tuple[MessageQueue, ...]:
    """Give the queues that consumers divide."""
    return tuple(
        MessageQueue(topic, queues.broker_name, number)
        for queues in route.queue_datas
        for number in range(queues.read_queue_nums)
    )


def targets(
    group: str, queues: Iterable[MessageQueue], members: Collection[ConsumerProcess]
) -> Mapping[str, frozenset[MessageQueue]]:
    """Give what each process should hold, by its name.

    Client ids that are there twice confuse the strategy as they do in the wild, and where members disagree on the
    strategy each holds what its own one says: some queues then have two owners, and some have none. Who was told a
    list of queues holds those, whoever else is there.
    """
    view = GroupView.of(group, queues, [Member(client_id=member.client_id) for member in members])
    choices = {word: chosen(word) for word in dict.fromkeys(member.strategies[group] for member in members)}
    lists = {word: target(view, Plan(strategy=name)).as_lists() for word, (name, told) in choices.items() if not told}
    return {
        member.name: frozenset(choices[word][1] or lists[word].get(member.client_id, ()))
        for member in members
        for word in (member.strategies[group],)
    }


def check_held(
    ledger: Ledger,
    group: str,
    wanted: Mapping[str, frozenset[MessageQueue]],
    members: Iterable[ConsumerProcess],
    topics: frozenset[str],
) -> None:
    """Insist that every member holds what the strategy gives it, and says so."""
    for member in members:
        held = ledger.held(member)
        hold(
            held == frozenset(member.held(group)),
            Rule.SETTLED,
            f"{member.name} has {_names(member.held(group))}; it stated {_names(held)}",
        )
        if member.profile.truncation is Truncation.NEVER:
            held = frozenset(queue for queue in held if queue.topic in topics)
        should = wanted[member.name]
        hold(
            held == should,
            Rule.SETTLED,
            f"{member.name} holds {_names(held - should) or 'nothing'} too much, "
            f"and {_names(should - held) or 'nothing'} is missing",
        )


def check_versions(group: str, brokers: Iterable[BrokerProcess], members: Iterable[ConsumerProcess], at: int) -> None:
    """Insist that brokers filter by the newest subscription: who changed what it holds has told them its version.

    It may have had to skip the heartbeat that follows a change, and then the next one tells it.
    """
    for broker in brokers:
        registered = broker.machine.registry.find(group)
        known = registered.subscriptions if registered else {}
        for member in members:
            if not member.profile.bumps_version:
                continue
            for (changed, topic), changed_at in member.changed_at.items():
                if changed == group and topic in known and at - changed_at > NEXT_HEARTBEAT:
                    version, since = known[topic].sub_version, changed_at * member.profile.version_unit
                    hold(
                        version >= since,
                        Rule.SUBSCRIBED,
                        f"{broker.name} filters {topic} in version {version}; {member.name} changed at {since}",
                    )


def _names(queues: Iterable[MessageQueue]) -> str:
    return " ".join(short(queue) for queue in sorted(queues))
