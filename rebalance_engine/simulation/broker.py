"""A broker: the membership machine, its messages, and pulls that wait for some.

Sources of what is around the membership: ``broker/.../processor/PullMessageProcessor.java``,
``longpolling/PullRequestHoldService.java``, ``AbstractSendMessageProcessor.java`` (``consumerSendMsgBack``),
``BrokerController.java`` (``registerBrokerAll``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from rebalance_engine.consumer.messages import Message
from rebalance_engine.effects import (
    Answered,
    Channel,
    Closed,
    Heard,
    Opened,
    Received,
    Respond,
    Send,
    Unanswered,
)
from rebalance_engine.membership.machine import Broker, Memory, Timer
from rebalance_engine.membership.offsets import QueueStart
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.settings import RegisterBrokerBody, TopicConfig, TopicConfigSerializeWrapper
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import (
    ConsumerSendMsgBack,
    GetMaxOffset,
    GetMinOffset,
    OffsetResponse,
    PullMessage,
    PullMessageResponse,
)
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.nameserver import RegisterBroker
from rebalance_engine.remoting.requests.producing import SendMessage, SendMessageResponse, SendMessageV2
from rebalance_engine.simulation.clock import Alarm
from rebalance_engine.simulation.nameserver import ADDRESS as NAME_SERVER
from rebalance_engine.simulation.process import Place, Process
from rebalance_engine.simulation.store import NO_LIMIT, Returned, Store
from rebalance_engine.simulation.timers import FLUSHED_EVERY

REGISTER_EVERY = 30_000  # ms; ``registerNameServerPeriod``
REGISTER_TIMEOUT = 24_000  # ms; ``registerBrokerTimeoutMills``
SUSPEND = 2  # ``PullSysFlag.FLAG_SUSPEND``
COMMITS = 1  # ``PullSysFlag.FLAG_COMMIT_OFFSET``
HOUSEKEEPING = Timer.HOUSEKEEPING


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(PullMessageResponse):
    """The answer to a pull with messages as values: nobody here needs their bytes."""

    messages: tuple[Message, ...] = ()


class Watcher(Protocol):
    """Who looks over a broker's shoulder."""

    def heard(self, broker: BrokerProcess, heard: Heard, responses: Iterable[object]) -> None:
        """The membership heard something, and answered."""

    def pulled(self, broker: BrokerProcess, channel: Channel, pull: PullMessage) -> None:
        """A pull passed the checks, and is served."""

    def committed(self, broker: BrokerProcess, channel: Channel, pull: PullMessage) -> None:
        """A pull brought an offset."""

    def sent(self, queue: MessageQueue, offset: int, request: SendMessage) -> None:
        """A producer's message is stored there."""

    def stored(self, queue: MessageQueue, message: Message) -> None:
        """A message is there."""

    def returned(self, broker: BrokerProcess, channel: Channel, returned: Returned) -> None:
        """A failed message is the broker's again."""


@dataclass(slots=True)
class Disk:
    """What a broker finds again when it is started the next time."""

    settings: BrokerSettings
    store: Store
    memory: Memory = field(default_factory=Memory)


@dataclass(slots=True, eq=False)
class _Held:
    """A pull that waits for a message."""

    received: Received
    pull: PullMessage
    alarm: Alarm | None = None


class BrokerProcess(Process):
    """One run of a broker."""

    def __init__(self, place: Place, disk: Disk, watcher: Watcher) -> None:
        super().__init__(place)
        self.disk = disk
        self.machine = Broker(disk.settings, memory=disk.memory, queue_start=self._queue_start)
        self._watcher = watcher
        self._held: dict[tuple[str, int], list[_Held]] = {}
        self._tokens = 0
        self._registered_version = -1
        self._serving: dict[type, Callable[[Received, Any, int], Response | None]] = {
            PullMessage: self._pull,
            GetMaxOffset: self._max_offset,
            GetMinOffset: self._min_offset,
            SendMessage: self._store,
            SendMessageV2: self._store,
            ConsumerSendMsgBack: self._take_back,
        }

    def start(self) -> None:
        """Begin: what waits on disk goes on waiting."""
        self.carry_out(self.machine.start(self.clock.now))
        for number, returned in tuple(self.disk.store.delayed.items()):
            self.after(max(0, returned.due - self.clock.now), partial(self._release, number))
        self._register()
        self._flush()

    # ---- its machine ----

    def react(self, heard: Heard, at: int) -> Iterable[object]:
        """Let the membership hear what is for it, and serve the rest."""
        if isinstance(heard, Answered | Unanswered):
            return ()  # of a registration
        if isinstance(heard, Received) and not self.machine.knows(heard.request):
            return self._serve(heard, at)
        if heard_of_own_connection(self, heard):
            return ()
        effects = self.machine.handle(heard, at)
        if isinstance(heard, Opened):
            caller = self.links[heard.channel].client
            self.machine.introduce(heard.channel, caller.language, caller.version)
        elif isinstance(heard, Closed):
            self._forget_held(heard.channel)
        self._watcher.heard(self, heard, [effect.response for effect in effects if isinstance(effect, Respond)])
        if self.machine.topics.version != self._registered_version:
            self._tell_name_server()
        return effects

    def check(self) -> None:
        """Hold the membership to its invariants."""
        self.machine.check()

    def put_topic(self, topic: str, queues: int) -> None:
        """Create a topic, or change its number of queues."""
        self.machine.put_topic(TopicConfig(topic_name=topic, read_queue_nums=queues, write_queue_nums=queues))
        self._tell_name_server()

    def crash(self) -> None:
        """Lose what was not flushed: offsets of the last seconds, members, locks; topics and groups are on disk."""
        flushed = self.disk.memory.offsets
        self.disk.memory = replace(self.machine.memory(), offsets=flushed)

    def _flush(self) -> None:
        self.disk.memory = self.machine.memory()
        self.after(FLUSHED_EVERY, self._flush)

    # ---- the name server ----

    def _register(self) -> None:
        self._tell_name_server()
        self.after(REGISTER_EVERY, self._register)

    def _tell_name_server(self) -> None:
        self._registered_version = self.machine.topics.version
        settings = self.disk.settings
        wrapper = TopicConfigSerializeWrapper(topic_config_table=self.machine.topics.all())
        request = RegisterBroker(
            broker_name=settings.broker,
            broker_addr=settings.address,
            cluster_name="simulated",
            broker_id=0,
            body=RegisterBrokerBody(topic_config_serialize_wrapper=wrapper),
        )
        self._tokens += 1
        send = Send(to=NAME_SERVER, request=request, token=self._tokens, timeout_ms=REGISTER_TIMEOUT)
        self.carry_out((send,))

    # ---- messages ----

    def _serve(self, received: Received, at: int) -> Iterable[object]:
        serve = self._serving.get(type(received.request))
        if serve is None:
            response: Response | None = Refused(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark="not simulated")
        else:
            response = serve(received, received.request, at)
        if response is not None and received.token is not None:
            yield Respond(channel=received.channel, token=received.token, response=response)

    def _queue_start(self, topic: str, queue_id: int) -> QueueStart:
        return QueueStart.IN_MEMORY if self.disk.store.end(topic, queue_id) else QueueStart.EMPTY

    def _max_offset(self, _: Received, request: GetMaxOffset, __: int) -> Response:
        return OffsetResponse(offset=self.disk.store.end(request.topic, request.queue_id))

    def _min_offset(self, _: Received, __: GetMinOffset, ___: int) -> Response:
        return OffsetResponse(offset=0)

    def _store(self, _: Received, request: SendMessage, at: int) -> Response:
        config = self.machine.topics.find(request.topic)
        if config is None or request.queue_id >= config.write_queue_nums:
            return Refused(code=ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{request.topic}] not exist")
        place = MessageQueue(request.topic, self.name, request.queue_id)
        message = self.disk.store.append(place, at)
        self._watcher.sent(place, message.offset, request)
        self._announce(place, message)
        return SendMessageResponse(
            msg_id=str(message.message_id), queue_id=request.queue_id, queue_offset=message.offset
        )

    def _announce(self, place: MessageQueue, message: Message) -> None:
        self._watcher.stored(place, message)
        for held in self._held.pop((place.topic, place.queue_id), ()):
            self.clock.call_off(held.alarm or [0, 0, None])
            self._respond_held(held)

    # ---- pulls ----

    def _pull(self, received: Received, pull: PullMessage, at: int) -> Response | None:
        terms = self.machine.check_pull(received.channel, pull, at)
        if isinstance(terms, Refused):
            return terms
        self._watcher.pulled(self, received.channel, pull)
        found = self._look(pull)
        if pull.sys_flag & COMMITS:
            self.carry_out(self.machine.commit_with_pull(received.channel, pull, at))
            self._watcher.committed(self, received.channel, pull)
        if found.code != ResponseCode.PULL_NOT_FOUND or not pull.sys_flag & SUSPEND:
            return found
        self._hold(_Held(received, pull))
        return None

    def _look(self, pull: PullMessage) -> Found:
        end = self.disk.store.end(pull.topic, pull.queue_id)
        messages = self.disk.store.read(pull.topic, pull.queue_id, pull.queue_offset, pull.max_msg_nums)
        following, code = pull.queue_offset + len(messages), ResponseCode.SUCCESS
        if pull.queue_offset > end:
            following, code = end, ResponseCode.PULL_OFFSET_MOVED
        elif not messages:
            code = ResponseCode.PULL_NOT_FOUND
        return Found(
            code=code,
            suggest_which_broker_id=0,
            next_begin_offset=following,
            min_offset=0,
            max_offset=end,
            messages=messages,
        )

    def _hold(self, held: _Held) -> None:
        key = held.pull.topic, held.pull.queue_id
        self._held.setdefault(key, []).append(held)
        held.alarm = self.after(held.pull.suspend_timeout_millis, lambda: self._waited_in_vain(key, held))

    def _waited_in_vain(self, key: tuple[str, int], held: _Held) -> None:
        waiting = self._held.get(key, [])
        if held in waiting:
            waiting.remove(held)
            self._respond_held(held)

    def _respond_held(self, held: _Held) -> None:
        token = held.received.token
        assert token is not None, "a pull is never one-way"
        self.carry_out((Respond(channel=held.received.channel, token=token, response=self._look(held.pull)),))

    def _forget_held(self, channel: Channel) -> None:
        for key, waiting in self._held.items():
            self._held[key] = [held for held in waiting if held.received.channel != channel]

    # ---- messages that come back ----

    def _take_back(self, received: Received, request: ConsumerSendMsgBack, at: int) -> Response:
        limit = NO_LIMIT if request.max_reconsume_times is None else request.max_reconsume_times
        number, returned = self.disk.store.take_back(request.group, request.offset, request.delay_level, limit, at)
        self._watcher.returned(self, received.channel, returned)
        self.after(returned.due - at, lambda: self._release(number))
        return Response()

    def _release(self, number: int) -> None:
        if number in self.disk.store.delayed:
            place = self.disk.store.release(number, self.clock.now)
            self._announce(place, self.disk.store.read(place.topic, 0, self.disk.store.end(place.topic, 0) - 1, 1)[0])


def heard_of_own_connection(broker: BrokerProcess, heard: Heard) -> bool:
    """Say whether this is about the connection to the name server, of which the membership knows nothing."""
    if isinstance(heard, Opened):
        return broker.links[heard.channel].client is broker
    return isinstance(heard, Closed) and heard.channel not in broker.machine.channels
