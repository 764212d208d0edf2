"""What brokers ask of a client: that members changed, what it holds, and to go elsewhere.

Source: ``client/.../impl/ClientRemotingProcessor.java``.
"""

from __future__ import annotations

from rebalance_engine.consumer.application import Consumed, Result
from rebalance_engine.consumer.desk import Desk
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.messages import Message, message_of
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.reset import reset
from rebalance_engine.consumer.schedule import rebalance_one
from rebalance_engine.consumer.threads import Code, HandOut
from rebalance_engine.effects import Received, Respond
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import (
    CMResult,
    ConsumeMessageDirectlyResult,
    ConsumerRunningInfo,
    GetConsumerStatusBody,
    PopProcessQueueInfo,
    ProcessQueueInfo,
)
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import BrokenMessage
from rebalance_engine.remoting.messages import unpack_all
from rebalance_engine.remoting.requests.clients import (
    ConsumeMessageDirectly,
    ConsumeMessageDirectlyResponse,
    GetConsumerRunningInfo,
    GetConsumerRunningInfoResponse,
    GetConsumerStatusFromClient,
    GetConsumerStatusResponse,
    ResetConsumerClientOffset,
)
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import NotifyConsumerIdsChanged


def received(desk: Desk, heard: Received) -> None:
    """Do what a broker asks, and answer where it waits for one."""
    request = heard.request
    if isinstance(request, NotifyConsumerIdsChanged):
        _members_changed(desk, request.consumer_group)
        return
    if isinstance(request, ResetConsumerClientOffset) and request.group in desk.members:
        desk.threads.spawn(reset(desk.members[request.group], request))
        return
    if isinstance(request, ConsumeMessageDirectly) and request.consumer_group in desk.members:
        desk.threads.spawn(_consume_directly(desk, desk.members[request.consumer_group], heard, request))
        return
    if heard.token is not None:
        desk.threads.out.append(Respond(channel=heard.channel, token=heard.token, response=_answer(desk, request)))


def _members_changed(desk: Desk, group: str) -> None:
    """Rebalance all groups, whichever is named; C++ rebalances the named one, in the network thread."""
    if not desk.profile.notices_group_only:
        desk.wake()
        return
    member = desk.members.get(group)
    if member is not None:
        desk.threads.spawn(rebalance_one(desk, member))


def _answer(desk: Desk, request: object) -> Response:
    if isinstance(request, GetConsumerRunningInfo):
        member = desk.members.get(request.consumer_group)
        if member is not None:
            return GetConsumerRunningInfoResponse(body=running_info(desk, member))
        remark = f"The Consumer Group <{request.consumer_group}> not exist in this consumer"
        return Refused(code=ResponseCode.SYSTEM_ERROR, remark=remark)
    if isinstance(request, GetConsumerStatusFromClient):
        member = desk.members.get(request.group)
        offsets = member.offsets.of_topic(request.topic) if member else {}
        return GetConsumerStatusResponse(body=GetConsumerStatusBody(message_queue_table=offsets))
    return Refused(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=f"not supported: {type(request).__name__}")


def _consume_directly(desk: Desk, member: Member, heard: Received, request: ConsumeMessageDirectly) -> Code[None]:
    """Have one message consumed besides all queues, and answer what came of it."""
    began = desk.at
    response: Response
    try:
        messages = _read(request)
        queue = MessageQueue(request.topic or messages[0].topic, request.broker_name or "", 0)
        consumed: Consumed = yield HandOut(member.group, queue, messages)
        result = CMResult.CR_SUCCESS if consumed.result is Result.SUCCESS else CMResult.CR_LATER
        body = ConsumeMessageDirectlyResult(
            order=member.settings.orderly, consume_result=result, spent_time_mills=desk.at - began
        )
        response = ConsumeMessageDirectlyResponse(body=body)
    except BrokenMessage as error:
        response = Refused(code=ResponseCode.SYSTEM_ERROR, remark=str(error))
    if heard.token is not None:
        desk.threads.out.append(Respond(channel=heard.channel, token=heard.token, response=response))


def _read(request: ConsumeMessageDirectly) -> tuple[Message, ...]:
    messages = tuple(map(message_of, unpack_all(request.body)))
    if not messages:  # also a batch of none
        raise BrokenMessage(f"the body has {len(request.body)} bytes and no message; it needs a stored message")
    return messages


def running_info(desk: Desk, member: Member) -> ConsumerRunningInfo:
    """Tell what a consumer is and holds (``consumerRunningInfo``)."""
    settings = member.settings
    properties = {
        "PROP_NAMESERVER_ADDR": ";".join(desk.settings.name_servers),
        "PROP_CONSUME_TYPE": settings.consume_type.value,
        "PROP_CLIENT_VERSION": str(desk.profile.version_number),
        "PROP_CONSUMEORDERLY": str(settings.orderly).lower(),
        "PROP_THREADPOOL_CORE_SIZE": str(settings.threads),
        "PROP_CONSUMER_START_TIMESTAMP": str(member.started_at),
        "allocateMessageQueueStrategy": member.strategy.name,
        "messageModel": settings.model.value,
    }
    return ConsumerRunningInfo(
        properties=properties,
        subscription_set=member.subscriptions.all,
        mq_table={mq: _queue_info(member, mq, pq) for mq, pq in member.table.items()},
        mq_pop_table=_popped_info(member) if desk.profile.knows_assignment else None,
        user_consumer_info={"allocateMessageQueueStrategy": member.strategy.name},
    )


def _popped_info(member: Member) -> dict[MessageQueue, PopProcessQueueInfo]:
    return {
        mq: PopProcessQueueInfo(wait_ack_count=pq.waiting, dropped=pq.is_dropped, last_pop_timestamp=pq.last_pop)
        for mq, pq in member.pop_table.items()
    }


def _queue_info(member: Member, mq: MessageQueue, pq: ProcessQueue) -> ProcessQueueInfo:
    in_hand = pq.in_hand
    return ProcessQueueInfo(
        commit_offset=member.offsets.in_memory(mq) or 0,
        cached_msg_min_offset=pq.first or 0,
        cached_msg_max_offset=pq.last or 0,
        cached_msg_count=pq.count - len(in_hand),
        cached_msg_size_in_mib=pq.mib,
        transaction_msg_min_offset=min(in_hand, default=0),
        transaction_msg_max_offset=max(in_hand, default=0),
        transaction_msg_count=len(in_hand),
        locked=pq.is_locked,
        try_unlock_times=pq.unlock_tries,
        last_lock_timestamp=pq.last_lock,
        dropped=pq.is_dropped,
        last_pull_timestamp=pq.last_pull,
        last_consume_timestamp=pq.last_consume,
    )
