"""The membership of one broker as a state machine: channels and requests in, answers and notifications out.

``handle`` is the only door for what happens to the broker. Below it stand the verbs for whoever has the messages and
composes a whole broker: it asks ``knows`` first, checks pulls, stores the offsets that pulls carry, hands out resets.
QUERY_ASSIGNMENT needs a strategy besides, and is answered one room above (``rebalance_engine.assignment``).
``check`` holds all tables to their promises; tests and simulations call it after each step.

Sources: ``broker/.../BrokerController.java`` (which processor answers what),
``broker/.../client/ClientHousekeepingService.java``, ``broker/.../processor/ClientManageProcessor.java``,
``ConsumerManageProcessor.java``, ``AdminBrokerProcessor.java``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from rebalance_engine.effects import (
    Answered,
    Channel,
    Close,
    Closed,
    Effect,
    Heard,
    Opened,
    Push,
    Received,
    Respond,
    State,
    Unanswered,
    WakeAt,
    Woken,
)
from rebalance_engine.events import Origin, Source
from rebalance_engine.membership.answers import Answers, refuse_unsupported
from rebalance_engine.membership.checks import PullChecks, PullTerms
from rebalance_engine.membership.configs import GroupConfigs, TopicConfigs
from rebalance_engine.membership.facts import Witness
from rebalance_engine.membership.heartbeats import Heartbeats, Tables
from rebalance_engine.membership.locks import HOLDS, LockTable
from rebalance_engine.membership.modes import RequestModes
from rebalance_engine.membership.notification import FIRST_FLUSH_MS, FLUSH_EVERY_MS, Cause, Notifier
from rebalance_engine.membership.offsets import OffsetTable, QueueStart
from rebalance_engine.membership.presence import Peer
from rebalance_engine.membership.producers import ProducerTable
from rebalance_engine.membership.profiles import BrokerSettings, Policy
from rebalance_engine.membership.registry import Registry, Update, Went
from rebalance_engine.remoting.bodies.queues import ConsumerOffsetSerializeWrapper, LockBatchResponseBody
from rebalance_engine.remoting.bodies.settings import (
    GroupForbidden,
    MessageRequestModeSerializeWrapper,
    SubscriptionGroupWrapper,
    TopicConfig,
)
from rebalance_engine.remoting.codes import Language, ResponseCode
from rebalance_engine.remoting.requests.changes import (
    SetMessageRequestMode,
    UpdateAndCreateSubscriptionGroup,
    UpdateAndGetGroupForbidden,
    UpdateAndGetGroupForbiddenResponse,
)
from rebalance_engine.remoting.requests.consuming import (
    LockBatchMq,
    LockBatchMqResponse,
    PullMessage,
    QueryConsumerOffset,
    UnlockBatchMq,
    UpdateConsumerOffset,
)
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.membership import HeartBeat, UnregisterClient
from rebalance_engine.remoting.sysflags import PullFlag

FIRST_SCAN_MS = SCAN_EVERY_MS = 10_000


class Timer(Enum):
    """What this machine is woken for, with its period in ms."""

    HOUSEKEEPING = SCAN_EVERY_MS
    NOTIFICATION = FLUSH_EVERY_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What a broker keeps on disk, and has again after a restart; members, locks and pending resets it has not."""

    groups: SubscriptionGroupWrapper = field(default_factory=SubscriptionGroupWrapper)
    topics: tuple[TopicConfig, ...] = ()
    offsets: ConsumerOffsetSerializeWrapper = field(default_factory=ConsumerOffsetSerializeWrapper)
    modes: MessageRequestModeSerializeWrapper = field(default_factory=MessageRequestModeSerializeWrapper)


Done = tuple[Response, tuple[Effect, ...]]  # an answer, and what happens before it is given
Action = Callable[[Peer, Any, int], Done]  # each takes the request that it is listed with


class Broker:
    """The membership of one broker, from its start to its end. Its tables are there to be looked at.

    Args:
        settings: its version, its names, what an operator set.
        origin: as what its facts count.
        memory: what it has on disk.
        queue_start: asks whoever has the messages where the first one of a queue (topic, id) is.
    """

    def __init__(
        self,
        settings: BrokerSettings,
        *,
        origin: Origin = Origin.SIMULATOR,
        memory: Memory | None = None,
        queue_start: Callable[[str, int], QueueStart] = lambda _topic, _queue_id: QueueStart.EMPTY,
    ) -> None:
        memory = memory or Memory()
        self.policy = Policy.of(settings)
        self.groups = GroupConfigs(self.policy, memory.groups)
        self.topics = TopicConfigs(self.policy, memory.topics)
        self.modes = RequestModes(self.policy, memory.modes)
        self.registry = Registry(
            expires_after_ms=settings.channel_expires_after_ms,
            pulled_expires_after_ms=settings.pulled_subscription_expires_after_ms,
        )
        self.producers = ProducerTable(forgets_empty_groups=self.policy.rules.forgets_empty_producer_groups)
        self.locks = LockTable(settings.lock_expires_after_ms)
        self.offsets = OffsetTable(self.policy, memory.offsets)
        self.channels: dict[Channel, Peer] = {}

        tables = Tables(self.groups, self.topics, self.registry, self.producers)
        self._heartbeats = Heartbeats(self.policy, tables)
        self._notifier = Notifier(self.policy)
        self._answers = Answers(self.policy, tables, self.offsets, self.modes)
        self._pull_checks = PullChecks(self.policy, self.groups, self.topics, self.registry)
        self._witness = Witness(_source(settings, origin), settings.broker, settings.lock_expires_after_ms)
        self._queue_start = queue_start
        self._now = 0
        self._due: dict[Timer, int] = {}
        self._actions: Mapping[type, Action] = {
            HeartBeat: self._heart_beat,
            UnregisterClient: self._unregister,
            LockBatchMq: self._lock,
            UnlockBatchMq: self._unlock,
            QueryConsumerOffset: self._query_offset,
            UpdateConsumerOffset: self._update_offset,
            UpdateAndCreateSubscriptionGroup: self._update_group,
            UpdateAndGetGroupForbidden: self._forbid,
            SetMessageRequestMode: self._set_mode,
        }

    def start(self, at: int) -> tuple[Effect, ...]:
        """Begin; say when to be woken."""
        self._now = at
        self._due[Timer.HOUSEKEEPING] = at + FIRST_SCAN_MS
        if self.policy.notifies_later:
            self._due[Timer.NOTIFICATION] = at + FIRST_FLUSH_MS
        return tuple(WakeAt(at=due, timer=timer) for timer, due in self._due.items())

    def handle(self, heard: Heard, at: int) -> tuple[Effect, ...]:
        """Hear one event; ``at`` never goes back.

        Raises:
            ValueError: this cannot have happened: time went back, or the channel or the timer is not known.
            TypeError: a request that is not ``knows``-n, or an answer, for this machine asks nothing.
        """
        if at < self._now:
            raise ValueError(f"heard of {at} after {self._now}; time does not go back")
        self._now = at
        match heard:
            case Opened(channel=channel, address=address):
                self.channels[channel] = Peer(channel=channel, address=address)
                return ()
            case Closed(channel=channel):
                return self._closed(channel, at)
            case Received():
                return self._received(heard, at)
            case Woken(timer=timer):
                return self._woken(timer, at)
            case Answered() | Unanswered():
                raise TypeError(f"{heard}; the membership of a broker asks nothing that could be answered")

    # ---- requests ----

    def knows(self, request: object) -> bool:
        """Say whether this request is for the membership of a broker."""
        return type(request) in self._actions or self._answers.knows(request)

    def _received(self, received: Received, at: int) -> tuple[Effect, ...]:
        response, effects = self._act(self._peer(received.channel), received.request, at)
        if received.token is None:
            return effects
        return (*effects, Respond(channel=received.channel, token=received.token, response=response))

    def _act(self, peer: Peer, request: object, at: int) -> Done:
        if not (isinstance(request, Request) and self.knows(request)):
            raise TypeError(f"{type(request).__name__} is not for the membership of a broker; ask knows() first")
        refused = refuse_unsupported(request, self.policy)
        if refused is not None:
            return refused, ()
        action = self._actions.get(type(request))
        return action(peer, request, at) if action else (self._answers.answer(request), ())

    def _heart_beat(self, peer: Peer, request: HeartBeat, at: int) -> Done:
        response, entered = self._heartbeats.hear(peer, request.body, at)
        effects = [
            effect
            for one in entered
            for effect in self._tell(Cause.HEARTBEAT, one.update, at, group_switch=one.group_switch)
        ]
        return response, tuple(effects)

    def _unregister(self, peer: Peer, request: UnregisterClient, at: int) -> Done:
        if request.producer_group is not None:
            self.producers.unregister(request.producer_group, peer.channel)
        if request.consumer_group is None:
            return Response(), ()
        config = self.groups.find_or_create(request.consumer_group)  # yes: to leave can create the group
        update = self.registry.unregister(request.consumer_group, peer.channel)
        if update is None:
            return Response(), ()
        group_switch = config.notify_consumer_ids_changed_enable if config else True
        return Response(), self._tell(Cause.UNREGISTERED, update, at, group_switch=group_switch)

    def _lock(self, _: Peer, request: LockBatchMq, at: int) -> Done:
        group, client = request.body.consumer_group, request.body.client_id
        verdicts = self.locks.lock(group, client, request.body.mq_set, at)
        held = tuple(verdict.queue for verdict in verdicts if verdict.answer in HOLDS)
        response = LockBatchMqResponse(body=LockBatchResponseBody(lock_ok_mq_set=held))
        return response, _states(self._witness.of_locks(verdicts, group, client, at))

    def _unlock(self, _: Peer, request: UnlockBatchMq, at: int) -> Done:
        group, client = request.body.consumer_group, request.body.client_id
        verdicts = self.locks.unlock(group, client, request.body.mq_set)
        return Response(), _states(self._witness.of_locks(verdicts, group, client, at))

    def _query_offset(self, _: Peer, request: QueryConsumerOffset, __: int) -> Done:
        start = self._queue_start(request.topic, request.queue_id)
        return self.offsets.answer(request, start), ()

    def _update_offset(self, peer: Peer, request: UpdateConsumerOffset, at: int) -> Done:
        group, topic, queue_id = request.consumer_group, request.topic, request.queue_id
        if self.policy.rules.checks_group_of_offsets and self.groups.find(group) is None:
            remark = f"Group {group} not exist!"
            return Refused(code=ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark), ()
        if self.policy.rules.checks_topic_of_offsets and self.topics.find(topic) is None:
            return Refused(code=ResponseCode.TOPIC_NOT_EXIST, remark=f"Topic {topic} not exist!"), ()
        if self.offsets.is_reset(group, topic, queue_id):
            return Response(remark="Offset has been previously reset"), ()
        return Response(), self._commit(peer, request, at)

    def _commit(self, peer: Peer, request: UpdateConsumerOffset | PullMessage, at: int) -> tuple[Effect, ...]:
        group = request.consumer_group
        commit = self.offsets.commit(group, request.topic, request.queue_id, request.commit_offset)
        if not commit.went_back_by:
            return ()
        member = self.registry.find_member(group, peer.channel)
        return _states(self._witness.of_commit(commit, member.client if member else None, at))

    def _update_group(self, _: Peer, request: UpdateAndCreateSubscriptionGroup, __: int) -> Done:
        remark = self.groups.why_illegal(request.body.group_name)
        if remark and self.policy.rules.limits_group_names_to_120:
            return Refused(code=ResponseCode.INVALID_PARAMETER, remark=remark), ()
        self.groups.put(request.body)
        return Response(), ()

    def _forbid(self, _: Peer, request: UpdateAndGetGroupForbidden, __: int) -> Done:
        if request.readable is not None:
            self.groups.forbid(request.group, request.topic, is_forbidden=not request.readable)
        is_readable = not self.groups.is_forbidden(request.group, request.topic)
        body = GroupForbidden(group=request.group, topic=request.topic, readable=is_readable)
        return UpdateAndGetGroupForbiddenResponse(body=body, remark=""), ()

    def _set_mode(self, _: Peer, request: SetMessageRequestMode, __: int) -> Done:
        return self.modes.set(request.body, self.groups, self.topics), ()

    # ---- channels and time ----

    def _closed(self, channel: Channel, at: int) -> tuple[Effect, ...]:
        self._peer(channel)
        del self.channels[channel]
        self.producers.close(channel)
        updates = self.registry.close(channel, only_announced=self.policy.handles_channels_fast)
        return tuple(effect for update in updates for effect in self._tell(Cause.CLOSED, update, at))

    def _woken(self, timer: object, at: int) -> tuple[Effect, ...]:
        if not isinstance(timer, Timer) or timer not in self._due:
            raise ValueError(f"woken for {timer!r}; this machine waits for {', '.join(map(str, self._due))}")
        while self._due[timer] <= at:
            self._due[timer] += timer.value
        effects = self._scan(at) if timer is Timer.HOUSEKEEPING else self._to_open(self._notifier.flush())
        return (*effects, WakeAt(at=self._due[timer], timer=timer))

    def _scan(self, at: int) -> tuple[Effect, ...]:
        """Throw out who is silent. The whole channel is closed, even if others of its groups are alive."""
        silent = dict.fromkeys(self.producers.expire(at))
        effects: list[Effect] = []
        for update in self.registry.expire(at):
            silent |= dict.fromkeys(went.presence.peer.channel for went in update.changes if isinstance(went, Went))
            effects.extend(self._tell(Cause.EXPIRED, update, at))
        return (*effects, *(Close(channel=channel) for channel in silent if channel in self.channels))

    # ---- telling ----

    def _tell(self, cause: Cause, update: Update, at: int, *, group_switch: bool = True) -> tuple[Effect, ...]:
        """State what happened, then notify the members; so the answer comes after the notification, as in Java."""
        facts = self._witness.of_changes(update.changes, self.registry.find(update.group), at)
        pushes = self._notifier.tell(cause, update, group_switch=group_switch)
        return (*_states(facts), *self._to_open(pushes))

    def _to_open(self, pushes: Iterable[Push]) -> tuple[Push, ...]:
        return tuple(push for push in pushes if push.channel in self.channels)

    def _peer(self, channel: Channel) -> Peer:
        if channel not in self.channels:
            raise ValueError(f"heard of channel {channel}, which is not open")
        return self.channels[channel]

    # ---- for the broker around it ----

    def introduce(self, channel: Channel, language: Language, version: int) -> None:
        """Say what the headers of a client's commands say of it; before its first request is soon enough."""
        self.channels[channel] = replace(self._peer(channel), language=language, version=version)

    def put_topic(self, config: TopicConfig) -> None:
        """Create a topic or replace what is configured of it."""
        self.topics.put(config)

    def check_pull(self, channel: Channel, pull: PullMessage, at: int) -> PullTerms | Refused:
        """Refuse a pull, or say what it goes by."""
        return self._pull_checks.check(pull, self._peer(channel), at)

    def commit_with_pull(self, channel: Channel, pull: PullMessage, at: int) -> tuple[Effect, ...]:
        """Store the offset that a pull carries, if it says so; for a master, and once for each pull."""
        return self._commit(self._peer(channel), pull, at) if pull.sys_flag & PullFlag.COMMIT_OFFSET else ()

    def note_pulled(self, pull: PullMessage, offset: int) -> None:
        """Remember how far the group has pulled; consume stats show it."""
        self.offsets.note_pulled(pull.consumer_group, pull.topic, pull.queue_id, offset)

    def reset_offset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Move a group in one queue; where resets are on, until the next pull nothing else counts."""
        self.offsets.reset(group, topic, queue_id, offset)

    def take_reset(self, pull: PullMessage) -> int | None:
        """Give a pull the reset that waits for it, to be answered with PULL_OFFSET_MOVED instead of messages."""
        return self.offsets.take_reset(pull.consumer_group, pull.topic, pull.queue_id)

    def memory(self) -> Memory:
        """Give what goes to disk: groups, topics and request modes with each change, offsets every five seconds."""
        groups = SubscriptionGroupWrapper(
            subscription_group_table=self.groups.all(), forbidden_table=self.groups.all_forbidden()
        )
        topics = tuple(self.topics.all().values())
        return Memory(groups=groups, topics=topics, offsets=self.offsets.all(), modes=self.modes.all())

    def check(self) -> None:
        """Hold all tables to their promises.

        Raises:
            AssertionError: one is broken; the message says which, and where.
        """
        self.registry.check(self.channels, self._now, may_outlive=self.policy.handles_channels_fast)
        self.producers.check(self.channels, self._now)
        self.locks.check(self._now)
        self.offsets.check()
        self._notifier.check()
        for channel, peer in self.channels.items():
            assert peer.channel == channel, f"channel {channel} is kept as {peer}"


def _source(settings: BrokerSettings, origin: Origin) -> Source:
    return Source(origin=origin, cluster=settings.cluster, broker=settings.broker, address=settings.address)


def _states(facts: Iterable[object]) -> tuple[State, ...]:
    return tuple(State(fact=fact) for fact in facts)
