"""What facts about brokers and topics change: rows of routes and queues, and whose inputs that concerns."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.clusters.absences import MOST_ABSENCES, with_one_more
from dashboard.clusters.columns import Name, columns_of_divisions
from dashboard.clusters.models import Broker, Cluster, Queue, Route, Topic
from dashboard.common import bulk
from dashboard.common.fields import observed_at, printable, source_columns
from dashboard.common.names import known_as, known_queue
from dashboard.common.rows import Rows
from rebalance_engine.events import BrokerGone, BrokerSeen, Cause, Fact, RouteMissing, RouteSeen
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.rewriting import split_addresses

TOGETHER_MS = 60_000  # a broker that goes takes its queues along: both are seen within this time
FEW = 1_000  # queues on one broker, below which they are asked for one by one


@dataclass(frozen=True, slots=True)
class RouteChange:
    """Queues that consumers divide are others now: of a topic, or, without one, of all topics on a broker.

    ``is_first``: nothing was known of the topic before, so that nothing is known to have changed; or it did not, and
    only what one NameServer says of it did. Of a broker, the
    topics are those of which it has queues, or had some at ``since``: routes are often seen to change before brokers.
    """

    fact: Fact
    cause: Cause
    evidence: str
    topic: str | None = None
    broker: str | None = None
    is_first: bool = False
    since: int = 0


Place = tuple[str, int]  # of a queue within its topic: broker and id
Key = int | Name  # of a queue: its row, or, while it has none, its name
CELL = ("since", "gone_at", "gone_low", "absences")


@dataclass(slots=True)
class _Cell:
    """One queue of a topic whose route is told."""

    pk: int | None
    since: int
    gone_at: int | None
    gone_low: int | None = None
    absences: list[list[int | None]] | None = None
    came_at: int | None = None
    is_changed: bool = False

    def go(self, at: int, low: int | None) -> None:
        """Leave all routes, between two instants; ``low`` None: nobody knows since when."""
        self.gone_at, self.is_changed = max(at, self.since), True
        self.gone_low = None if low is None else min(low, self.gone_at)

    def come(self, at: int, low: int | None) -> None:
        """Come into a route; keep how long it was in none. What was held before its route was known was not away."""
        if self.absences or self.gone_low is not None or self.gone_at != self.since:
            away = [self.gone_low, self.gone_at, low, at]
            self.absences = with_one_more(self.absences, away, since=self.since, came_at=self.came_at)
        self.gone_at, self.gone_low, self.since, self.is_changed = None, None, at, True

    @property
    def columns(self) -> bulk.Values:
        """What changes of its row: the columns of ``CELL`` in their order."""
        return self.since, self.gone_at, self.gone_low, None if self.absences is None else json.dumps(self.absences)


@dataclass
class RouteBook:
    """The rows of one cluster's routes while a batch of facts is applied to them.

    ``divided`` are all queues of the topics whose routes are told; ``known`` and ``others`` the rows of those that the
    facts name, in a route and in none.
    """

    cluster: Cluster
    topics: Rows[str, Topic]
    routes: dict[str, Rows[tuple[str, str], Route]]
    brokers: Rows[tuple[str, int], Broker]
    divided: dict[str, dict[Place, _Cell]]
    known: dict[str, Mapping[Name, int]]
    others: dict[Name, int]
    gone: dict[Name, int] = field(default_factory=dict)
    changes: list[RouteChange] = field(default_factory=list)

    @classmethod
    def open(cls, cluster: Cluster, facts: Sequence[Fact], held: Iterable[MessageQueue]) -> RouteBook:
        """Read the rows that these facts, and these queues that somebody holds, are about."""
        routed = {known_as(fact.topic) for fact in facts if isinstance(fact, RouteSeen | RouteMissing)}
        wanted = set(held)
        of_held = {queue.topic for queue in wanted}
        names = routed | of_held
        rows = list(Topic.objects.filter(cluster=cluster, name__in=names)) if names else []
        by_pk = {row.pk: row for row in rows}
        told = {row.pk: row for row in rows if row.name in routed}
        brokers = {known_as(fact.broker) for fact in facts if isinstance(fact, BrokerSeen | BrokerGone)}
        known = {
            row.name: columns_of_divisions({row.pk: (row.name, row.division)}).row_of
            for row in rows
            if row.name in of_held
        }
        missing = [queue for queue in wanted if queue not in known.get(queue.topic, {})]
        return cls(
            cluster,
            topics=Rows(Topic, lambda row: row.name, rows),
            routes=_routes(told),
            brokers=Rows(
                Broker,
                lambda row: (row.name, row.broker_id),
                Broker.objects.filter(cluster=cluster, name__in=brokers) if brokers else [],
            ),
            divided=_cells(told),
            known=known,
            others=_others(missing, by_pk),
        )

    def write(self) -> None:
        """Write what changed, parents first; then every queue that was named has its row."""
        self.topics.write()
        for routes in self.routes.values():
            routes.write()
        self._write_queues()
        self.brokers.write()

    def key(self, queue: MessageQueue, at: int) -> Key:
        """Give what tells a queue that somebody holds from all others; one that no route has is made as gone."""
        pk = self.known.get(queue.topic, {}).get(queue) or self.others.get(queue)
        if pk is not None:
            return pk
        if (queue.broker, queue.queue_id) not in self.divided.get(queue.topic, {}):
            self._topic(queue.topic)
            self.gone.setdefault((queue.topic, queue.broker, queue.queue_id), at)
        return queue.topic, queue.broker, queue.queue_id

    def rows_of(self, keys: Iterable[Key]) -> dict[Key, int]:
        """Give the row of each queue, now that all are written."""
        keys = set(keys)
        names = [MessageQueue(*key) for key in keys if not isinstance(key, int)]
        found = _others(names, {topic.pk: topic for topic in self.topics}) if names else {}
        return {key: key if isinstance(key, int) else found[key] for key in keys}

    def _write_queues(self) -> None:
        new, changed = list[bulk.Values](), list[bulk.Values]()
        for topic, cells in self.divided.items():
            pk = self._topic(topic).pk if cells else None
            for (broker, number), cell in cells.items():
                if cell.pk is None:
                    new.append((pk, broker, number, *cell.columns))
                elif cell.is_changed:
                    changed.append((*cell.columns, cell.pk))
        new += [(self._topic(name[0]).pk, name[1], name[2], at, at, None, None) for name, at in self.gone.items()]
        bulk.insert(Queue, ("topic", "broker", "queue_id", *CELL, "came_at"), [(*row, row[3]) for row in new])
        bulk.update(Queue, CELL, changed)

    # ---- one method for each kind of fact; each tells whether anything changed ----

    def route_seen(self, fact: RouteSeen) -> bool:
        """Store one NameServer's route of a topic, and what that makes of its queues."""
        topic, namesrv = self._topic(known_as(fact.topic)), printable(fact.source.address or "")
        routes = self._routes_of(topic.name)
        mine = {row.broker: row for row in routes if row.namesrv == namesrv}
        if any(row.observed_at > observed_at(fact) for row in mine.values()):
            return False  # an older answer that arrives late
        retired = self._retired(routes, namesrv)
        unrouted = {*topic.unrouted_by} - {namesrv} - {row.namesrv for row in retired}
        has_less = self._drop(routes, retired) | self.topics.update(topic, unrouted_by=sorted(unrouted))
        was_divided = has_less and self._divide(topic, fact, is_quiet=True)
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
                routes.add(Route(topic=topic, namesrv=namesrv, broker=broker, **columns, **source_columns(fact)))
                changed = True
            elif routes.update(row, **columns):
                routes.update(row, **source_columns(fact))
                changed = True
        changed |= self._drop(routes, mine.values())
        return (changed and self._divide(topic, fact)) or was_divided

    def route_missing(self, fact: RouteMissing) -> bool:
        """Forget one NameServer's route of a topic."""
        topic, namesrv = self._topic(known_as(fact.topic)), printable(fact.source.address or "")
        routes = self._routes_of(topic.name)
        mine = [row for row in routes if row.namesrv == namesrv]
        if any(row.observed_at > observed_at(fact) for row in mine):
            return False
        is_new = self.topics.update(topic, unrouted_by=sorted({*topic.unrouted_by, namesrv}))
        if not topic.division:  # once no NameServer has one, it is known to have none: the first that come are a change
            if not set(self._listed()) <= set(topic.unrouted_by):
                return is_new
            return self.topics.update(topic, division=secrets.token_hex(16))
        retired = self._retired(routes, namesrv)
        was_divided = self._drop(routes, retired) and self._divide(topic, fact, is_quiet=True)
        return ((self._drop(routes, mine) or is_new) and self._divide(topic, fact)) or was_divided

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
        gone_at = row.gone_at
        if not self.brokers.update(row, **columns):
            return False
        self.brokers.update(row, **source_columns(fact))
        if gone_at is not None:
            ended = [*(row.absences or ()), [gone_at, max(gone_at, observed_at(fact))]]
            self.brokers.update(row, absences=ended[-MOST_ABSENCES:])
            words = f"broker {fact.broker} ({fact.address}) is back"
            self.changes.append(RouteChange(fact, Cause.BROKER_BACK, words, broker=name, since=gone_at - TOGETHER_MS))
        return True

    def broker_gone(self, fact: BrokerGone) -> bool:
        """Store that a broker is no longer there."""
        name = known_as(fact.broker)
        row = self.brokers.get((name, fact.broker_id))
        if row is None or row.gone_at is not None or fact.at < row.at:
            return False
        self.brokers.update(row, gone_at=fact.at, observed_at=observed_at(fact))
        words = f"broker {fact.broker} ({fact.address}) is gone"
        since = (fact.exactness.low if fact.exactness.low is not None else fact.at) - TOGETHER_MS
        self.changes.append(RouteChange(fact, Cause.BROKER_GONE, words, broker=name, since=since))
        return True

    def _topic(self, name: str) -> Topic:
        return self.topics.get(name) or self.topics.add(Topic(cluster=self.cluster, name=name))

    def _routes_of(self, topic: str) -> Rows[tuple[str, str], Route]:
        return self.routes.setdefault(topic, Rows(Route, _route_key))

    def _retired(self, routes: Rows[tuple[str, str], Route], namesrv: str) -> list[Route]:
        """Give what NameServers said that the cluster has no more, once one that it has tells."""
        listed = self._listed()
        return [row for row in routes if row.namesrv not in {"", *listed}] if namesrv in listed else []

    def _listed(self) -> list[str]:
        return [printable(address) for address in split_addresses(self.cluster.namesrv)]

    def _drop(self, routes: Rows[tuple[str, str], Route], rows: Iterable[Route]) -> bool:
        gone = list(rows)
        for row in gone:
            routes.remove(row)
        return bool(gone)

    def _divide(self, topic: Topic, fact: Fact, *, is_quiet: bool = False) -> bool:
        """Bring the topic's queues into line with what all NameServers say together.

        Quietly, where somebody took a NameServer off the cluster's list: then no route changed.
        """
        sizes: dict[str, int] = {}
        for route in self._routes_of(topic.name):
            sizes[route.broker] = max(sizes.get(route.broker, 0), route.readable_queues)
        routed = {(broker, number) for broker, size in sizes.items() for number in range(size)}
        cells = self.divided.setdefault(topic.name, {})
        low = None if is_quiet else _low_of(fact)
        came = went = 0
        for place, cell in cells.items():
            if place in routed:
                routed.discard(place)
                if cell.gone_at is not None:
                    cell.come(fact.at, low)
                    came += 1
            elif cell.gone_at is None:
                cell.go(fact.at, low)
                went += 1
        for place in sorted(routed):
            cells[place] = _Cell(None, fact.at, None, came_at=fact.at)
            self.gone.pop((topic.name, *place), None)
        came += len(routed)
        if came or went:
            is_first = not topic.division or is_quiet
            self.topics.update(topic, division=secrets.token_hex(16))
            words = f"route of {topic.name}: queues that came: {came}, that went: {went}"
            self.changes.append(RouteChange(fact, Cause.ROUTE_CHANGED, words, topic.name, is_first=is_first))
        else:  # one NameServer says something else now, and all together the same
            self.changes.append(RouteChange(fact, Cause.ROUTE_CHANGED, "", topic.name, is_first=True))
        return True


def _low_of(fact: Fact) -> int | None:
    """Give since when what a fact tells may have been so; None: nobody knows."""
    low = source_columns(fact)["at_low"]
    return low if isinstance(low, int) else None


def _route_key(row: Route) -> tuple[str, str]:
    return row.namesrv, row.broker


def _routes(told: Mapping[int, Topic]) -> dict[str, Rows[tuple[str, str], Route]]:
    """Read what each NameServer says of these topics."""
    of_topic: dict[str, list[Route]] = {topic.name: [] for topic in told.values()}
    for route in Route.objects.filter(topic__in=told) if told else ():
        route.topic = told[route.topic_id]
        of_topic[route.topic.name].append(route)
    return {name: Rows(Route, _route_key, routes) for name, routes in of_topic.items()}


def _cells(told: Mapping[int, Topic]) -> dict[str, dict[Place, _Cell]]:
    """Read all queues that topics have or had."""
    cells: dict[str, dict[Place, _Cell]] = {topic.name: {} for topic in told.values()}
    columns = ("pk", "topic_id", "broker", "queue_id", *CELL, "came_at")
    for pk, topic, broker, number, *cell in Queue.objects.filter(topic__in=told).values_list(*columns) if told else ():
        cells[told[topic].name][broker, number] = _Cell(pk, *cell)
    return cells


def _others(queues: Sequence[MessageQueue], topics: Mapping[int, Topic]) -> dict[Name, int]:
    """Find the rows of queues that are in no route now."""
    pks = {topic.name: topic.pk for topic in topics.values()}
    places: dict[tuple[int, str], set[int]] = {}
    for queue in queues:
        if queue.topic in pks:
            places.setdefault((pks[queue.topic], queue.broker), set()).add(queue.queue_id)
    found: dict[Name, int] = {}
    for (topic, broker), ids in places.items():
        rows = Queue.objects.filter(topic=topic, broker=broker)
        if len(ids) < FEW:
            rows = rows.filter(queue_id__in=ids)
        for pk, number in rows.values_list("pk", "queue_id"):
            if number in ids:
                found[topics[topic].name, broker, number] = pk
    return found


def held_queues(facts: Iterable[Fact]) -> set[MessageQueue]:
    """Name the queues of a batch whose rows are wanted."""
    wanted: set[MessageQueue] = set()
    for fact in facts:
        for queue in (getattr(fact, "queue", None), *getattr(fact, "queues", ())):
            if isinstance(queue, MessageQueue):
                wanted.add(known_queue(queue))
    return wanted
