"""What facts about brokers and topics change: rows of routes and queues, and whose inputs that concerns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Q

from dashboard.clusters.models import Broker, Cluster, Queue, Route, Topic
from dashboard.common.fields import observed_at, printable, source_columns
from dashboard.common.names import known_as, known_queue
from dashboard.common.rows import Rows
from rebalance_engine.events import BrokerGone, BrokerSeen, Cause, Fact, RouteMissing, RouteSeen
from rebalance_engine.model import MessageQueue


@dataclass(frozen=True, slots=True)
class RouteChange:
    """Queues that consumers divide are others now: of a topic, or, without one, of all topics on a broker."""

    fact: Fact
    cause: Cause
    evidence: str
    topic: str | None = None
    broker: str | None = None


@dataclass
class RouteBook:
    """The rows of one cluster's routes while a batch of facts is applied to them."""

    cluster: Cluster
    topics: Rows[str, Topic]
    routes: Rows[tuple[str, str, str], Route]
    queues: Rows[MessageQueue, Queue]
    brokers: Rows[tuple[str, int], Broker]
    changes: list[RouteChange] = field(default_factory=list)

    @classmethod
    def open(cls, cluster: Cluster, facts: Sequence[Fact], held: Iterable[MessageQueue]) -> RouteBook:
        """Read the rows that these facts, and these queues that somebody holds, are about."""
        routed = {known_as(fact.topic) for fact in facts if isinstance(fact, RouteSeen | RouteMissing)}
        wanted = set(held)
        topics = routed | {queue.topic for queue in wanted}
        rows = list(Topic.objects.filter(cluster=cluster, name__in=topics)) if topics else []
        by_pk = {row.pk: row for row in rows}
        routes = list(Route.objects.filter(topic__in=[row for row in rows if row.name in routed])) if routed else []
        brokers = {known_as(fact.broker) for fact in facts if isinstance(fact, BrokerSeen | BrokerGone)}
        queues = _queues(rows, routed, wanted)
        for route in routes:
            route.topic = by_pk[route.topic_id]
        for queue in queues:
            queue.topic = by_pk[queue.topic_id]
        return cls(
            cluster,
            topics=Rows(Topic, lambda row: row.name, rows),
            routes=Rows(Route, lambda row: (row.topic.name, row.namesrv, row.broker), routes),
            queues=Rows(Queue, lambda row: row.message_queue, queues),
            brokers=Rows(
                Broker,
                lambda row: (row.name, row.broker_id),
                Broker.objects.filter(cluster=cluster, name__in=brokers) if brokers else [],
            ),
        )

    def write(self) -> None:
        """Write what changed, parents first."""
        for rows in (self.topics, self.routes, self.queues, self.brokers):
            rows.write()

    def queue(self, queue: MessageQueue, at: int) -> Queue:
        """Find the row of a queue that somebody holds; one that no route has is made as gone."""
        row = self.queues.get(queue)
        if row is None:
            topic = self._topic(queue.topic)
            row = self.queues.add(
                Queue(topic=topic, broker=queue.broker, queue_id=queue.queue_id, since=at, gone_at=at)
            )
        return row

    # ---- one method for each kind of fact; each tells whether anything changed ----

    def route_seen(self, fact: RouteSeen) -> bool:
        """Store one NameServer's route of a topic, and what that makes of its queues."""
        topic, namesrv = self._topic(known_as(fact.topic)), printable(fact.source.address or "")
        mine = {row.broker: row for row in self.routes if row.topic is topic and row.namesrv == namesrv}
        if any(row.observed_at > observed_at(fact) for row in mine.values()):
            return False  # an older answer that arrives late
        changed = False
        for told in fact.brokers:
            columns = {
                "read_queues": told.read_queues,
                "write_queues": told.write_queues,
                "permission": told.permission,
                "has_master": told.has_master,
            }
            broker = known_as(told.broker)
            row = mine.pop(broker, None)
            if row is None:
                self.routes.add(Route(topic=topic, namesrv=namesrv, broker=broker, **columns, **source_columns(fact)))
                changed = True
            elif self.routes.update(row, **columns):
                self.routes.update(row, **source_columns(fact))
                changed = True
        return self._drop(mine.values()) | changed and self._divide(topic, fact)

    def route_missing(self, fact: RouteMissing) -> bool:
        """Forget one NameServer's route of a topic."""
        topic = self.topics.get(known_as(fact.topic))
        if topic is None:
            return False
        namesrv = printable(fact.source.address or "")
        mine = [row for row in self.routes if row.topic is topic and row.namesrv == namesrv]
        if any(row.observed_at > observed_at(fact) for row in mine):
            return False
        return self._drop(mine) and self._divide(topic, fact)

    def broker_seen(self, fact: BrokerSeen) -> bool:
        """Store that a broker is there, or back."""
        name = known_as(fact.broker)
        row = self.brokers.get((name, fact.broker_id))
        columns: dict[str, object] = {"address": printable(fact.address), "gone_at": None}
        if fact.version is not None:
            columns["version"] = printable(fact.version)
        if row is None:
            self.brokers.add(
                Broker(cluster=self.cluster, name=name, broker_id=fact.broker_id, **columns, **source_columns(fact))
            )
            return True
        if observed_at(fact) < row.observed_at:
            return False
        was_gone = row.gone_at is not None
        if not self.brokers.update(row, **columns):
            return False
        self.brokers.update(row, **source_columns(fact))
        if was_gone:
            words = f"broker {fact.broker} ({fact.address}) is back"
            self.changes.append(RouteChange(fact, Cause.BROKER_BACK, words, broker=name))
        return True

    def broker_gone(self, fact: BrokerGone) -> bool:
        """Store that a broker is no longer there."""
        name = known_as(fact.broker)
        row = self.brokers.get((name, fact.broker_id))
        if row is None or row.gone_at is not None or fact.at < row.at:
            return False
        self.brokers.update(row, gone_at=fact.at, observed_at=observed_at(fact))
        words = f"broker {fact.broker} ({fact.address}) is gone"
        self.changes.append(RouteChange(fact, Cause.BROKER_GONE, words, broker=name))
        return True

    def _topic(self, name: str) -> Topic:
        return self.topics.get(name) or self.topics.add(Topic(cluster=self.cluster, name=name))

    def _drop(self, rows: Iterable[Route]) -> bool:
        gone = list(rows)
        for row in gone:
            self.routes.remove(row)
        return bool(gone)

    def _divide(self, topic: Topic, fact: Fact) -> bool:
        """Bring the topic's queues into line with what all NameServers say together."""
        sizes: dict[str, int] = {}
        for route in self.routes:
            if route.topic is topic:
                sizes[route.broker] = max(sizes.get(route.broker, 0), route.readable_queues)
        routed = {(broker, number) for broker, size in sizes.items() for number in range(size)}
        came = went = 0
        for row in self.queues:
            if row.topic is not topic:
                continue
            place = (row.broker, int(row.queue_id))
            if place in routed:
                routed.discard(place)
                came += row.gone_at is not None and self.queues.update(row, gone_at=None, since=fact.at)
            elif row.gone_at is None:
                went += self.queues.update(row, gone_at=max(fact.at, row.since))
        for broker, number in sorted(routed):
            self.queues.add(Queue(topic=topic, broker=broker, queue_id=number, since=fact.at))
        came += len(routed)
        if came or went:
            words = f"route of {topic.name}: {came} queues came, {went} went"
            self.changes.append(RouteChange(fact, Cause.ROUTE_CHANGED, words, topic=topic.name))
        return True


def _queues(topics: list[Topic], routed: set[str], held: set[MessageQueue]) -> list[Queue]:
    """Read all queues of topics whose route is told, and those that somebody holds."""
    whole = [topic.pk for topic in topics if topic.name in routed]
    single = {(queue.topic, queue.broker): set[int]() for queue in held if queue.topic not in routed}
    for queue in held:
        if queue.topic not in routed:
            single[queue.topic, queue.broker].add(queue.queue_id)
    numbers = {topic.name: topic.pk for topic in topics}
    wanted = Q(topic__in=whole)
    for (topic, broker), ids in single.items():
        if topic in numbers:
            wanted |= Q(topic=numbers[topic], broker=broker, queue_id__in=ids)
    return list(Queue.objects.filter(wanted))


def held_queues(facts: Iterable[Fact]) -> set[MessageQueue]:
    """Name the queues of a batch whose rows are wanted."""
    wanted: set[MessageQueue] = set()
    for fact in facts:
        for queue in (getattr(fact, "queue", None), *getattr(fact, "queues", ())):
            if isinstance(queue, MessageQueue):
                wanted.add(known_queue(queue))
    return wanted
