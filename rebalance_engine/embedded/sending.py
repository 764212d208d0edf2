"""Storing messages: single ones, batches, and those that come back because they could not be consumed.

Sources: ``broker/.../processor/SendMessageProcessor.java``, ``AbstractSendMessageProcessor.java`` (``msgCheck``,
``consumerSendMsgBack``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from rebalance_engine.effects import WakeAt
from rebalance_engine.embedded import recalling, topics
from rebalance_engine.embedded.core import ALL_PUT, PUT, PUT_SIZE, REGION, SENT_BACK, Call, Core, refuse
from rebalance_engine.embedded.schedule import LONGEST_MS, IllegalTimer, Schedule
from rebalance_engine.embedded.store import Draft, Kept, draft_of, properties_of, tag_code
from rebalance_engine.embedded.transactions import Transactions, is_prepared
from rebalance_engine.membership.configs import WRITE, retry_topic
from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.remoting.batches import decode_batch
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, TopicConfig
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import BrokenMessage, LocalProtocolError
from rebalance_engine.remoting.message_ids import offset_id
from rebalance_engine.remoting.messages import StoredMessage
from rebalance_engine.remoting.properties import (
    DELAY,
    ORIGIN_MESSAGE_ID,
    RETRY_TOPIC,
    UNIQ_KEY,
    decode_properties,
)
from rebalance_engine.remoting.requests.consuming import ConsumerSendMsgBack
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.producing import (
    RecallMessage,
    SendBatchMessage,
    SendMessage,
    SendMessageResponse,
    SendMessageV2,
)
from rebalance_engine.remoting.sysflags import MessageFlag

DUE = "a delayed message is due"
FIRST_RETRY_LEVEL = 3
HONOURS_OWN_LIMIT = 121  # version number of 3.4.9, from which on a client's ``maxReconsumeTimes`` counts
INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)


class Sending:
    """The room of whoever brings messages.

    Args:
        core: of the broker.
        schedule: what waits.
        luck: chooses queues where the producer leaves it to the broker.
    """

    def __init__(self, core: Core, schedule: Schedule, luck: Random) -> None:
        self._core = core
        self._schedule = schedule
        self._luck = luck
        self._wakes_at: int | None = None
        self.transactions = Transactions(core, self._put, self.store)
        self.serves: dict[type, Callable[[Call, Any], Response | None]] = {
            SendMessage: self.accept,
            SendMessageV2: self.accept,
            SendBatchMessage: self._send_batch,
            ConsumerSendMsgBack: self._take_back,
            **self.transactions.serves,
        }
        if recalling.is_known(core.settings):
            self.serves[RecallMessage] = recalling.recall

    # ---- messages of producers ----

    def accept(self, call: Call, request: SendMessage) -> Response:
        """Store what a producer sends, and say where; or why not."""
        if request.batch:
            return self._send_batch(call, request)
        config = self.check(call, request)
        if isinstance(config, Refused):
            return config
        given = decode_properties(request.properties or "")
        draft = self._redirect_retry(call, self._draft(call, request, config, request.body, given), request)
        if isinstance(draft, Refused):
            return draft
        kept = self.transactions.prepare(draft, call.at) if is_prepared(given) else self.store(draft, call.at)
        if isinstance(kept, Refused):
            return kept
        stored = self._stored(draft, (kept,), unique_id=given.get(UNIQ_KEY))
        return replace(stored, recall_handle=self._recall_handle(draft, call.at))

    def _recall_handle(self, draft: Draft, at: int) -> str | None:
        if is_prepared(draft.properties) or not recalling.is_known(self._core.settings):
            return None
        return recalling.handle_of(self._schedule.divert(draft, at), self._core.settings.membership.broker)

    def _send_batch(self, call: Call, request: SendMessage) -> Response:
        config = self.check(call, request)
        if isinstance(config, Refused):
            return config
        if request.topic.startswith(RETRY_TOPIC_PREFIX):
            return refuse(ResponseCode.MESSAGE_ILLEGAL, f"batch request does not support retry group {request.topic}")
        try:
            packed = decode_batch(request.body)
        except BrokenMessage as error:
            return refuse(ResponseCode.MESSAGE_ILLEGAL, str(error))
        if not packed:
            return self._refuse_illegal()
        of_batch = decode_properties(request.properties or "")
        shared = self._draft(call, request, config, b"", of_batch)
        drafts = [
            replace(one_of := shared, body=one.body, flag=one.flag, properties={**one_of.properties, **one.properties})
            for one in packed
        ]
        return self._store_all(drafts, of_batch.get(UNIQ_KEY), call.at)

    def _store_all(self, drafts: list[Draft], unique_id: str | None, at: int) -> Response:
        if any(self._why_not(draft, at) for draft in drafts):
            return self._refuse_illegal()
        kept = [self.store(draft, at) for draft in drafts]
        stored = [one for one in kept if isinstance(one, Kept)]
        if len(stored) < len(kept):
            return next(one for one in kept if isinstance(one, Refused))
        response = self._stored(drafts[0], tuple(stored), unique_id=unique_id)
        return replace(response, batch_uniq_id=unique_id) if self._is_5 else response

    @property
    def _is_5(self) -> bool:
        return self._core.settings.is_since((5, 0, 0))

    def _draft(
        self, call: Call, request: SendMessage, config: TopicConfig, body: bytes, given: Mapping[str, str]
    ) -> Draft:
        properties = {**given, "CLUSTER": self._core.settings.cluster}
        if self._is_5:
            properties |= {"MSG_REGION": REGION, "TRACE_ON": "true"}
        else:
            properties.pop("WAIT", None)  # 4.9 spares these bytes
        queue_id = request.queue_id
        if queue_id < 0:
            queue_id = self._luck.randrange(max(1, config.write_queue_nums))
        host = call.host
        return Draft(
            topic=request.topic,
            queue_id=queue_id,
            body=body,
            properties=properties,
            born_timestamp=request.born_timestamp,
            born_host=host,
            flag=request.flag,
            sys_flag=self._with_hosts(request.sys_flag, host.ip),
            reconsume_times=request.reconsume_times,
        )

    def _with_hosts(self, sys_flag: int, born_ip: str) -> int:
        flag = sys_flag & ~int(MessageFlag.BORN_HOST_V6 | MessageFlag.STORE_HOST_V6 | MessageFlag.TRANSACTION_ROLLBACK)
        if ":" in born_ip:
            flag |= MessageFlag.BORN_HOST_V6
        if ":" in self._core.host.ip:
            flag |= MessageFlag.STORE_HOST_V6
        return int(flag)

    # ---- why not ----

    def check(self, call: Call, request: SendMessage) -> TopicConfig | Refused:
        """Give the topic of a message, which may be made by it; or say why it cannot be taken.

        A broker asks nothing of a topic's permission: that producers do not write to one that is only read is their
        own doing, by its route. Source: ``AbstractSendMessageProcessor.msgCheck``, the same in 4.9.7 and 5.5.0.
        """
        refused = self._check_name(request.topic)
        if refused is not None:
            return refused
        config = self._core.find_topic(request.topic) or self._make_topic(request)
        if config is None:
            remark = f"topic[{request.topic}] not exist, apply first please!{self._core.see_faq()}"
            return refuse(ResponseCode.TOPIC_NOT_EXIST, remark)
        if request.queue_id >= max(config.write_queue_nums, config.read_queue_nums):
            shown = topics.shown(config, has_attributes=self._is_5)
            remark = f"request queueId[{request.queue_id}] is illegal, {shown} Producer: {call.caller}"
            return refuse(self._invalid, remark)
        return config

    def _check_name(self, topic: str) -> Refused | None:
        if not self._core.permission & WRITE and self._is_ordered(topic):
            return self._forbid()
        illegal = topics.why_illegal(topic)
        if illegal is not None:
            return refuse(self._invalid, illegal)
        if topic in topics.NO_SENDING:
            return refuse(ResponseCode.NO_PERMISSION, f"Sending message to topic[{topic}] is forbidden.")
        return None

    def _is_ordered(self, topic: str) -> bool:
        config = self._core.find_topic(topic)
        return config is not None and config.order

    @property
    def _invalid(self) -> ResponseCode:
        return ResponseCode.INVALID_PARAMETER if self._is_5 else ResponseCode.SYSTEM_ERROR

    def _forbid(self) -> Refused:
        remark = f"the broker[{self._core.host.ip}] sending message is forbidden"
        return refuse(ResponseCode.NO_PERMISSION, remark)

    def _make_topic(self, request: SendMessage) -> TopicConfig | None:
        default = self._core.find_topic(request.default_topic)
        config = topics.inherit(self._core.settings, request.topic, default, request.default_topic_queue_nums)
        if config is None and request.topic.startswith(RETRY_TOPIC_PREFIX):
            config = topics.make(self._core.settings, request.topic, 1)
        if config is not None:
            self._core.membership.put_topic(config)
        return config

    def _redirect_retry(self, call: Call, draft: Draft, request: SendMessage) -> Draft | Refused:
        """Take what a consumer sends to its retry topic once too often to the dead letters."""
        if not draft.topic.startswith(RETRY_TOPIC_PREFIX):
            return draft
        group = draft.topic[len(RETRY_TOPIC_PREFIX) :]
        config = self._core.membership.groups.find_or_create(group)
        if config is None:
            return self._refuse_group(group)
        limit = _limit(config, call, request.max_reconsume_times)
        is_spent = draft.reconsume_times > limit if self._is_5 else draft.reconsume_times >= limit
        is_orderly = self._is_5 and bool(self._core.membership.locks.held(group, call.at))
        if not (is_spent or is_orderly):
            return draft
        return self._as_dead_letter(draft, group)

    def _refuse_group(self, group: str) -> Refused:
        remark = f"subscription group not exist, {group} {self._core.see_faq()}"
        return refuse(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)

    def _as_dead_letter(self, draft: Draft, group: str) -> Draft:
        topic = topics.dead_letter_topic(group)
        self._ensure_topic(topic, 1)
        kept = {name: value for name, value in draft.properties.items() if name != DELAY}
        return replace(draft, topic=topic, queue_id=0, properties=kept)

    def _ensure_topic(self, topic: str, queues: int, *, is_unit: bool = False) -> TopicConfig:
        config = self._core.find_topic(topic)
        if config is None:
            config = topics.make(self._core.settings, topic, queues, is_unit_subscribed=is_unit)
            self._core.membership.put_topic(config)
        return config

    def _refuse_illegal(self) -> Refused:
        remark = (
            "the message is illegal, maybe msg body or properties length not matched. msg body length limit "
            f"{self._core.settings.max_message_bytes}B, msg properties length limit 32KB."
        )
        return refuse(ResponseCode.MESSAGE_ILLEGAL, remark)

    def _why_not(self, draft: Draft, at: int) -> Refused | None:
        if not self._is_legal(draft):
            return self._refuse_illegal()
        try:
            self._schedule.divert(draft, at)
        except IllegalTimer:
            remark = (
                f"timer message illegal, the delay time should not be bigger than the max delay {LONGEST_MS}ms; "
                "or if set del msg, the delay time should be bigger than the current time"
            )
            return refuse(ResponseCode.MESSAGE_ILLEGAL, remark)
        return None

    def _is_legal(self, draft: Draft) -> bool:
        return _fits(draft) and len(draft.body) <= self._core.settings.max_message_bytes

    # ---- storing ----

    def _put(self, draft: Draft, at: int) -> Kept | Refused:
        """Store a message where it says, now."""
        if not self._is_legal(draft):
            return self._refuse_illegal()
        try:
            kept = self._core.store.append(draft, at)
        except LocalProtocolError:
            return self._refuse_illegal()
        self._count(draft.topic, kept, at)
        return kept

    def store(self, draft: Draft, at: int) -> Kept | Refused:
        """Store a message now, or for later."""
        refused = self._why_not(draft, at)
        if refused is not None:
            return refused
        draft = self._schedule.divert(draft, at)
        kept = self._put(draft, at)
        if isinstance(kept, Refused):
            return kept
        if self._schedule.entered(draft, kept, at):
            self.wake()
        else:
            self._core.on_arrival(draft.topic, draft.queue_id, tag_code(draft.properties), at)
        return kept

    def _count(self, topic: str, kept: Kept, at: int) -> None:
        self._core.rates.add(PUT, topic, 1, at)
        self._core.rates.add(PUT_SIZE, topic, kept.size, at)
        self._core.rates.add(ALL_PUT, self._core.settings.cluster, 1, at)

    def wake(self) -> None:
        """Ask to be woken when the next delayed message is due."""
        due = self._schedule.next_due
        if due is not None and due != self._wakes_at:
            self._wakes_at = due
            self._core.outbox.append(WakeAt(at=due, timer=DUE))

    def woken(self, at: int) -> None:
        """Deliver what is due."""
        self._wakes_at = None
        for arrival in self._schedule.deliver(at):
            self._core.on_arrival(*arrival)
        self.wake()

    def _stored(self, draft: Draft, kept: tuple[Kept, ...], *, unique_id: str | None) -> SendMessageResponse:
        host = self._core.host
        return SendMessageResponse(
            msg_id=",".join(offset_id(host, one.position) for one in kept),
            queue_id=draft.queue_id,
            queue_offset=kept[0].offset,
            transaction_id=unique_id if self._is_5 else None,
            msg_region=REGION,
            trace_on=True,
        )

    # ---- messages that come back ----

    def _take_back(self, call: Call, request: ConsumerSendMsgBack) -> Response:
        config = self._core.membership.groups.find_or_create(request.group)
        if config is None:
            return self._refuse_group(request.group)
        if not self._core.permission & WRITE:
            return self._forbid()
        if config.retry_queue_nums <= 0:
            return Response()
        return self._keep_returned(call, request, config)

    def _keep_returned(self, call: Call, request: ConsumerSendMsgBack, config: SubscriptionGroupConfig) -> Response:
        topic = self._ensure_topic(retry_topic(request.group), config.retry_queue_nums, is_unit=request.unit_mode)
        if not topic.perm & WRITE:
            remark = f"the topic[{topic.topic_name}] sending message is forbidden"
            return refuse(ResponseCode.NO_PERMISSION, remark)
        message = self._core.store.message_at(request.offset)
        if message is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"look message by offset failed, {request.offset}")
        kept = self.store(self._returning(call, request, config, message), call.at)
        if isinstance(kept, Refused):
            return replace(kept, code=ResponseCode.SYSTEM_ERROR)
        back_to = decode_properties(message.property_text).get(RETRY_TOPIC, message.topic)
        self._core.rates.add(SENT_BACK, f"{back_to}@{request.group}", 1, call.at)
        return Response()

    def _returning(
        self, call: Call, request: ConsumerSendMsgBack, config: SubscriptionGroupConfig, message: StoredMessage
    ) -> Draft:
        properties = properties_of(message)
        properties.setdefault(RETRY_TOPIC, message.topic)
        properties.setdefault(ORIGIN_MESSAGE_ID, offset_id(self._core.host, message.commit_log_offset))
        properties["WAIT"] = "false"
        is_dead = (
            message.reconsume_times >= _limit(config, call, request.max_reconsume_times) or request.delay_level < 0
        )
        draft = replace(
            draft_of(message),
            topic=retry_topic(request.group),
            queue_id=self._luck.randrange(config.retry_queue_nums),
            properties=properties,
            reconsume_times=message.reconsume_times + 1,
        )
        if is_dead:
            return self._as_dead_letter(draft, request.group)
        level = request.delay_level or FIRST_RETRY_LEVEL + message.reconsume_times
        return replace(draft, properties={**properties, DELAY: str(level)})


def _limit(config: SubscriptionGroupConfig, call: Call, own: int | None) -> int:
    honours = call.version >= HONOURS_OWN_LIMIT and own is not None
    return own if honours and own is not None else config.retry_max_times


def _fits(draft: Draft) -> bool:
    """Say whether the numbers that a producer chose fit their places in a stored message."""
    numbers = draft.queue_id, draft.flag, draft.sys_flag, draft.reconsume_times
    return all(number in INT32 for number in numbers) and draft.born_timestamp in INT64
