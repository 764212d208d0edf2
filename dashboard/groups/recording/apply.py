"""A batch of facts, one after the other, onto the rows that they are about."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q

from dashboard.clusters.models import Cluster, Queue
from dashboard.clusters.recording import connections
from dashboard.clusters.recording.connections import ConnectionBook
from dashboard.clusters.recording.producers import ProducerBook
from dashboard.clusters.recording.routes import RouteBook, held_queues
from dashboard.groups.models import Group
from dashboard.groups.recording import configured, exactly, flow, members, progress
from dashboard.groups.recording.book import GroupBook
from dashboard.groups.recording.costs import CostBook, CostFact
from dashboard.groups.recording.flow import FlowBook
from dashboard.groups.recording.held import HeldBook, HeldFact
from dashboard.groups.recording.orders import OrderBook
from dashboard.groups.recording.progress import ProgressBook
from dashboard.groups.recording.pulls import PullBook
from rebalance_engine.events import (
    AnswerMissed,
    BrokerGone,
    BrokerSeen,
    CommandFinished,
    ConsumptionSeen,
    DeadLettersSeen,
    Fact,
    HeldSeen,
    MemberJoined,
    MemberLeft,
    MemberListSeen,
    MemberSeen,
    MemberStrategySeen,
    Origin,
    PresenceGone,
    PresenceSeen,
    ProducerFact,
    ProducersSeen,
    ProgressSeen,
    PullRefused,
    QueueDropped,
    QueuePulled,
    RequestModesSeen,
    RouteMissing,
    RouteSeen,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionReplaced,
    SubscriptionsSeen,
)


class Ledger:
    """All rows that one batch is about; facts are applied in their order, then everything is written at once."""

    def __init__(self, cluster: Cluster, facts: Sequence[Fact], now: int) -> None:
        self.groups = GroupBook.open(cluster, facts, now)
        self.routes = RouteBook.open(cluster, facts, held_queues(facts))
        self.held = HeldBook.open(self.groups, self.routes, facts)
        self.producers = ProducerBook.open(cluster, facts)
        self.costs = CostBook.open(self.groups, facts)
        self.progress = ProgressBook.open(self.groups, facts)
        self.flow = FlowBook.open(self.groups, facts)
        self.pulls = PullBook.open(self.groups, facts)
        self.connections = ConnectionBook.open(cluster, facts)
        self.orders = OrderBook.open(self.groups, facts)

    def apply(self, fact: Fact) -> bool:
        """Change what one fact changes; tell whether it is worth a line in the history.

        What only repeats is not. Facts that have no rows of their own (a reported pause) are.
        """
        match fact:
            case RouteSeen() | RouteMissing() | BrokerSeen() | BrokerGone():
                changed = self._routed(fact)
            case ProducerFact():
                changed = self.producers.apply(fact)
            case ProducersSeen():
                changed = self.connections.seen(fact)
            case ProgressSeen() | DeadLettersSeen():
                changed = self._counted(fact)
            case AnswerMissed():
                changed = self._missed(fact)
            case MemberLeft():
                changed = self._left(fact)
            case PullRefused() | CommandFinished():
                changed = self._noted(fact)
            case _ if isinstance(fact, HeldFact):
                changed = self._held(fact)
            case _ if isinstance(fact, CostFact):
                changed = self.costs.apply(fact)
            case _:
                changed = _apply_to_members(self.groups, fact)
        return changed

    def tell_groups(self) -> None:
        """Give each change of a route to every group that consumes from it: then all that are touched are known."""
        for change in self.routes.changes:
            if change.topic is not None:
                concerned = Group.objects.filter(subscriptions__topic=change.topic)
            else:
                here = Q(gone_at=None) | Q(gone_at__gte=change.since)
                queues = Queue.objects.filter(here, broker=change.broker, topic__cluster=self.routes.cluster)
                concerned = Group.objects.filter(subscriptions__topic__in=queues.values("topic__name"))
            for group in concerned.filter(cluster=self.routes.cluster).distinct():
                if change.is_first:
                    self.groups.touch(group.name)
                else:
                    self.groups.because(group, change.cause, change.evidence, change.fact)

    def write(self) -> None:
        """Write everything that changed, after the groups were told of it."""
        self.groups.groups.write()
        self.routes.write()
        self.groups.write()
        self.held.write()
        self.producers.write()
        self.costs.write()
        self.progress.write()
        self.flow.write()
        self.pulls.write()
        self.connections.write()

    def _routed(self, fact: RouteSeen | RouteMissing | BrokerSeen | BrokerGone) -> bool:
        match fact:
            case RouteSeen():
                return self.routes.route_seen(fact)
            case RouteMissing():
                return self.routes.route_missing(fact)
            case BrokerSeen():
                return self.routes.broker_seen(fact)
            case BrokerGone():
                self.connections.broker_gone(fact)
                return self.routes.broker_gone(fact)

    def _noted(self, fact: PullRefused | CommandFinished) -> bool:
        if isinstance(fact, PullRefused):
            self.pulls.refused(fact)
        else:
            self.orders.finished(fact)
        return True

    def _counted(self, fact: ProgressSeen | DeadLettersSeen) -> bool:
        if isinstance(fact, DeadLettersSeen):
            return self.flow.dead_seen(fact)
        self.progress.seen(fact)
        self.flow.seen(fact)
        return False

    def _missed(self, fact: AnswerMissed) -> bool:
        if connections.is_about(fact):
            return self.connections.missed(fact)
        if flow.is_about_dead_letters(fact):
            return self.flow.dead_missed(fact)
        if not progress.is_about(fact):
            return members.answer_missed(self.groups, fact)
        self.flow.missed(fact)
        return self.progress.missed(fact)

    def _left(self, fact: MemberLeft) -> bool:
        member = self.groups.member(fact.group, fact.client)
        if member is None:
            return False
        if member.left_at is None and fact.source.origin is Origin.AGENT_REPORT:
            return exactly.said_good_bye(self.groups, member, fact)  # brokers say who is there
        if member.left_at is None and fact.source.origin is Origin.OPERATOR:
            return False  # likewise; the order's receipt is found then
        fact, seen_at = exactly.fitted(self.groups, member, fact), member.left_at
        changed = members.member_left(self.groups, fact)
        if changed and seen_at is not None:
            self.held.left_cleanly(fact, member, seen_at)
        elif changed:
            self.held.left(fact, member)
        return changed

    def _held(self, fact: HeldFact) -> bool:
        if isinstance(fact, QueuePulled | QueueDropped):
            self.pulls.over(fact)
        member = members.here(self.groups, fact)
        if member is None:
            return self._late(fact)
        if not isinstance(fact, HeldSeen) and fact.at < (member.at_low or 0):
            return self.held.late(fact, member)  # of an earlier life
        match fact:
            case HeldSeen():
                return self.held.seen(fact, member)
            case QueueDropped():
                return self.held.dropped(fact, member)
            case QueuePulled():
                return self.held.pulled(fact, member)
            case _:
                return self.held.taken(fact, member)

    def _late(self, fact: HeldFact) -> bool:
        """Take in what somebody tells who was seen to leave before it was told."""
        member = self.groups.member(fact.group, fact.client)
        if member is None or isinstance(fact, HeldSeen):
            return False
        if fact.at > (member.left_at or 0) and not isinstance(fact, QueueDropped):
            return False  # who was lost may let go only later
        return self.held.late(fact, member)


def _apply_to_brokers_word(book: GroupBook, fact: MemberListSeen | ConsumptionSeen | RequestModesSeen) -> bool:
    if isinstance(fact, MemberListSeen):
        return members.list_seen(book, fact)
    if isinstance(fact, RequestModesSeen):
        return configured.modes_seen(book, fact)
    return configured.consumption_seen(book, fact)


def _apply_to_members(book: GroupBook, fact: Fact) -> bool:
    match fact:
        case MemberJoined():
            changed = members.member_joined(book, fact)
        case MemberSeen():
            changed = members.member_seen(book, fact)
        case MemberStrategySeen():
            changed = members.strategy_seen(book, fact)
        case MemberListSeen() | ConsumptionSeen() | RequestModesSeen():
            changed = _apply_to_brokers_word(book, fact)
        case PresenceSeen():
            changed = members.presence_seen(book, fact)
        case PresenceGone():
            changed = members.presence_gone(book, fact)
        case SubscriptionsSeen():
            changed = members.subscriptions_seen(book, fact)
        case SubscriptionAdded() | SubscriptionReplaced():
            changed = members.subscription_put(book, fact)
        case SubscriptionRemoved():
            changed = members.subscription_removed(book, fact)
        case _:
            changed = True  # no rows of its own: its line is what is kept
    return changed
