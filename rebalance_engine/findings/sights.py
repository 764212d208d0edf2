"""What is seen of a group besides a look at its queues and members, and everything that can be found in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rebalance_engine.findings import flow, refused, seers, unrest
from rebalance_engine.findings.finding import Finding
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Sights:
    """What is known of a group from others than its members' tables; empty is unknown.

    Attributes:
        lists: the members as each broker lists them, an id as often as it is registered; of those that told.
        addresses: by client id and broker, from where it is connected.
        subscriptions: by client id and topic, the expression with its type.
        routes: by topic, NameServer and broker, which queues there are to divide; of NameServers that answer. One that
            said that there is no route has no brokers.
        is_deserted: nobody is a member, which is known.
        standings: queues in which messages wait and nothing is committed.
        held_since: since when the owner of each of these has it, by ``topic/broker/id``.
        retried, dead: by broker, the last looks at the ends of the retry and the dead-letter topic, oldest first.
        changes: members that came and went lately.
        closed: brokers that are told to let nobody of the group consume.
        lost: who told last to have a queue that no member has, by ``topic/broker/id``, where that one was lost.
    """

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    addresses: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    subscriptions: Mapping[str, seers.Expressions] = field(default_factory=dict)
    routes: Mapping[str, seers.Divisions] = field(default_factory=dict)
    locks: tuple[refused.Refusal, ...] = ()
    pulls: tuple[refused.PullRefusal, ...] = ()
    is_deserted: bool = False
    standings: tuple[flow.Standing, ...] = ()
    held_since: Mapping[str, int] = field(default_factory=dict)
    retried: Mapping[str, tuple[flow.Returned, ...]] = field(default_factory=dict)
    dead: Mapping[str, tuple[flow.Returned, ...]] = field(default_factory=dict)
    changes: tuple[unrest.Change, ...] = ()
    closed: tuple[str, ...] = ()
    lost: Mapping[str, str] = field(default_factory=dict)


NO_SIGHTS = Sights()


def find_in_sights(
    view: GroupView, sights: Sights, now: int, chain: tuple[unrest.Restless, ...] = ()
) -> tuple[Finding, ...]:
    """Find everything that these show, in the order of ``FindingKind``.

    Args:
        chain: the rounds of the wave that is open, the open one last.
    """
    return tuple(_found(view, sights, now, chain))


def _found(view: GroupView, sights: Sights, now: int, chain: tuple[unrest.Restless, ...]) -> Iterator[Finding]:
    group, shares = view.group, view.model is MessageModel.CLUSTERING
    standings = [each for each in sights.standings if each.queue.broker not in sights.closed]
    if shares and sights.is_deserted:
        yield from flow.nobody_consumes(group, standings, sights.lists)
    yield from seers.duplicate_ids(view, sights.lists, sights.addresses)
    yield from refused.lock_refusals(group, sights.locks, now)
    pulls = (each for each in sights.pulls if not refused.on_purpose(each, sights.closed))
    yield from refused.pull_refusals(group, pulls, now)
    yield from seers.subscription_mismatch(view, sights.subscriptions)
    if shares:  # who has all queues divides nothing, and does not commit to a broker
        yield from seers.different_lists(view, sights.lists)
        yield from seers.different_routes(view, sights.routes)
        yield from flow.stuck_listeners(view, standings, sights.held_since)
        for broker, looks in sorted(sights.retried.items()):
            yield from flow.retry_growing(group, broker, looks)
        for broker, looks in sorted(sights.dead.items()):
            yield from flow.dead_letters(group, broker, looks)
        yield from unrest.storm(view, chain, now)
    yield from unrest.flapping(group, sights.changes, now)
    yield from seers.without_permission(view, sights.routes)
    yield from refused.disabled(view, sights.closed)
