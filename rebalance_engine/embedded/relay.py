"""What a broker asks its clients: what they hold, to consume a message now, to go to other offsets.

The answer of a client is handed on as it came: its body byte by byte, its language and version, all but the number.
Whoever asks waits as long as the client does, up to the
limit; other requests go on meanwhile.

Sources: ``broker/.../processor/AdminBrokerProcessor.java`` (``callConsumer``, ``consumeMessageDirectly``),
``broker/.../client/net/Broker2Client.java`` (``resetOffset``, ``getConsumeStatus``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rebalance_engine.effects import Answered, Channel, Failure, Push, Respond, Unanswered
from rebalance_engine.embedded.core import Ask, Call, Core, HandOn, refuse
from rebalance_engine.membership.presence import Presence
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import GetConsumerStatusBody, MessageQueueForC, ResetOffsetBody
from rebalance_engine.remoting.codes import Language, ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.message_ids import read_offset_id
from rebalance_engine.remoting.requests.changes import (
    BY_TIME,
    InvokeBrokerToResetOffset,
    InvokeBrokerToResetOffsetResponse,
)
from rebalance_engine.remoting.requests.clients import (
    ConsumeMessageDirectly,
    GetConsumerRunningInfo,
    GetConsumerStatusFromClient,
    GetConsumerStatusResponse,
    InvokeBrokerToGetConsumerStatus,
    ResetConsumerClientOffset,
)
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.versions import V3_1_8_SNAPSHOT, version_name

TIMEOUT_MS = 10_000  # ``Broker2Client.callClient``
STATUS_TIMEOUT_MS = 5_000  # ``getConsumeStatus``
MOST_ASKED = 1_000  # requests that wait for clients
RESETS_SINCE = 28  # version number of 3.0.7-SNAPSHOT, from which on clients understand a reset


@dataclass(slots=True)
class _Statuses:
    """The offsets that several clients say they are at."""

    call: Call
    waiting: int
    tables: dict[str, Mapping[MessageQueue, int]] = field(default_factory=dict)


Finish = Callable[[Answered | Unanswered], None]


class Relay:
    """The room of whoever wants something of a client."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._asked: dict[int, Finish] = {}
        self._tokens = 0
        self.serves: Mapping[type, Callable[[Call, Any], Response | None]] = {
            GetConsumerRunningInfo: self._running_info,
            ConsumeMessageDirectly: self._consume,
            InvokeBrokerToGetConsumerStatus: self._statuses,
            InvokeBrokerToResetOffset: self._reset,
        }

    def heard(self, answer: Answered | Unanswered) -> None:
        """Take the answer of a client, or that there will be none."""
        finish = self._asked.pop(answer.token, None)
        if finish is not None:
            finish(answer)

    def ask(
        self, channel: Channel, request: Request[Response], timeout_ms: int, finish: Finish, *, unread: bool = False
    ) -> None:
        """Ask a client, and finish with what it answers, or that it does not; ``unread``: as the frame that came."""
        self._tokens += 1
        self._asked[self._tokens] = finish
        self._core.outbox.append(Ask(channel, request, self._tokens, timeout_ms, unread))

    @property
    def is_full(self) -> bool:
        """Whether so much waits for clients that nobody else may."""
        return len(self._asked) >= MOST_ASKED

    def refuse_full(self) -> Refused:
        """Refuse for that reason."""
        return refuse(ResponseCode.SYSTEM_BUSY, f"[OVERLOAD]{MOST_ASKED} requests wait for clients already")

    def respond(self, call: Call, response: Response) -> None:
        """Answer a call later, if its connection is still there."""
        if call.token is not None and call.channel in self._core.membership.channels:
            self._core.outbox.append(Respond(channel=call.channel, token=call.token, response=response))

    # ---- one client ----

    def _running_info(self, call: Call, request: GetConsumerRunningInfo) -> Response | None:
        return self._hand_on(call, request.consumer_group, request.client_id, request)

    def _consume(self, call: Call, request: ConsumeMessageDirectly) -> Response | None:
        settings, groups = self._core.settings.membership, self._core.membership.groups
        _, position = read_offset_id(request.msg_id or "")
        message = self._core.store.at_position(position)
        if message is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"no message at {position}, where {request.msg_id} says it is")
        topic = self._core.find_topic(request.topic) if request.topic else None
        group = groups.find_or_create(request.consumer_group)
        asked = replace(
            request,
            broker_name=settings.broker,
            topic_sys_flag=topic.topic_sys_flag if topic else None,
            group_sys_flag=group.group_sys_flag if group else None,
            body=message,
        )
        return self._hand_on(call, request.consumer_group, request.client_id or "", asked)

    def _hand_on(self, call: Call, group: str, client: str, request: Request[Response]) -> Response | None:
        presence = self._find(group, client)
        if presence is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"The Consumer <{group}> <{client}> not online")
        version = presence.peer.version
        if version < V3_1_8_SNAPSHOT:
            remark = (
                f"The Consumer <{client}> Version <{version_name(version)}> too low to finish, "
                "please upgrade it to V3_1_8_SNAPSHOT"
            )
            return refuse(ResponseCode.SYSTEM_ERROR, remark)
        if self.is_full:
            return self.refuse_full()
        who = f"<{group}> <{client}>"
        finish: Finish = lambda answer: self._hand_over(call, answer, who)  # noqa: E731  # it needs its type
        self.ask(presence.peer.channel, request, TIMEOUT_MS, finish, unread=True)
        return None

    def _hand_over(self, call: Call, answer: Answered | Unanswered, who: str) -> None:
        if isinstance(answer, Unanswered):
            self.respond(call, _verdict(answer, who))
        elif call.token is not None and call.channel in self._core.membership.channels:
            assert isinstance(answer.response, Command)
            self._core.outbox.append(HandOn(call.channel, call.token, answer.response))

    def _find(self, group: str, client: str) -> Presence | None:
        found = self._core.membership.registry.find(group)
        members = found.members.values() if found else ()
        return next((presence for presence in members if presence.client == client), None)

    # ---- all clients of a group ----

    def _statuses(self, call: Call, request: InvokeBrokerToGetConsumerStatus) -> Response | None:
        found = self._core.membership.registry.find(request.group)
        members = [
            presence
            for presence in (found.members.values() if found else ())
            if not request.client_addr or presence.client == request.client_addr
        ]
        if not members:
            remark = f"No Any Consumer online in the consumer group: [{request.group}]"
            return refuse(ResponseCode.SYSTEM_ERROR, remark)
        statuses = _Statuses(call, len(members))
        for presence in members:
            asked = GetConsumerStatusFromClient(topic=request.topic, group=request.group)
            self.ask(presence.peer.channel, asked, STATUS_TIMEOUT_MS, self._collect(statuses, presence.client))
        return None

    def _collect(self, statuses: _Statuses, client: str) -> Finish:
        def finish(answer: Answered | Unanswered) -> None:
            statuses.waiting -= 1
            response = answer.response if isinstance(answer, Answered) else None
            if isinstance(response, GetConsumerStatusResponse):
                statuses.tables[client] = response.body.message_queue_table
            if not statuses.waiting:
                body = GetConsumerStatusBody(consumer_table=statuses.tables)
                self.respond(statuses.call, GetConsumerStatusResponse(body=body))

        return finish

    # ---- resets ----

    def _reset(self, call: Call, request: InvokeBrokerToResetOffset) -> Response:
        if self._core.membership.policy.resets_offsets:
            return self._reset_here(request)
        return self._reset_at_clients(call, request)

    def _reset_here(self, request: InvokeBrokerToResetOffset) -> Response:
        config = self._core.find_topic(request.topic)
        if config is None:
            return refuse(ResponseCode.TOPIC_NOT_EXIST, f"Topic {request.topic} does not exist")
        if self._core.membership.groups.find(request.group) is None:
            return refuse(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, f"Group {request.group} does not exist")
        store = self._core.store
        if request.queue_id >= 0 and request.offset != BY_TIME:
            begin, end = store.begin(request.topic, request.queue_id), store.end(request.topic, request.queue_id)
            if not begin <= request.offset <= end + 1:
                remark = f"Target offset {request.offset} not in consume queue range [{begin}-{end}]"
                return refuse(ResponseCode.SYSTEM_ERROR, remark)
            offsets = {request.queue_id: request.offset}
        else:
            queues = range(config.read_queue_nums) if request.queue_id < 0 else (request.queue_id,)
            offsets = self._at_time(request, queues)
        for queue_id, offset in offsets.items():
            self._core.membership.reset_offset(request.group, request.topic, queue_id, offset)
        return InvokeBrokerToResetOffsetResponse(body=ResetOffsetBody(offset_table=self._table(request.topic, offsets)))

    def _at_time(self, request: InvokeBrokerToResetOffset, queues: Iterable[int]) -> dict[int, int]:
        store, topic = self._core.store, request.topic
        if request.timestamp < 0:
            return {queue_id: store.end(topic, queue_id) for queue_id in queues}
        return {queue_id: store.search(topic, queue_id, request.timestamp) for queue_id in queues}

    def _table(self, topic: str, offsets: Mapping[int, int]) -> dict[MessageQueue, int]:
        broker = self._core.settings.membership.broker
        return {MessageQueue(topic, broker, queue_id): offset for queue_id, offset in offsets.items()}

    def _reset_at_clients(self, call: Call, request: InvokeBrokerToResetOffset) -> Response:
        """Tell all members to go back, or on if they are forced to."""
        config = self._core.find_topic(request.topic)
        if config is None:
            remark = f"[reset-offset] reset offset failed, no topic in this broker. topic={request.topic}"
            return refuse(ResponseCode.SYSTEM_ERROR, remark)
        offsets = self._at_time(request, range(config.write_queue_nums))
        for queue_id, offset in offsets.items():
            consumed = self._core.membership.offsets.find(request.group, request.topic, queue_id)
            if consumed is None:
                return refuse(ResponseCode.SYSTEM_ERROR, f"THe consumer group <{request.group}> not exist")
            offsets[queue_id] = offset if request.is_force else min(offset, consumed)
        found = self._core.membership.registry.find(request.group)
        if found is None:
            remark = (
                f"Consumer not online, so can not reset offset, Group: {request.group} Topic: {request.topic} "
                f"Timestamp: {request.timestamp}"
            )
            return refuse(ResponseCode.CONSUMER_NOT_ONLINE, remark)
        return self._push_reset(call, request, tuple(found.members.values()), offsets)

    def _push_reset(
        self,
        call: Call,
        request: InvokeBrokerToResetOffset,
        members: tuple[Presence, ...],
        offsets: Mapping[int, int],
    ) -> Response:
        old = [presence for presence in members if presence.peer.version < RESETS_SINCE]
        if old:
            remark = f"the client does not support this feature. version={version_name(old[0].peer.version)}"
            return refuse(ResponseCode.SYSTEM_ERROR, remark)
        table = self._table(request.topic, offsets)
        pushed = ResetConsumerClientOffset(
            topic=request.topic,
            group=request.group,
            timestamp=request.timestamp,
            body=ResetOffsetBody(offset_table=_for_cpp(table) if call.language is Language.CPP else table),
        )
        for presence in members:
            self._core.outbox.append(Push(channel=presence.peer.channel, request=pushed))
        return InvokeBrokerToResetOffsetResponse(body=ResetOffsetBody(offset_table=table))


def _verdict(answer: Unanswered, who: str) -> Refused:
    """Say in Java's words why a client did not answer."""
    if answer.failure is Failure.TIMEOUT:
        remark = f"consumer {who} Timeout: RemotingTimeoutException: wait response timeout <{TIMEOUT_MS}ms>"
        return Refused(code=ResponseCode.CONSUME_MSG_TIMEOUT, remark=remark)
    remark = f"invoke consumer {who} Exception: RemotingSendRequestException: {answer.failure.value}"
    return Refused(code=ResponseCode.SYSTEM_ERROR, remark=remark)


def _for_cpp(table: Mapping[MessageQueue, int]) -> tuple[MessageQueueForC, ...]:
    return tuple(
        MessageQueueForC(topic=queue.topic, broker_name=queue.broker, queue_id=queue.queue_id, offset=offset)
        for queue, offset in table.items()
    )
