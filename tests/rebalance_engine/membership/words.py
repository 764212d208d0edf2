"""Facts and answers in words, for transcripts."""

from collections.abc import Callable, Iterable
from typing import Any

from rebalance_engine import events
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import Connection
from rebalance_engine.remoting.requests.brokers import (
    GetAllMessageRequestModeResponse,
    GetConsumerConnectionListResponse,
    GetProducerConnectionListResponse,
    QueryTopicConsumeByWhoResponse,
)
from rebalance_engine.remoting.requests.consuming import LockBatchMqResponse, OffsetResponse, QueryAssignmentResponse
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroupResponse, HeartBeatResponse


def response_in_words(response: Response) -> str:
    say = CONTENT.get(type(response), lambda _: "")
    remark = f" {response.remark.splitlines()[0].strip()}" if response.remark else ""
    return f"{int(response.code)}{say(response)}{remark}"


def _refused(response: Refused) -> str:
    why = response.ext_fields.get("forbiddenType")
    return f" forbiddenType {why}" if why else ""


def _heard(response: HeartBeatResponse) -> str:
    if not response.is_support_heart_beat_v2:
        return ""
    return f" IS_SUB_CHANGE={str(response.is_sub_change).lower()}"


def _locked(response: LockBatchMqResponse) -> str:
    return f" locked {' '.join(map(_name, response.body.lock_ok_mq_set)) or 'none'}"


def _group(response: GetConsumerConnectionListResponse) -> str:
    body = response.body
    topics = (f"{data.topic}@{data.sub_version}:{data.sub_string}" for data in body.subscription_table.values())
    assert body.message_model
    return f" {body.message_model.value.lower()} {_connections(body.connection_set)} wants {' '.join(topics)}"


def _connections(connections: Iterable[Connection]) -> str:
    return " ".join(f"{one.client_id}={one.client_addr}" for one in connections)


def _assigned(response: QueryAssignmentResponse) -> str:
    given = response.body.message_queue_assignments
    if given is None:
        return "no valid answer"
    return " ".join(f"{each.mode.value}:{_name(each.message_queue)}" for each in given) or "nothing"


def _modes(response: GetAllMessageRequestModeResponse) -> str:
    rows = response.body.message_request_mode_map.values()
    told = (
        f"{each.consumer_group}:{each.topic}={each.mode.value}/{each.pop_share_queue_num}"
        for groups in rows
        for each in groups.values()
    )
    return " ".join(told) or "none"


CONTENT: dict[type, Callable[[Any], str]] = {
    Refused: _refused,
    HeartBeatResponse: _heard,
    LockBatchMqResponse: _locked,
    GetConsumerConnectionListResponse: _group,
    QueryAssignmentResponse: lambda response: f" {_assigned(response)}",
    GetAllMessageRequestModeResponse: lambda response: f" modes {_modes(response)}",
    GetConsumerListByGroupResponse: lambda response: f" clients {' '.join(response.body.consumer_id_list)}",
    OffsetResponse: lambda response: f" offset {response.offset}",
    QueryTopicConsumeByWhoResponse: lambda response: f" groups {' '.join(response.body.group_list) or 'none'}",
    GetProducerConnectionListResponse: (
        lambda response: f" producers {_connections(response.body.connection_set) or 'none'}"
    ),
}


def fact_in_words(fact: object) -> str:
    assert isinstance(fact, events.GroupFact)
    return f"{fact.group}: {FACTS[type(fact)](fact)}"


def _wants(subscription: events.Subscription) -> str:
    return f"{subscription.topic}@{subscription.sub_version}:{subscription.expression}"


def _granted(fact: events.LockGranted) -> str:
    expired = f", {fact.expired_holder} let it expire" if fact.expired_holder else ""
    return f"{fact.client} has the lock of {_name(fact.queue)}{expired}"


def _is(fact: events.MemberSeen) -> str:
    assert fact.consume_type and fact.message_model
    return f"{fact.client} is {fact.consume_type.value} {fact.message_model.value}"


def _again(fact: events.Duplicates) -> str:
    who = ", ".join(fact.clients) or "somebody"
    return f"{_name(fact.queue)} is consumed again from {fact.first_offset} to {fact.last_offset} by {who}"


def _name(queue: MessageQueue) -> str:
    return f"{queue.topic}/{queue.queue_id}"


FACTS: dict[type, Callable[[Any], str]] = {
    events.MemberJoined: lambda fact: f"{fact.client} joined",
    events.MemberLeft: lambda fact: f"{fact.client} left, {fact.departure.value}",
    events.MemberSeen: _is,
    events.PresenceSeen: lambda fact: f"{fact.client} is here from {fact.address}, {fact.language} {fact.version}",
    events.PresenceGone: lambda fact: f"{fact.client} is gone from {fact.address}, {fact.departure.value}",
    events.SubscriptionAdded: lambda fact: f"wants {_wants(fact.subscription)}",
    events.SubscriptionReplaced: lambda fact: f"wants now {_wants(fact.subscription)}",
    events.SubscriptionRemoved: lambda fact: f"wants no longer {fact.topic}",
    events.Duplicates: _again,
    events.LockGranted: _granted,
    events.LockRefused: lambda fact: f"{fact.client} is refused the lock of {_name(fact.queue)}, {fact.holder} has it",
    events.LockReleased: lambda fact: f"{fact.client} gave back the lock of {_name(fact.queue)}",
    events.LockExpired: lambda fact: f"{fact.client}'s lock of {_name(fact.queue)} ran out at {fact.at}",
}
