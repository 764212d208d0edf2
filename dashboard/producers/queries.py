"""What is read about producers: those that brokers list, what each reported of each broker, and routes to send by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import Exists, OuterRef, Q

from dashboard.clusters.models import Broker, Cluster, Producer, ProducerBroker, ProducerList, Route
from dashboard.clusters.recording.producers import MOST_BACKOFFS, MOST_SENDS
from dashboard.clusters.senders import gone_of
from dashboard.clusters.silences import STALE_MS, is_silent
from dashboard.common.names import unescape
from dashboard.people.roles import Access, Role
from dashboard.producers.absences import Absences, absences_of
from dashboard.producers.picking import Fault, Pick, Steps, pick, queues_of, steps_of
from dashboard.producers.standing import Standing, avoids_no_broker, backoffs_of, sends_of
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.canary import CLIENT as CANARY

WRITABLE = 2  # ``PermName.PERM_WRITE``
MOST_ROWS = 40_000  # of producers and brokers; beyond, the page says so and the API refuses
MOST_TOLD = 4_000  # of them with all that they reported of it, some 100 kB each
PAGE = 100
MOST_UNTOLD = 100
MOST_BROKERS = 12  # columns
MOST_TOPICS = 8
NOT_LIVE = frozenset({"unknown", "quiet", "not kept"})


@dataclass(frozen=True, slots=True)
class Seen:
    """One producer of a cluster, as brokers list it and as it reports; a stock one reports nothing.

    ``kept`` is all that is kept of what it reported; ``standings`` are as of the instant that was asked for.
    """

    cluster: Cluster
    client: str
    groups: tuple[str, ...]
    language: str
    version: str
    connected: tuple[str, ...]
    standings: tuple[Standing, ...]
    kept: tuple[Standing, ...]

    @property
    def is_reporting(self) -> bool:
        """Whether it reports; at a past instant, whether anything of then is kept."""
        return any(each.told_at is not None for each in self.standings)

    @property
    def has_told(self) -> bool:
        """Whether anything that it reported is kept, of whenever."""
        return any(each.told_at is not None for each in self.kept)

    @property
    def told_at(self) -> int | None:
        """When it told last."""
        return max((each.told_at for each in self.standings if each.told_at is not None), default=None)

    @property
    def is_unheard(self) -> bool:
        """Whether it is unknown how it stands now, though it reported once."""
        return any(each.is_unheard for each in self.standings)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that it told of in its last sends."""
        return tuple(sorted({send.topic for each in self.standings for send in each.sends if send.topic}))

    def leaves_alone(self, now: int) -> list[Standing]:
        """Give the brokers that it leaves alone now, longest first."""
        away = [each for each in self.standings if each.left_ms(now)]
        return sorted(away, key=lambda each: -each.left_ms(now))


@dataclass(frozen=True, slots=True)
class Producers:
    """Producers of some clusters: those first that leave a broker alone, then those that report; all, or a page.

    ``brokers`` are columns; ``left_out`` are brokers for which there is no place. ``count`` is of all producers that
    were found, ``is_cut``: there are more than are read. ``untold`` are brokers that did not say which producers they
    know, with the reason; ``absences`` are the times in which brokers were away, also such as began after the instant
    that was asked for.
    """

    rows: tuple[Seen, ...]
    count: int
    brokers: tuple[str, ...]
    untold: tuple[tuple[str, str], ...]
    absences: Absences
    left_out: tuple[str, ...] = ()
    number: int = 1
    pages: int = 1
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The instants before and after one at which a producer began or ended to leave a broker alone; None: none kept."""

    previous: int | None
    next: int | None


def neighbours_of(read: Producers, *, at: int, now: int) -> Neighbours:
    """Give where to go from an instant: to what the producers that are shown told, up to now."""
    instants = {each for row in read.rows for standing in row.kept for each in standing.instants if each <= now}
    return Neighbours(
        max((each for each in instants if each < at), default=None),
        min((each for each in instants if each > at), default=None),
    )


def producers_of(*, clusters: Sequence[Cluster], access: Access, now: int, is_past: bool = False) -> Producers:
    """Read the producers. They belong to no consumer group: they are for whoever may see all groups of a cluster.

    Args:
        now: UTC epoch ms; of a past instant what is kept of it: the last minutes of what producers reported, and when
            brokers listed them first and last.
    """
    mine = {each.pk: each for each in clusters if access.may_everywhere(Role.VIEWER, cluster=each.name)}
    told: dict[tuple[int, str], list[ProducerBroker]] = {}
    reports = ProducerBroker.objects.filter(cluster__in=mine).exclude(client_id=CANARY)
    reported = list(reports.order_by("-observed_at", "pk")[: MOST_TOLD + 1])
    for row in reported[:MOST_TOLD]:
        told.setdefault((row.cluster_id, row.client_id), []).append(row)
    known: dict[tuple[int, str], list[Producer]] = {}
    listed = Q(at__lte=now) & (Q(gone_at=None) | Q(gone_at__gt=now)) if is_past else Q(gone_at=None)
    connections = list(
        Producer.objects.filter(listed, cluster__in=mine).order_by("client_id", "broker")[: MOST_ROWS + 1]
    )
    for each in connections[:MOST_ROWS]:
        known.setdefault((each.cluster_id, each.client_id), []).append(each)
    at = now if is_past else None
    rows = [
        _seen(mine[key[0]], key[1], told.get(key, []), known.get(key, []), at) for key in told.keys() | known.keys()
    ]
    rows = _still_there([row for row in rows if row.standings], now)
    rows = rows if is_past else [_as_heard(row, now) for row in rows]
    rows.sort(key=lambda row: (not row.leaves_alone(now), not row.is_reporting, row.cluster.name, row.client))
    gone = Broker.objects.filter(cluster__in=mine, broker_id=0, gone_at__lte=now)
    is_gone = Exists(gone.filter(cluster=OuterRef("cluster"), name=OuterRef("broker")))
    untold = ProducerList.objects.filter(~is_gone, cluster__in=mine, missing__isnull=False, missing_at__lte=now)
    return Producers(
        tuple(rows),
        len(rows),
        tuple(sorted({each.broker for row in rows for each in row.standings})),
        tuple((row.broker, row.missing or "") for row in untold.order_by("broker")[:MOST_UNTOLD]),
        absences_of(clusters=mine),
        is_cut=len(reported) > MOST_TOLD or len(connections) > MOST_ROWS,
    )


def searched(read: Producers, search: str) -> Producers:
    """Keep the producers that have every word in client id, group, version, cluster or a broker's name."""
    words = search.casefold().split()
    rows = tuple(row for row in read.rows if all(word in _text_of(row) for word in words))
    return replace(read, rows=rows, count=len(rows))


def _text_of(row: Seen) -> str:
    brokers = (each.broker for each in row.standings)
    return "\n".join((row.client, *row.groups, row.language, row.version, row.cluster.name, *brokers)).casefold()


def page_of(read: Producers, *, number: int, search: str, now: int) -> Producers:
    """Cut a page, with a column for each broker of it as long as there is place.

    Those come first whose names are searched for, then those of which most producers of the page told lately, or ever,
    then those that list most of them.
    """
    pages = max(1, -(-len(read.rows) // PAGE))
    number = min(max(1, number), pages)
    rows = read.rows[(number - 1) * PAGE : number * PAGE]
    words = search.casefold().split()
    weights: dict[str, tuple[int, int, int]] = {}
    for each in (each for row in rows for each in row.standings):
        live, told, listed = weights.get(each.broker, (0, 0, 0))
        is_live, is_told = each.kind(now) not in NOT_LIVE, each.told_at is not None
        weights[each.broker] = (live + is_live, told + is_told, listed + 1)
    ranked = sorted(
        weights,
        key=lambda name: (not any(word in name.casefold() for word in words), *(-n for n in weights[name]), name),
    )
    columns, rest = sorted(ranked[:MOST_BROKERS]), sorted(ranked[MOST_BROKERS:])
    return replace(read, rows=rows, brokers=tuple(columns), left_out=tuple(rest), number=number, pages=pages)


def _still_there(rows: list[Seen], now: int) -> list[Seen]:
    """Leave out those that reported and are gone since; whom a broker lists is there."""
    words = {
        (row.cluster.pk, row.client): max(each.told_at for each in row.standings if each.told_at is not None)
        for row in rows
        if not row.connected and row.is_reporting
    }
    gone = gone_of(last_words=words, now=now) if words else set()
    return [row for row in rows if (row.cluster.pk, row.client) not in gone]


def steps_for(row: Seen) -> Steps:
    """Give the steps by which a producer leaves brokers alone, as its language and version have them."""
    return steps_of(row.version, row.language)


def avoids_none(row: Seen) -> bool:
    """Whether a producer left no broker alone, though it told of sends after which one does, or has no steps."""
    slow_ms = steps_for(row).slow_ms
    if slow_ms is None:
        return row.is_reporting and not any(each.backoffs for each in row.standings)
    return avoids_no_broker(row.standings, slow_ms=slow_ms)


def with_most_to_say(rows: Iterable[Seen], *, now: int) -> Seen | None:
    """Choose the producer to begin with: who leaves a broker alone for longest, did so last, cannot reach one, failed.

    Of those alike the first; None: none told anything.
    """
    return max((row for row in rows if row.has_told), key=lambda row: _has_to_say(row, now), default=None)


def _has_to_say(row: Seen, now: int) -> tuple[int | bool, ...]:
    near = row.standings
    return (
        max((each.left_ms(now) for each in near), default=0),
        max((backoff.until for each in near for backoff in each.backoffs), default=0),
        any(each.is_reachable is False for each in near),
        sum(each.failed(now) for each in near),
        row.is_reporting,
    )


def picks_of(row: Seen, *, now: int) -> list[Pick]:
    """Work out what a producer would choose now, for each topic that it told of."""
    if not row.is_reporting or not row.topics or row.is_unheard:
        return []
    steps, topics = steps_for(row), row.topics[:MOST_TOPICS]
    faults = {
        each.broker: Fault(each.backoff_until or 0, each.is_reachable is not False)
        for each in row.standings
        if each.told_at is not None
    }
    routes = _routes(row.cluster, topics)
    avoids_faults = not avoids_none(row)
    return [
        pick(topic, routes.get(topic, []), faults, steps.profile, at=now, avoids_faults=avoids_faults)
        for topic in topics
    ]


def _routes(cluster: Cluster, topics: Iterable[str]) -> dict[str, list[MessageQueue]]:
    """Give the queues that may be sent to, by topic, of the NameServer that was heard last."""
    found: dict[str, dict[str, Route]] = {}
    rows = Route.objects.filter(topic__cluster=cluster, topic__name__in=list(topics)).select_related("topic")
    for row in rows.order_by("observed_at")[:MOST_ROWS]:
        found.setdefault(row.topic.name, {})[row.broker] = row
    return {
        topic: queues_of(topic, ((name, row.write_queues) for name, row in brokers.items() if _takes(row)))
        for topic, brokers in found.items()
    }


def _takes(row: Route) -> bool:
    return row.has_master and bool(row.permission & WRITABLE)


def _seen(
    cluster: Cluster, client: str, told: Sequence[ProducerBroker], known: Sequence[Producer], at: int | None
) -> Seen:
    reported = {row.broker: standing_of(row) for row in told}
    connected = sorted({row.broker for row in known})
    kept = [reported.get(broker, _nothing(broker)) for broker in sorted({*reported, *connected})]
    standings = kept if at is None else [each.as_of(at) for each in kept]
    if at is not None:  # whom no broker listed then, and of whom nothing of then is kept, was not there yet
        there = [each for each in standings if each.told_at is not None or each.broker in connected]
        standings = [each for each in standings if each in there or each.is_cut] if there else []
    first = next((row for row in known if row.version or row.language), None)
    return Seen(
        cluster,
        client,
        tuple(sorted({row.group_name for row in known if row.group_name})),
        first.language if first is not None else "",
        first.version if first is not None else "",
        tuple(connected),
        tuple(standings),
        tuple(kept),
    )


def _as_heard(row: Seen, now: int) -> Seen:
    """Take for unknown how a producer stands that told nothing lately, in a cluster of which nothing answers either."""
    if row.told_at is None or now - row.told_at <= STALE_MS or not is_silent(row.cluster, now):
        return row
    return replace(row, standings=tuple(replace(each, is_unheard=each.told_at is not None) for each in row.standings))


def standing_of(row: ProducerBroker) -> Standing:
    """Read how one producer stands to one broker."""
    sends = [[*each[:3], None if each[3] is None else unescape(each[3]), *each[4:]] for each in row.sends]
    has_all = len(sends) < MOST_SENDS
    has_all_backoffs = len(row.backoffs) < MOST_BACKOFFS
    return Standing(
        row.broker,
        row.observed_at,
        sends_of(sends),
        backoffs_of(row.backoffs),
        row.backoff_until,
        row.backoff_ms,
        row.is_isolated,
        row.is_reachable,
        sends_since=None if has_all else sends[0][0],
        backoffs_since=None if has_all_backoffs else row.backoffs[0][0],
    )


def _nothing(broker: str) -> Standing:
    return Standing(broker, None, (), (), None, None, None, None)
