"""Being a member of a group: the machine of a client process with one consumer in it, from its start to its end.

Both kinds of consumers are this with a way to get the messages out.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from traceback import walk_tb
from typing import Any

from rebalance_engine.allocation import STRATEGIES, strategy
from rebalance_engine.allocation.contract import MemberFailure, MissingParameter, Strategy, UnknownStrategy
from rebalance_engine.allocation.own import own
from rebalance_engine.consumer import (
    Client,
    ClientSettings,
    Consumed,
    Drain,
    GroupSettings,
    Mode,
    Order,
    Profile,
    Start,
    Stop,
    java,
    read_stored,
)
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.messages import read_popped
from rebalance_engine.effects import Address, Heard, State
from rebalance_engine.events import EXACT, Departure, MemberLeft, Origin, Source
from rebalance_engine.model import RETRY_TOPIC_PREFIX, MessageModel, MessageQueue
from rebalance_engine.network.complaints import Complaints
from rebalance_engine.network.filters import check_filters
from rebalance_engine.network.identity import DEFAULT_INSTANCE, client_id, own_instance
from rebalance_engine.network.nameservers import NameServers
from rebalance_engine.network.offset_files import OffsetFiles
from rebalance_engine.network.options import (
    VERSION,
    ConsumerOptions,
    GroupOptions,
    default_offsets_dir,
    known_version,
)
from rebalance_engine.network.outgoing import check_group
from rebalance_engine.network.process import Closed, Doing, Process
from rebalance_engine.remoting.tags import subscription

logger = logging.getLogger(__name__)

START_S = 10.0  # a start asks name servers and brokers, each for 3 s at most; it goes on by itself if that takes longer
STOP_S = 9.0  # a stop waits 1 s for unlocks and 3 s for the good-bye at each broker that does not answer
TELL_S = 1.0  # for one-way requests to leave
STOP_UNKNOWN_S = 1.0  # of who never had an answer from anybody


class Membership:
    """One consumer in one client process.

    Attributes:
        client_id: what brokers know it by.
        process: its connections, and the driver of its machine.
        between_rounds: set while no rebalance of its own is under way.
    """

    def __init__(
        self, name_servers: tuple[Address, ...], settings: GroupSettings, options: ConsumerOptions, process: Process
    ) -> None:
        instance = options.get("instance") or (
            own_instance() if settings.model is MessageModel.CLUSTERING else DEFAULT_INSTANCE
        )
        self.client_id = client_id(name_servers, instance, options.get("ip"))
        self.settings = settings
        self._name_servers = NameServers(name_servers)
        self.process = process
        self._files = OffsetFiles(Path(options.get("offsets_dir") or default_offsets_dir()))
        self._client = Client(
            _profile(options),
            _client_settings(self.client_id, name_servers, options),
            luck=random.Random(),  # noqa: S311  # it spreads questions over brokers
            source=Source(origin=Origin.AGENT_REPORT, client=self.client_id),
            read=partial(read_stored, skip=process.complaints.unreadable),
            read_popped=partial(read_popped, skip=process.complaints.unreadable),
        )
        self._member: Member | None = None
        self._started = asyncio.Event()
        self._stopped = asyncio.Event()
        self._is_stopping = False
        self.between_rounds = asyncio.Event()
        self.between_rounds.set()

    # ---- its life ----

    async def start(self, doing: Doing) -> None:
        """Join the group: routes, heartbeats, and the first rebalance soon after.

        Raises:
            OSError: a file of the TLS settings is not what it should be.
            SubscriptionRefused: a broker does not understand an SQL expression.
            Closed: it was stopped meanwhile.
            MachineBroke: the start failed.
        """
        self.process.open(self._react, doing, self._files.save)
        try:
            await self._start()
        except BaseException:
            if not self._is_stopping:  # who stops it says good-bye yet
                await self.process.close()
            raise

    async def _start(self) -> None:
        await check_filters(self.process.driver.transport, self._name_servers, self.client_id, self.settings)
        self._check_running()
        saved = self._files.read(f"{self.client_id}/{self.settings.group}/offsets.json")
        self.order(Start(settings=self.settings, saved=saved))
        if not await self.process.until(self._started, START_S):
            if self.process.broke is not None:
                raise self.process.broke
            self._check_running()
            logger.warning("%s has no answers from name servers or brokers yet", self.process.name)
        self._check_running()

    def _check_running(self) -> None:
        if self._is_stopping or not self.process.is_open:
            raise Closed(f"the {self.process.name} was closed before it had started")

    def drain(self) -> None:
        """Begin nothing new, and keep the queues."""
        self.process.try_do(lambda at: self._react(Drain(self.settings.group), at))

    async def stop(self) -> None:
        """Leave the group: unlock, store the offsets, unregister at every broker; and close the connections."""
        self._is_stopping = True
        try:
            await self._say_good_bye()
        finally:
            await self.process.close()

    async def _say_good_bye(self) -> None:
        member = self._member
        if self.process.is_open and member is not None:
            self.process.try_do(lambda at: self._react(Stop(self.settings.group), at))
            wait_s = STOP_S if self._started.is_set() else STOP_UNKNOWN_S
            if not await self.process.until(self._stopped, wait_s) and self.process.broke is None:
                logger.warning("%s left without the answers of all brokers", self.process.name)
                self.process.try_do(lambda at: self._client.give_up(member, at))
            if self.process.is_open:
                await self.process.driver.told(TELL_S)  # the last offsets, also of clients that say no good-bye
            if self._stopped.is_set() and self._client.desk.profile.unregisters:
                self.process.try_do(lambda at: (State(fact=self._left(at)),))

    def _left(self, at: int) -> MemberLeft:
        """State that it left in order; who is killed, or gives up on brokers, states nothing."""
        return MemberLeft(
            at=at,
            source=self._client.desk.source,
            exactness=EXACT,
            group=self.settings.group,
            client=self.client_id,
            departure=Departure.UNREGISTERED,
        )

    def _react(self, heard: Heard | Consumed | Order, at: int) -> Iterable[object]:
        effects = self._client.handle(heard, at)
        if self._client.is_rebalancing:
            self.between_rounds.clear()
        else:
            self.between_rounds.set()
        if not self._started.is_set():
            self._note_start()
        elif self._member is not None and not self._member.is_running and not self._client.is_running:
            self._stopped.set()
        return effects

    def _note_start(self) -> None:
        group = self.settings.group
        if group in self._client.groups:
            self._member = self._client.member(group)
            if not self._member.lifecycle_lock.is_held:
                self._started.set()

    # ---- while it lives ----

    @property
    def member(self) -> Member:
        """The consumer inside of the machine, to look at.

        Raises:
            Closed: it was not started.
        """
        if self._member is None:
            raise Closed(f"the {self.process.name} is not running")
        return self._member

    def order(self, order: Order) -> None:
        """Let the application call its consumer.

        Raises:
            Closed, MachineBroke: it is not running.
        """
        self.process.do(lambda at: self._react(order, at))

    def consumed(self, consumed: Consumed) -> None:
        """Let the machine hear what became of messages."""
        self.process.try_do(lambda at: self._react(consumed, at))

    def held(self) -> tuple[MessageQueue, ...]:
        """Give the queues that it holds, sorted, those of its retry topic left out."""
        if self._member is None:
            return ()
        return tuple(sorted(mq for mq in self._member.held() if not mq.topic.startswith(RETRY_TOPIC_PREFIX)))


def group_settings(
    group: str, topics: dict[str, str], mode: Mode, options: ConsumerOptions, complaints: Complaints | None = None
) -> GroupSettings:
    """Make the machine's settings of what the application set.

    Args:
        complaints: are told when a strategy of the application's own fails, and when it does no more.

    Raises:
        ValueError: something does not go together.
        AllocationError: there is no such strategy, or its parameters are wrong.
    """
    check_group(group)
    for topic, expression in topics.items():
        subscription(topic, expression, version=0)  # refuses what makes no sense before anything is started
    _profile(options)  # likewise
    known = GroupOptions.__annotations__.keys() - {"strategy"}
    given: dict[str, Any] = {name: value for name, value in options.items() if name in known}
    return GroupSettings(group=group, topics=topics, mode=mode, strategy=_strategy(group, options, complaints), **given)


def _strategy(group: str, options: ConsumerOptions, complaints: Complaints | None) -> str | Strategy | None:
    chosen = options.get("strategy")
    if chosen is None or isinstance(chosen, str):
        _check_strategy(chosen or "AVG", options.get("strategy_params", {}))
        return chosen
    if params := options.get("strategy_params"):
        raise ValueError(
            f"strategy_params are {params!r}; a function has none, needed is a name of a strategy for them"
        )
    return Watched(own(chosen), group, complaints or Complaints(f"member of group {group!r}", time.monotonic)).strategy


class Watched:
    """A strategy of the application's own: how it fails is said once for each reason, not for each round and topic.

    Args:
        inner: what the application gave.

    Attributes:
        strategy: the same, watched.
    """

    def __init__(self, inner: Strategy, group: str, complaints: Complaints) -> None:
        assert inner.member is not None, "a function is called by one member"
        self._share = inner.member
        self._group = group
        self._complaints = complaints
        self._failing: dict[str, str] = {}  # topic -> reason
        complaints.on_given_up = self._settle
        self.strategy = replace(inner, member=self._watch)

    def _watch(
        self, client_id: str | None, queues: Sequence[MessageQueue] | None, clients: Sequence[str] | None
    ) -> list[MessageQueue] | None:
        topic = queues[0].topic if queues else ""
        try:
            share = self._share(client_id, queues, clients)
        except MemberFailure as failure:
            if not self._complaints.has_given_up(topic):
                self._note(topic, failure.__cause__ or failure)
            raise
        self._settle(topic)
        return share

    def _note(self, topic: str, error: BaseException) -> None:
        *_, (frame, line) = walk_tb(error.__traceback__)
        reason = f"{type(error).__qualname__} in {frame.f_code.co_filename}:{line}"  # its words may differ each time
        is_new = reason not in self._failing.values()
        if self._failing.get(topic) != reason:
            self._settle(topic)
            self._failing[topic] = reason
        if is_new:
            logger.error("the strategy of group %s failed; what is held stays", self._group, exc_info=error)
            words = f"the strategy of group {self._group!r} fails, first for topic {topic!r}: {error!r}"
            self._complaints.say(reason, f"{words}; what is held stays")

    def _settle(self, topic: str) -> None:
        reason = self._failing.pop(topic, None)
        if reason is not None and reason not in self._failing.values():
            self._complaints.take_back(reason, f"the strategy of group {self._group!r} fails no more: {reason}")


def _check_strategy(name: str, params: Mapping[str, object]) -> None:
    named = strategy(name, **params)
    if named.member is None:
        able = ", ".join(kind.name for kind in STRATEGIES.values() if "previous" not in kind.takes)
        raise UnknownStrategy(
            f"{named.name} is a plan for a whole group; no member can compute its share alone. There are {able}; "
            "CONFIG can follow such a plan"
        )
    if named.name.endswith("CONFIG") and not params.get("config"):
        # Java takes it, and such a member never has a queue
        raise MissingParameter(f"{named.name} needs the parameter 'config', client id -> its queues; given: none")


def _profile(options: ConsumerOptions) -> Profile:
    version = options.get("version", VERSION)
    return java(known_version(version, "4.9.0")) if isinstance(version, str) else version


def _client_settings(name: str, name_servers: tuple[Address, ...], options: ConsumerOptions) -> ClientSettings:
    times: dict[str, Any] = {
        key: options[key] for key in ("persist_every_ms", "heartbeat_every_ms", "routes_every_ms") if key in options
    }
    return ClientSettings(client_id=name, name_servers=name_servers, waits_to_heartbeat=True, **times)
