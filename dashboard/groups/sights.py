"""What is stored of a group besides its queues and members, for the engine: who sees what, and who is refused what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from dashboard.clusters.models import Broker, Cluster, Queue, Route, Topic, Watch
from dashboard.common.fields import printable
from dashboard.groups.locked import refusals_of
from dashboard.groups.models import (
    Flow,
    Group,
    Holding,
    MemberList,
    Presence,
    PullRefusal,
    Round,
    RoundCause,
    Subscription,
)
from dashboard.groups.moves import IS_MOVE
from dashboard.groups.recording.flow import dead_of, returned_of, standings_of
from rebalance_engine.events import Cause
from rebalance_engine.findings import (
    Change,
    Division,
    Restless,
    Sights,
    Standing,
    is_stuck,
    spell,
)
from rebalance_engine.findings import PullRefusal as Refused
from rebalance_engine.findings.unrest import STORM_ROUNDS, UNREST_MS
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.rewriting import split_addresses
from rebalance_engine.rounds import MEMBERS_CHANGE

MOST_CHANGES = 500
MOST_STUCK = 200
MOST_CHAIN = 60
MOST_ASKED = 5_000


Told = Mapping[str, Mapping[str, Mapping[str, Division]]]  # by topic, NameServer and broker


@dataclass(frozen=True, slots=True)
class Routes:
    """What the cluster's NameServers say of topics: those that answer, and ``every`` one, when it answered last."""

    answering: Told
    every: Told

    @property
    def last(self) -> Told:
        """What is known of each topic: by those that answer, or by all as they said it last where none does."""
        return {**self.every, **self.answering}

    @property
    def is_one_word(self) -> bool:
        """Whether all have said the same, so that it matters to nobody which of them answer."""
        return all(len({repr(sorted(each.items())) for each in told.values()}) < 2 for told in self.every.values())


def sights_of(*, group: Group, here: Collection[str], routes: Told) -> Sights:
    """Read what is seen of a group now.

    Args:
        here: client ids of its members.
        routes: what NameServers that answer say of the topics that any of them consumes.
    """
    flows = list(Flow.objects.filter(group=group).order_by("broker"))
    standings = _stuck(flows)
    return Sights(
        lists=_lists(group),
        addresses=_addresses(group),
        subscriptions=_subscriptions(group),
        routes=routes,
        locks=refusals_of(group=group, here=here),
        pulls=_pulls(group, here),
        standings=standings,
        held_since=_held_since(group, standings),
        retried={row.broker: returned_of(row) for row in flows},
        dead={row.broker: dead_of(row) for row in flows},
        changes=_changes(group),
        closed=tuple(group.closed_by),
    )


def lost_with(*, group: Group, queues: Mapping[int, str]) -> dict[str, str]:
    """Name who told last to have queues, where that one was lost without a word: it may have them still.

    Args:
        queues: the names of queues that no member has, by their rows.
    """
    told_last = Coalesce("until_low", "until").desc()
    last = Holding.objects.filter(group=group, queue=OuterRef("pk")).order_by(told_last, "-at", "-pk")[:1]
    found: dict[str, str] = {}
    pks = sorted(queues)
    for start in range(0, len(pks), MOST_ASKED):
        rows = Queue.objects.filter(pk__in=pks[start : start + MOST_ASKED]).annotate(
            last_client=Subquery(last.values("member__client_id")),
            ended_at=Subquery(last.values("until")),
            ended_high=Subquery(last.values("until_high")),
        )
        lost = rows.filter(ended_at__isnull=False, ended_high=None).values_list("pk", "last_client")
        found |= {queues[pk]: client for pk, client in lost}
    return found


def chain_of(*, group: Group) -> tuple[tuple[int, Restless], ...]:
    """Give the rounds of the latest wave, each with the number of its first one; the latest last."""
    latest = Round.objects.filter(group=group).order_by("-number").values_list("wave", flat=True).first()
    if latest is None:
        return ()
    rows = Round.objects.filter(group=group, wave=latest).order_by("-number")
    told = rows.values_list("number", "opened_at", "cause")[:MOST_CHAIN]
    chain = [Restless(number, at, Cause(cause)) for number, at, cause in reversed(told)]
    if sum(each.is_of_members for each in chain) >= STORM_ROUNDS - 1:  # with one that opens now
        moved = _last_moves(group, chain)
        chain = [replace(each, moved_at=moved.get(each.number)) for each in chain]
    return tuple((latest, each) for each in chain)


def _last_moves(group: Group, chain: Sequence[Restless]) -> dict[int, int]:
    """Give when a queue was last taken or dropped in each round of a chain; one in which none was is left out."""
    begins = [each.opened_at for each in chain]
    times = dict(zip((each.number for each in chain), zip(begins, [*begins[1:], None], strict=True), strict=True))
    spans = Holding.objects.filter(group=group)
    found: dict[int, int] = {}
    for column, rows in (("at", spans.filter(IS_MOVE)), ("until", spans)):
        within = {f"of_{number}": Max(column, filter=_between(column, *each)) for number, each in times.items()}
        for name, at in rows.filter(**{f"{column}__gte": begins[0]}).aggregate(**within).items():
            if at is not None:
                number = int(name.removeprefix("of_"))
                found[number] = max(at, found.get(number, 0))
    return found


def _between(column: str, since: int, until: int | None) -> Q:
    within = Q(**{f"{column}__gte": since})
    return within if until is None else within & Q(**{f"{column}__lt": until})


def _lists(group: Group) -> dict[str, tuple[str, ...]]:
    gone = Broker.objects.filter(cluster=group.cluster_id, broker_id=0, gone_at__isnull=False).values("name")
    rows = MemberList.objects.filter(group=group, missing=None).exclude(broker__in=gone)
    return {broker: tuple(clients) for broker, clients in rows.values_list("broker", "clients")}


def _addresses(group: Group) -> dict[str, dict[str, tuple[str, ...]]]:
    """Give from where each member is connected to brokers that have several connections of it."""
    rows = Presence.objects.filter(member__group=group, member__left_at=None, gone_at=None)
    told: dict[str, dict[str, list[str]]] = {}
    for client, broker, address in rows.values_list("member__client_id", "broker", "address"):
        told.setdefault(client, {}).setdefault(broker, []).append(address)
    return {
        client: {broker: tuple(sorted(each)) for broker, each in brokers.items()}
        for client, brokers in told.items()
        if any(len(each) > 1 for each in brokers.values())
    }


def _subscriptions(group: Group) -> dict[str, dict[str, str]]:
    rows = Subscription.objects.filter(group=group, member__isnull=False, member__left_at=None)
    told: dict[str, dict[str, str]] = {}
    for client, topic, kind, expression in rows.values_list(
        "member__client_id", "topic", "expression_type", "expression"
    ):
        told.setdefault(client or "", {})[topic] = f"{kind} {expression or '*'}"
    return told


def routes_of(*, group: Group, topics: Iterable[str]) -> Routes:
    """Read what the cluster's NameServers say of topics: how old a row of another one is nobody knows."""
    cluster = Cluster.objects.get(pk=group.cluster_id)
    watch = Watch.objects.filter(cluster=cluster).first()
    mute = {each["server"] for each in watch.silent if not each.get("broker")} if watch is not None else set()
    listed = {printable(address) for address in split_addresses(cluster.namesrv)}
    rows = Route.objects.filter(topic__cluster=cluster, topic__name__in=set(topics))
    told: dict[str, dict[str, dict[str, Division]]] = {}
    for row in rows.select_related("topic").order_by("topic__name", "namesrv", "broker"):
        if row.namesrv not in listed:
            continue
        says = Division(row.read_queues, row.permission, row.has_master)
        told.setdefault(row.topic.name, {}).setdefault(row.namesrv, {})[row.broker] = says
    for topic, lacking in Topic.objects.filter(cluster=cluster, name__in=set(told)).values_list("name", "unrouted_by"):
        for namesrv in lacking:
            if namesrv in listed:
                told[topic].setdefault(namesrv, {})
    answering = {
        topic: {namesrv: says for namesrv, says in each.items() if namesrv not in mute} for topic, each in told.items()
    }
    return Routes({topic: each for topic, each in answering.items() if each}, told)


def _pulls(group: Group, here: Collection[str]) -> tuple[Refused, ...]:
    rows = [row for row in PullRefusal.objects.filter(group=group) if row.client_id in here]
    return tuple(
        Refused(
            row.client_id,
            MessageQueue(row.topic, row.broker, row.queue_id),
            row.code,
            row.since,
            row.at,
            row.count,
        )
        for row in sorted(rows, key=_place)
    )


def _place(row: PullRefusal) -> tuple[str, str, int, str]:
    return row.topic, row.broker, row.queue_id, row.client_id


def _stuck(flows: Iterable[Flow]) -> tuple[Standing, ...]:
    every = (each for row in flows for each in standings_of(row))
    return tuple(each for each in every if is_stuck(each))[:MOST_STUCK]


def _held_since(group: Group, standings: Iterable[Standing]) -> Mapping[str, int]:
    """Give since when these queues have the owner that they have."""
    wanted = {each.queue for each in standings}
    if not wanted:
        return {}
    rows = Holding.objects.filter(
        group=group, until=None, queue__topic__name__in={queue.topic for queue in wanted}
    ).values_list("queue__topic__name", "queue__broker", "queue__queue_id", "at")
    since: dict[str, int] = {}
    for topic, broker, number, at in rows:
        queue = MessageQueue(topic, broker, number)
        if queue in wanted:
            since[spell(queue)] = max(at, since.get(spell(queue), 0))
    return since


def _changes(group: Group) -> tuple[Change, ...]:
    """Give who came and went lately; not on which side of ten minutes the oldest are: that the engine says."""
    rows = RoundCause.objects.filter(
        group=group, client_id__isnull=False, cause__in=[cause.value for cause in MEMBERS_CHANGE]
    ).order_by("-at", "-pk")
    last = rows.values_list("at", flat=True).first()
    if last is None:
        return ()
    told = rows.filter(at__gte=last - UNREST_MS).values_list("at", "cause", "client_id")[:MOST_CHANGES]
    return tuple(Change(at, Cause(cause), client or "") for at, cause, client in reversed(told))
