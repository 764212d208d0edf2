"""A scripted broker: it keeps members, locks, offsets and messages, as far as a consumer can tell."""

from collections import Counter
from dataclasses import dataclass, field

from rebalance_engine.assignment import assignment
from rebalance_engine.consumer import Message
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import GetConsumerListByGroupResponseBody
from rebalance_engine.remoting.bodies.queues import (
    LockBatchResponseBody,
    MessageQueueAssignment,
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
)
from rebalance_engine.remoting.bodies.settings import SetMessageRequestModeRequestBody
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import (
    ConsumerSendMsgBack,
    GetMaxOffset,
    LockBatchMq,
    LockBatchMqResponse,
    OffsetResponse,
    PullMessage,
    PullMessageResponse,
    QueryAssignment,
    QueryAssignmentResponse,
    QueryConsumerOffset,
    SearchOffsetByTimestamp,
    UnlockBatchMq,
    UpdateConsumerOffset,
)
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import (
    GetConsumerListByGroup,
    GetConsumerListByGroupResponse,
    HeartBeat,
    HeartBeatResponse,
    UnregisterClient,
)
from tests.rebalance_engine.consumer.pops import Pop, Pops

LOCK_LIVES = 60_000
OfQueue = PullMessage | QueryConsumerOffset | UpdateConsumerOffset | GetMaxOffset | SearchOffsetByTimestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(PullMessageResponse):
    """What was pulled, not as bytes."""

    messages: tuple[Message, ...] = ()


def read(answer: PullMessageResponse) -> tuple[Message, ...]:
    return answer.messages if isinstance(answer, Found) else ()


@dataclass
class Broker:
    """One broker of one machine. ``handle`` gives the answer, or None where it holds a pull back."""

    name: str
    members: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    locks: dict[tuple[str, MessageQueue], tuple[str, int]] = field(default_factory=dict)
    offsets: dict[tuple[str, MessageQueue], int] = field(default_factory=dict)
    messages: dict[MessageQueue, list[Message]] = field(default_factory=dict)
    first: Counter[MessageQueue] = field(default_factory=Counter)
    answers: dict[str, list[Response]] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    notifies: bool = True
    sent_back: list[ConsumerSendMsgBack] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    assignments: dict[str, tuple[MessageQueue, ...]] = field(default_factory=dict)
    modes: dict[str, SetMessageRequestModeRequestBody] = field(default_factory=dict)
    queues: dict[str, tuple[MessageQueue, ...]] = field(default_factory=dict)
    knows_heartbeat_v2: bool = False
    fingerprints: dict[str, int] = field(default_factory=dict)
    pops: Pops = field(init=False)

    def __post_init__(self) -> None:
        self.pops = Pops(self.name)

    def handle(self, client: str, request: object, at: int) -> Response | None:
        scripted = self.answers.get(type(request).__name__)
        if scripted:
            return scripted.pop(0)
        if isinstance(request, PullMessage):
            return self.pull(request)
        if isinstance(request, Pop):
            return self.pops.handle(request, self.messages, at)
        if isinstance(request, LockBatchMq | UnlockBatchMq):
            return self.lock(client, request, at)
        if isinstance(request, HeartBeat | UnregisterClient | GetConsumerListByGroup):
            return self.membership(client, request)
        return self.other(request)

    def end(self, mq: MessageQueue) -> int:
        return self.first[mq] + len(self.messages.get(mq, ()))

    def put(self, mq: MessageQueue, count: int, *, size: int = 100, tags: str | None = None) -> None:
        for _ in range(count):
            offset = self.end(mq)
            message = Message(offset, mq.topic, size, 1000 + offset, f"{mq.broker}-{offset}", tags)
            self.messages.setdefault(mq, []).append(message)

    # ---- members ----

    def leave(self, client: str, group: str) -> None:
        members = self.members.get(group, {})
        members.pop(client, None)
        self.changed.append(group)
        if not members:
            self.members.pop(group, None)

    def membership(self, client: str, request: HeartBeat | UnregisterClient | GetConsumerListByGroup) -> Response:
        if isinstance(request, HeartBeat):
            return self.heartbeat(client, request)
        if isinstance(request, UnregisterClient):
            self.leave(client, request.consumer_group or "")
            return Response()
        members = tuple(self.members.get(request.consumer_group, ()))
        if not members:
            return Refused(code=ResponseCode.SYSTEM_ERROR, remark="no consumer for this group")
        return GetConsumerListByGroupResponse(body=GetConsumerListByGroupResponseBody(consumer_id_list=members))

    def heartbeat(self, client: str, request: HeartBeat) -> Response:
        for data in request.body.consumer_data_set:
            members = self.members.setdefault(data.group_name, {})
            if client not in members:
                self.changed.append(data.group_name)
            if not request.body.without_sub:
                members[client] = {each.topic: each.sub_version for each in data.subscription_data_set}
        return self._second_version(request) if self.knows_heartbeat_v2 else HeartBeatResponse()

    def _second_version(self, request: HeartBeat) -> Response:
        """Answer as brokers do: they keep one fingerprint a group."""
        mark, is_changed = request.body.heartbeat_fingerprint, request.body.heartbeat_fingerprint == 0
        for data in request.body.consumer_data_set:
            is_changed = is_changed or self.fingerprints.get(data.group_name, mark) != mark
            self.fingerprints[data.group_name] = mark
        return HeartBeatResponse(is_support_heart_beat_v2=True, is_sub_change=is_changed)

    # ---- locks ----

    def lock(self, client: str, request: LockBatchMq | UnlockBatchMq, at: int) -> Response:
        granted = []
        for mq in request.body.mq_set:
            key = (request.body.consumer_group, mq)
            holder, since = self.locks.get(key, (client, at))
            if isinstance(request, UnlockBatchMq):
                if holder == client:
                    self.locks.pop(key, None)
            elif holder == client or at - since > LOCK_LIVES:
                self.locks[key] = (client, at)
                granted.append(mq)
        return LockBatchMqResponse(body=LockBatchResponseBody(lock_ok_mq_set=tuple(granted)))

    # ---- offsets and messages ----

    def other(self, request: object) -> Response:
        match request:
            case QueryConsumerOffset():
                stored = self.offsets.get((request.consumer_group, self.queue(request)))
                if stored is None or stored < 0:
                    return Refused(code=ResponseCode.QUERY_NOT_FOUND)
                return OffsetResponse(offset=stored)
            case UpdateConsumerOffset():
                self.offsets[request.consumer_group, self.queue(request)] = request.commit_offset
                return Response()
            case GetMaxOffset() | SearchOffsetByTimestamp():
                is_end = isinstance(request, GetMaxOffset)
                return OffsetResponse(offset=self.end(self.queue(request)) if is_end else 1)
            case ConsumerSendMsgBack():
                self.sent_back.append(request)
                return Response()
            case QueryAssignment():
                rows = self.divide(request.body)
                return QueryAssignmentResponse(body=QueryAssignmentResponseBody(message_queue_assignments=rows))
        raise AssertionError(f"no answer to {request}")

    def divide(self, question: QueryAssignmentRequestBody) -> tuple[MessageQueueAssignment, ...] | None:
        """Give what was scripted; else what a broker computes, once any mode was set."""
        topic, group = question.topic, question.consumer_group
        scripted, mode = self.assignments.get(topic), self.modes.get(topic)
        if scripted is not None:
            return tuple(MessageQueueAssignment(message_queue=mq) for mq in scripted)
        if mode is None:
            if not self.modes:
                return None
            mode = SetMessageRequestModeRequestBody(topic=topic, consumer_group=group)
        return assignment(question, mode, queues=self.queues.get(topic), clients=self.members.get(group))

    def pull(self, request: PullMessage) -> Response | None:
        mq = self.queue(request)
        if request.sys_flag & 4:  # it brings its subscription along
            return self._committed_and_pulled(request)
        versions = [each.get(mq.topic) for each in self.members.get(request.consumer_group, {}).values()]
        known = [version for version in versions if version is not None]
        if not known:
            return Refused(code=ResponseCode.SUBSCRIPTION_NOT_EXIST)
        if max(known) < request.sub_version:
            return Refused(code=ResponseCode.SUBSCRIPTION_NOT_LATEST)
        return self._committed_and_pulled(request)

    def _committed_and_pulled(self, request: PullMessage) -> Response | None:
        if request.sys_flag & 1:
            self.offsets[request.consumer_group, self.queue(request)] = request.commit_offset
        return self.pulled(request)

    def pulled(self, request: PullMessage, *, is_over: bool = False) -> Response | None:
        """Answer a pull; None while there is nothing new and the time is not over."""
        mq, offset = self.queue(request), request.queue_offset
        first, end = self.first[mq], self.end(mq)
        if offset < first or offset > end:
            return self._found(ResponseCode.PULL_OFFSET_MOVED, first if offset < first else end, mq)
        found = self.messages.get(mq, [])[offset - first :][: request.max_msg_nums]
        if found:
            return self._found(ResponseCode.SUCCESS, offset + len(found), mq, tuple(found))
        return self._found(ResponseCode.PULL_NOT_FOUND, offset, mq) if is_over else None

    def _found(self, code: int, following: int, mq: MessageQueue, messages: tuple[Message, ...] = ()) -> Found:
        return Found(
            code=code,
            suggest_which_broker_id=0,
            next_begin_offset=following,
            min_offset=self.first[mq],
            max_offset=self.end(mq),
            messages=messages,
        )

    def queue(self, request: OfQueue) -> MessageQueue:
        return MessageQueue(request.topic, self.name, request.queue_id)
