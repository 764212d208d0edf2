"""One question of a watcher, asked; and what its answer, or that none came, adds to what is known."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Protocol, TypeVar

from rebalance_engine.effects import Address, Failure
from rebalance_engine.events import Fact, Missing, ProducersSeen
from rebalance_engine.findings import dead_letter_topic
from rebalance_engine.network import answers
from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.network.answers import Answerer, Trouble
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.looking import ids_of
from rebalance_engine.network.surveying import clock_shown
from rebalance_engine.network.system_groups import is_system_group
from rebalance_engine.network.watcher.agenda import Kind, Question
from rebalance_engine.network.watcher.bounds import read_expiry
from rebalance_engine.network.watcher.counting import dead_stated, producers_stated, progress_stated
from rebalance_engine.network.watcher.known import BrokerKey
from rebalance_engine.network.watcher.memory import Memory
from rebalance_engine.network.watcher.ways import Ways
from rebalance_engine.remoting.bodies.routes import ClusterInfo
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.errors import RemotingError

logger = logging.getLogger(__name__)

T = TypeVar("T")
TIMEOUT_S = 10.0
HELD_TIMEOUT_S = 15.0
CONFIG_EVERY_MS = 600_000  # a setting changes seldom, and only by hand
OFF_EVERY_MS = 60_000  # nobody can order a recompute until it is seen that a broker notifies again
SAME_PRODUCERS_MS = 30_000  # where a broker is asked more often because a heartbeat is about to expire
EXPIRY = "channelExpiredTimeout"
NOTIFIES = "notifyConsumerIdsChangedEnable"
MAKES_GROUPS = "autoCreateSubscriptionGroup"
SETTINGS = frozenset({EXPIRY, NOTIFIES, MAKES_GROUPS})
FIRST_WITH_MODES = 5  # brokers of 4.x do not know request 402
OF_SERVERS = frozenset({Kind.BROKERS, Kind.ROUTE, Kind.GROUPS, Kind.RUNTIME})


class Within(Protocol):
    """Waits for an answer, and says who gave it when."""

    async def __call__(self, answer: Coroutine[None, None, T]) -> tuple[T, Answerer]:
        """Give both."""


class Ears:
    """Asks, and lets a memory take in what comes of it."""

    def __init__(self, admin: Admin, memory: Memory) -> None:
        self._admin, self._memory = admin, memory
        self.ways = Ways(memory)
        self._config_at: dict[str, int] = {}  # when a broker was last asked for its settings, by name
        self._modes_denied_at: dict[str, int] = {}
        self._listed: dict[Address, dict[BrokerKey, Address]] = {}  # what each NameServer told last
        self._rearranged: set[Address] = set()
        self._producers_stated: dict[str, ProducersSeen] = {}  # by each broker, last
        self._mute: set[Address] = set()  # said once, not every few seconds
        self._hear: dict[Kind, Callable[[Question, Answerer, Within], Awaitable[list[Fact]]]] = {
            Kind.BROKERS: self._brokers,
            Kind.ROUTE: self._route,
            Kind.GROUPS: self._groups,
            Kind.RUNTIME: self._runtime,
            Kind.PRODUCERS: self._producers,
            Kind.LIST: self._list,
            Kind.MEMBERS: self._members,
            Kind.HELD: self._held,
            Kind.PROGRESS: self._progress,
            Kind.DEAD: self._dead,
        }

    async def heard(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        """Ask, and give the facts of the answer.

        Raises:
            NoAnswer, Denied, RemotingError, ValueError: none came, or none that can be used.
        """

        async def noted(answer: Coroutine[None, None, T]) -> tuple[T, Answerer]:
            told, at = await within(answer)
            self._memory.silences.answered(at.address, at.at)
            return told, at

        facts = await self._hear[question.kind](question, by, noted)
        if question.kind in OF_SERVERS and by.address in self._mute:
            self._mute.discard(by.address)
            logger.info("%s answers again", by.address)
        return facts

    def take_rearranged(self) -> set[Address]:
        """Give the NameServers that list other brokers, or other addresses of them, than before; each once."""
        taken, self._rearranged = self._rearranged, set()
        return taken

    def missed(self, question: Question, by: Answerer, trouble: Trouble) -> list[Fact]:
        """Take in that an answer did not come; who only got no turn has told nothing: its last answer becomes older."""
        if isinstance(trouble, NotAsked) and not is_unreachable(trouble):
            if question.kind is Kind.HELD:
                self.ways.failed(question, by.broker or "")
            return []
        self._note(question, by, trouble)
        if question.kind is Kind.HELD:
            return self._held_missed(question, by, trouble)
        if question.kind in {Kind.LIST, Kind.MEMBERS}:
            return list(self._memory.list_missed(question.group, by, trouble))
        if question.kind is Kind.PRODUCERS:
            self._memory.beats.missed(question.place, by.at)
        if question.kind is Kind.GROUPS:
            self._memory.having.missed(question.place)
        if question.kind in {Kind.PROGRESS, Kind.DEAD, Kind.PRODUCERS}:
            return [answers.missed(self._memory.named(by), trouble, group=question.group or None)]
        if by.address not in self._mute:
            self._mute.add(by.address)
            logger.warning("%s does not answer: %s", by.address, trouble)
        return []

    def _note(self, question: Question, by: Answerer, trouble: Trouble) -> None:
        """Take in whether it was the server that did not answer: a client behind it may be silent by itself.

        Who refuses something has answered; who has never told anything else may take us for a stranger.
        """
        if question.kind is Kind.HELD and not is_unreachable(trouble):
            return
        silences = self._memory.silences
        if isinstance(trouble, NoAnswer) or not silences.has_told(by.address):
            silences.missed(by.address, by.broker, by.at, str(trouble).removeprefix(f"{by.address}: "))

    def _held_missed(self, question: Question, by: Answerer, trouble: Trouble) -> list[Fact]:
        """Where no answer came at all, it may be the broker's: the member is unknown only where no other one helps."""
        memory, facts = self._memory, list[Fact]()
        if is_unreachable(trouble):
            facts += memory.list_missed(question.group, replace(by, client=None), trouble)
        if not isinstance(trouble, NoAnswer):
            self.ways.ended(question)
        elif self.ways.failed(question, by.broker or ""):
            return facts
        return [*facts, *memory.held_missed(question.group, question.name, by, trouble)]

    # ---- one method for each kind of question ----

    async def _brokers(self, _question: Question, by: Answerer, within: Within) -> list[Fact]:
        info, by = await within(self._admin.cluster(at=by.address, timeout_s=TIMEOUT_S))
        listed = addresses_in(info)
        before = self._listed.get(by.address, listed)
        if before != listed:
            self._rearranged.add(by.address)
        for address in set(listed.values()) - set(before.values()):
            self._admin.asker.renew(address)
        self._listed[by.address] = listed
        return list(self._memory.cluster_heard(info, by))

    async def _route(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        route, by = await within(self._admin.route(question.name, at=by.address, timeout_s=TIMEOUT_S))
        return list(self._memory.route_heard(question.name, route, by))

    async def _groups(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        configs, by = await within(self._admin.group_configs(by.address, timeout_s=TIMEOUT_S))
        table = configs.subscription_group_table
        told = [(name, table[name]) for name in table if name and not is_system_group(name)]
        self._memory.groups_heard(question.place, (name for name, _ in told), by.since)
        return list(self._memory.closed.heard(question.place, told, self._memory.named(by)))

    async def _runtime(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        table, by = await within(self._admin.runtime(by.address, timeout_s=TIMEOUT_S))
        version = table.get("brokerVersionDesc", "").removeprefix("V").replace("_", ".")
        facts = list(self._memory.version_heard(question.place, by.address, version, by))
        self._memory.beats.clock_heard(question.place, clock_shown(table), by)
        await self._config(question.place, by)
        if _major(version) >= FIRST_WITH_MODES:
            facts += await self._modes(question.place, by, within)
        return facts

    async def _config(self, broker: str, by: Answerer) -> None:
        """Ask how long a broker waits for heartbeats, and whether it notifies; who does not tell does as brokers do.

        And whether it makes groups by itself: who does not tell that bounds no join (``Having``).
        """
        every_ms = OFF_EVERY_MS if self._memory.closed.is_off(broker) else CONFIG_EVERY_MS
        if by.at - self._config_at.get(broker, -every_ms) < every_ms:
            return
        try:
            settings = await self._admin.broker_config(by.address, SETTINGS, timeout_s=TIMEOUT_S)
        except NoAnswer:
            return  # no turn, or no answer in time: with the next figures
        except (Denied, RemotingError) as error:
            settings = {}
            logger.info("%s does not tell how long it waits for heartbeats: %s", broker, error)
        self._config_at[broker] = by.at
        self._memory.beats.expiry_heard(broker, read_expiry(settings.get(EXPIRY)))
        self._memory.closed.notifies_heard(broker, is_on=settings.get(NOTIFIES) != "false")
        self._memory.having.makes_heard(broker, is_on=settings.get(MAKES_GROUPS) == "true")

    async def _modes(self, broker: str, by: Answerer, within: Within) -> list[Fact]:
        """Ask which groups are set to POP (402): a table in the broker's memory, as its replicas copy it."""
        if by.at - self._modes_denied_at.get(broker, -CONFIG_EVERY_MS) < CONFIG_EVERY_MS:
            return []
        try:
            modes, by = await within(self._admin.request_modes(by.address, timeout_s=TIMEOUT_S))
        except NoAnswer:
            return []  # with the next figures
        except (Denied, RemotingError) as error:
            self._modes_denied_at[broker] = by.at
            logger.info("%s does not tell which groups it gives messages by POP: %s", broker, error)
            return []
        by = replace(self._memory.named(by), code=RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
        return list(self._memory.popped.heard(broker, modes, by))

    async def _producers(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        table, by = await within(self._admin.producers(by.address, timeout_s=TIMEOUT_S))
        self._memory.beats.heard(question.place, table, by)
        named = self._memory.named(by)
        if table is None:
            return [answers.missed(named, Missing.REFUSED)]
        fact, last = producers_stated(table, named), self._producers_stated.get(question.place)
        if last is not None and last.producers == fact.producers and fact.at - last.at < SAME_PRODUCERS_MS:
            return []
        self._producers_stated[question.place] = fact
        return [fact]

    async def _list(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        ids, by = await within(self._admin.member_ids(by.address, question.group, timeout_s=TIMEOUT_S))
        return list(self._memory.list_heard(question.group, ids, by))

    async def _members(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        told, by = await within(self._admin.members(by.address, question.group, timeout_s=TIMEOUT_S))
        ids = None if told is None else ids_of(told)
        listed = list(self._memory.list_heard(question.group, ids, by))
        return [*listed, *self._memory.members_heard(question.group, told, by)]

    async def _held(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        asked = self._admin.running_info(by.address, question.group, question.name, timeout_s=HELD_TIMEOUT_S)
        info, by = await within(asked)
        self.ways.ended(question)
        return list(self._memory.held_heard(question.group, question.name, info, by))

    async def _progress(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        stats, by = await within(self._admin.consume_stats(by.address, question.group, timeout_s=TIMEOUT_S))
        return [progress_stated(question.group, stats, self._memory.named(by))]

    async def _dead(self, question: Question, by: Answerer, within: Within) -> list[Fact]:
        topic = dead_letter_topic(question.group)
        stats, by = await within(self._admin.topic_stats(by.address, topic, timeout_s=TIMEOUT_S))
        return [dead_stated(question.group, stats, self._memory.named(by))]


def addresses_in(info: ClusterInfo) -> dict[BrokerKey, Address]:
    """Give where each broker, and each replica of it, is."""
    return {
        (broker.broker_name, number): address
        for broker in info.broker_addr_table.values()
        for number, address in broker.broker_addrs.items()
    }


def _major(version: str) -> int:
    """Give the first number of a version; 0 is unknown."""
    first = version.partition(".")[0]
    return int(first) if first.isdecimal() and len(first) < 4 else 0


def is_unreachable(trouble: Trouble) -> bool:
    """Whether it was the broker that could not be reached, not the client."""
    if isinstance(trouble, NotAsked):
        return "could not be reached" in trouble.detail
    return isinstance(trouble, NoAnswer) and trouble.failure is not Failure.TIMEOUT
