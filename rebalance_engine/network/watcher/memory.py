"""What a watcher has seen, and what a further answer adds to it: facts for what is new, nothing for what only repeats.

Pure. A member left only when every broker that has its group has listed the others and none lists it; while one does
not answer that is unknown. What is held is stated at every look: its age is part of what is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

from rebalance_engine.effects import Address
from rebalance_engine.events import (
    EXACT,
    BrokerGone,
    Departure,
    Fact,
    MemberJoined,
    MemberLeft,
    MemberSeen,
    MemberStrategySeen,
    Missing,
    Origin,
    PresenceGone,
    PresenceSeen,
    SubscriptionsSeen,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.network import answers
from rebalance_engine.network.answers import Answerer, Trouble
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.watcher.beats import Beats
from rebalance_engine.network.watcher.bounds import between, departed, left_since
from rebalance_engine.network.watcher.closed import Closed
from rebalance_engine.network.watcher.having import Having
from rebalance_engine.network.watcher.known import Known, KnownGroup, KnownList, KnownMember
from rebalance_engine.network.watcher.news import is_same, merged
from rebalance_engine.network.watcher.popped import Popped
from rebalance_engine.network.watcher.servers import Servers
from rebalance_engine.network.watcher.silence import Silences
from rebalance_engine.remoting.bodies.clients import ConsumerConnection
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.bodies.routes import MASTER_ID, ClusterInfo, TopicRouteData


class Memory:
    """All that is known of one cluster.

    Args:
        name_servers: how many there are; ``cluster`` is named in every source.
        known: what was known before this watcher came.
    """

    def __init__(self, name_servers: int = 1, known: Known | None = None, cluster: str | None = None) -> None:
        known = known or Known()
        self._cluster = cluster
        self._since, self._stored = known.at, known.groups | known.members.keys()
        self._servers = Servers(name_servers, known.brokers)
        self.silences = Silences()
        self.closed = Closed(known.closed, self._since, self._stored)
        self.popped = Popped(known.popped)
        self.beats = Beats()
        self._groups: dict[str, KnownGroup] = {}
        self.having = Having()
        self._hosts: dict[str, frozenset[str]] = {}  # kept until something changes that it follows from
        for group, members in known.members.items():
            self._groups[group] = KnownGroup(
                members={client: KnownMember(known.at, set(presence)) for client, presence in members.items()}
            )

    # ---- what is known ----

    @property
    def masters(self) -> dict[str, Address]:
        """Every master that some NameServer knows, or knew before one stopped to answer."""
        return self._servers.masters

    @property
    def groups(self) -> frozenset[str]:
        """Every group that some broker has, or that has members."""
        return self.having.groups | {name for name, group in self._groups.items() if group.members}

    @property
    def are_groups_told(self) -> bool:
        """Whether every master has said which groups it has: what none of them named is nowhere."""
        return bool(self.masters) and self.having.brokers >= self.masters.keys()

    def hosts(self, group: str) -> frozenset[str]:
        """Name the masters that may know members of a group."""
        if group not in self._hosts:
            self._hosts[group] = self._find_hosts(group)
        return self._hosts[group]

    def _find_hosts(self, group: str) -> frozenset[str]:
        masters = self.masters
        routed = self._servers.routed(self.topics_of(group))
        having = self.having.of(group)
        unsaid = masters.keys() - self.having.brokers  # they have not told which groups they have
        return frozenset(masters.keys() & (having | routed | (unsaid if self.members(group) else set())))

    def members(self, group: str) -> tuple[str, ...]:
        """Name the members of a group."""
        return tuple(self._groups[group].members) if group in self._groups else ()

    def is_online(self, group: str) -> bool:
        """Whether a group has members, or may have: not every broker has said that it knows none."""
        known = self._groups.get(group)
        return known is None or bool(known.members) or any(one.is_missing for one in known.lists.values())

    def is_listed(self, group: str, client: str) -> bool:
        """Whether a broker that answers lists a member."""
        known = self._groups.get(group)
        return known is not None and any(client in one.ids and not one.is_missing for one in known.lists.values())

    def brokers_of(self, group: str, client: str) -> tuple[str, ...]:
        """Name the brokers that list a member, sorted; any that has the group, if none is known to."""
        known = self._groups.get(group)
        if known is None:
            return ()
        listing = sorted(
            name
            for name, one in known.lists.items()
            if not one.is_missing and client in one.ids and name in self.masters
        )
        return tuple(listing or sorted(self.hosts(group)))

    def held(self, group: str, client: str) -> tuple[MessageQueue, ...] | None:
        """Give what a member said last that it holds; None is unknown."""
        member = self.member(group, client)
        return None if member is None or member.is_silent else member.held

    def held_at(self, group: str, client: str) -> int | None:
        """Say when a member last told what it holds."""
        member = self.member(group, client)
        return None if member is None else member.held_at

    @property
    def lists_at(self) -> int | None:
        """Say since when every member list has been told once more; None: one was never told, or nothing is known.

        Who is in none of them was nowhere at that time, as far as brokers knew.
        """
        groups = self.groups
        if not groups or not self.are_groups_told:
            return None
        times = [] if self.having.told_at is None else [self.having.told_at]
        for group in groups:
            hosts, known = self.hosts(group), self._groups.get(group)
            told = [] if known is None else [known.lists[name].at for name in hosts if name in known.lists]
            if len(told) < len(hosts) or None in told:
                return None
            times += [at for at in told if at is not None]
        return min(times, default=None)

    def routes_at(self, name_servers: Iterable[Address]) -> int | None:
        """Say since when these have told all routes that groups consume once more; None: one was never told."""
        return self._servers.routes_at(self._topics(), name_servers)

    def changed_at(self, group: str) -> int | None:
        """Say when something about a group last changed."""
        return self._groups[group].changed_at if group in self._groups else None

    def topics_of(self, group: str) -> frozenset[str]:
        """Name what a group consumes, by its brokers and its members."""
        return self._groups[group].all_topics() if group in self._groups else frozenset()

    # ---- NameServers and brokers ----

    def cluster_heard(self, info: ClusterInfo, by: Answerer) -> Iterator[Fact]:
        """Take in what a NameServer knows of the brokers (106)."""
        for fact in self._servers.cluster_heard(info, self.named(by)):
            self._hosts.clear()
            yield fact
            if isinstance(fact, BrokerGone) and fact.broker_id == MASTER_ID:
                self.having.gone(fact.broker)
                for group in sorted(self._groups):
                    yield from self._forget_list(group, fact.broker, by)

    def version_heard(self, broker: str, address: Address, version: str, by: Answerer) -> Iterator[Fact]:
        """Take in what a broker says that it is (28)."""
        yield from self._servers.version_heard(broker, address, version, self.named(by))

    def groups_heard(self, broker: str, groups: Iterable[str], asked_at: int | None = None) -> None:
        """Take in which groups a broker has (201); ``asked_at`` None: nobody knows when it was asked."""
        if self.having.heard(broker, groups, asked_at):
            self._hosts.clear()

    def route_heard(self, topic: str, route: TopicRouteData | None, by: Answerer) -> Iterator[Fact]:
        """Take in a topic's route by one NameServer (105)."""
        is_first = not self._servers.has_route(topic, by.address)
        fact = self._servers.route_heard(topic, route, self.named(by))
        if fact is None:
            return
        self._hosts.clear()
        yield fact
        for name, group in self._groups.items():
            if not is_first and topic in self.topics_of(name):
                group.changed_at = by.at

    def forget_routes(self) -> None:
        """Forget the routes of topics that nobody consumes any more; what is stored of them may be deleted."""
        self._servers.keep_routes(self._topics())

    def _topics(self) -> frozenset[str]:
        return frozenset[str]().union(*map(self.topics_of, self._groups))

    # ---- members ----

    def list_heard(self, group: str, ids: Iterable[str] | None, by: Answerer) -> Iterator[Fact]:
        """Take in the member list of one broker (38, 203); None: nobody is online there."""
        by = self.named(by)
        fact = answers.list_stated(group, None if ids is None else tuple(ids), by)
        known = self._groups.setdefault(group, KnownGroup())
        before = known.lists.get(fact.broker)
        if before is None or before.at is None or before.is_missing or before.ids != fact.clients:
            yield fact
            known.changed_at = by.at if before is not None else known.changed_at
        low = self._not_before(known, group)
        known.lists[fact.broker] = KnownList(fact.clients, by.since)
        for client in dict.fromkeys(fact.clients):
            member = known.members.get(client)
            if member is None:
                yield from self._come(known, group, client, by, low)
            else:
                member.seen_at = by.since
                member.hung_at = None if member.lost.pop(fact.broker, None) else member.hung_at  # a heartbeat came
        if before is not None and before.at is not None:
            for client in set(before.ids).difference(fact.clients) & known.members.keys():
                known.members[client].lost[fact.broker] = (before.at, by.at)
        yield from self._leave(known, group, by)

    def members_heard(self, group: str, told: ConsumerConnection | None, by: Answerer) -> Iterator[Fact]:
        """Take in what one broker says of each member (203); its list was taken in before."""
        by = self.named(by)
        assert by.broker is not None
        known = self._groups.setdefault(group, KnownGroup())
        facts = [] if told is None else list(answers.members_stated(group, told, by))
        there: dict[str, set[tuple[str, Address]]] = {}
        for fact in facts:
            if isinstance(fact, PresenceSeen):
                there.setdefault(fact.client, set()).add((fact.broker, fact.address))
        for client, member in known.members.items():
            gone = {place for place in member.presence if place[0] == by.broker} - there.get(client, set())
            yield from self._presence_gone(group, client, member, gone, by)
        for fact in facts:
            yield from self._member_said(known, fact, by.since)

    def list_missed(self, group: str, by: Answerer, trouble: Trouble) -> Iterator[Fact]:
        """Take in that a broker did not say who is a member: from here on that is unknown there."""
        assert by.broker is not None
        known = self._groups.setdefault(group, KnownGroup())
        before = known.lists.get(by.broker)
        if before is None:
            known.lists[by.broker] = KnownList((), None, is_missing=True)
        elif before.is_missing:
            return
        else:
            before.is_missing = True
        yield answers.missed(self.named(by), trouble, group=group, told_at=None if before is None else before.at)

    def held_heard(self, group: str, client: str, info: ConsumerRunningInfo, by: Answerer) -> Iterator[Fact]:
        """Take in what a member says of itself (307)."""
        known, member = self._groups.get(group), self.member(group, client)
        if known is None or member is None:
            return  # it left meanwhile
        facts = list(answers.held_stated(group, client, answers.usable(info), self.named(by)))
        for fact in facts:
            yield from self._member_said(known, fact, by.since)
        held = tuple(sorted(queue for queue, entry in info.mq_table.items() if not entry.dropped))
        if member.held_at is not None and (held != member.held or member.is_silent):
            known.changed_at = by.at
        member.held, member.held_at, member.asked_at = held, by.at, by.since
        member.is_silent, member.hung_at = False, None
        topics = frozenset(data.topic for data in info.subscription_set if data.topic)
        if topics != member.topics:
            member.topics = topics
            self._forget_topics(known, group)

    def held_missed(self, group: str, client: str, by: Answerer, why: Trouble | Missing) -> Iterator[Fact]:
        """Take in that a member did not answer: what it holds is unknown from here on."""
        member = self.member(group, client)
        if member is None or member.is_silent:
            return
        member.is_silent = True
        fact = answers.missed(self.named(by), why, group=group)
        is_hung = fact.missing is Missing.TIMEOUT and not isinstance(why, NoAnswer)  # its broker said so
        member.hung_at = by.since if is_hung else None
        yield fact

    # ---- coming and going ----

    def _come(self, known: KnownGroup, group: str, client: str, by: Answerer, low: int | None) -> Iterator[Fact]:
        known.members[client] = KnownMember(by.since)
        self._hosts.pop(group, None)
        if low is None:  # nobody knows since when
            yield MemberSeen(at=by.at, source=by.source, exactness=EXACT, group=group, client=client)
        else:
            yield MemberJoined(at=by.at, source=by.source, exactness=between(low, by.at), group=group, client=client)
        known.changed_at = by.at

    def _not_before(self, known: KnownGroup, group: str) -> int | None:
        """Say when somebody who is new now was not there yet, at any broker; None: nobody looked everywhere.

        Who was in no list was not there; nor was anybody where a broker did not have the group at all.
        """
        hosts, listed = self.hosts(group), {name: one.at for name, one in known.lists.items() if one.at is not None}
        if hosts and hosts <= listed.keys():
            return min(listed[name] for name in hosts)
        lacked = {name: at for name in self.masters if (at := self.having.lacked_at(group, name)) is not None}
        if not self.masters or not self.masters.keys() <= listed.keys() | lacked.keys():
            return self._since if group in self._stored else None
        return min(max(listed.get(name, 0), lacked.get(name, 0)) for name in self.masters)

    def _leave(self, known: KnownGroup, group: str, by: Answerer) -> Iterator[Fact]:
        """State who is in no list any more, if every broker has answered that may have them."""
        listed = Counter(client for one in known.lists.values() for client in one.ids)
        hosts = self.hosts(group) | known.lists.keys()
        is_complete = bool(hosts) and all(name in known.lists and not known.lists[name].is_missing for name in hosts)
        for client in [client for client in known.members if not listed[client]] if is_complete else ():
            member = known.members.pop(client)
            self._forget_topics(known, group)
            yield from self._presence_gone(group, client, member, set(member.presence), by)
            departure, silence = departed(member, by.at, self.beats.expires_after_ms, self.beats.of(client))
            yield MemberLeft(
                at=by.at,
                source=by.source if silence is None else replace(by.source, origin=Origin.DERIVED, detail=silence),
                exactness=between(left_since(member), by.at),
                group=group,
                client=client,
                departure=departure,
            )
            known.changed_at = by.at

    def _presence_gone(
        self, group: str, client: str, member: KnownMember, gone: Set[tuple[str, Address]], by: Answerer
    ) -> Iterator[Fact]:
        for broker, address in sorted(gone):
            member.presence.discard((broker, address))
            yield PresenceGone(
                at=by.at,
                source=by.source,
                exactness=EXACT,
                group=group,
                client=client,
                broker=broker,
                address=address,
                departure=Departure.UNKNOWN,
            )

    def _forget_list(self, group: str, broker: str, by: Answerer) -> Iterator[Fact]:
        """A broker is gone: what it knew of a group's members counts no more, if somebody else can tell."""
        known, by = self._groups[group], self.named(by)
        if known.lists.pop(broker, None) is None and not known.members:
            return
        for client, member in known.members.items():
            gone = {place for place in member.presence if place[0] == broker}
            yield from self._presence_gone(group, client, member, gone, by)
        yield from self._leave(known, group, by)

    def _member_said(self, known: KnownGroup, fact: Fact, since: int) -> Iterator[Fact]:
        """Give a fact on if it says something new."""
        if isinstance(fact, SubscriptionsSeen) and fact.client is None:
            broker = fact.source.broker or ""
            if not is_same(known.subscriptions.get(broker), fact):
                known.subscriptions[broker] = fact
                self._forget_topics(known, fact.group)
                yield fact
            return
        member = known.members.get(getattr(fact, "client", ""))
        if member is None:
            return
        if isinstance(fact, PresenceSeen):
            place = (fact.broker, fact.address)
            if place not in member.presence:
                member.presence.add(place)
                yield fact
        elif isinstance(fact, MemberSeen):
            before, exactness = member.said.get(MemberSeen), known.since_told(fact, since)
            says = member.said[MemberSeen] = merged(before, fact)
            if not is_same(before, says):
                yield replace(fact, exactness=exactness)
        elif isinstance(fact, MemberStrategySeen | SubscriptionsSeen):
            if not is_same(member.said.get(type(fact)), fact):
                member.said[type(fact)] = fact
                yield fact
        else:
            yield fact

    def _forget_topics(self, known: KnownGroup, group: str) -> None:
        known.topics = None
        self._hosts.pop(group, None)

    def member(self, group: str, client: str) -> KnownMember | None:
        """Give what is known of a member, to be read; None: it is none."""
        return self._groups[group].members.get(client) if group in self._groups else None

    def named(self, by: Answerer) -> Answerer:
        """Give who answered, with the cluster's name."""
        return by if by.cluster == self._cluster else replace(by, cluster=self._cluster)
