"""Looking for messages, and waiting for them.

A pull that finds nothing waits, if it may, until a message arrives that it wants, or until its time is over; the latter
is looked at every five seconds, so the answer may come as much later.

Sources: ``broker/.../processor/PullMessageProcessor.java``, ``DefaultPullMessageResultHandler.java``,
``broker/.../longpolling/PullRequestHoldService.java``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rebalance_engine.effects import Channel, Respond
from rebalance_engine.embedded.core import ALL_GOT, GOT, GOT_SIZE, Call, Core, refuse
from rebalance_engine.embedded.store import MOST_BYTES_SENT, Found, IsWanted, Queue, Status
from rebalance_engine.membership.checks import PullTerms
from rebalance_engine.membership.configs import READ
from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL, SubscriptionData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import LitePullMessage, PullMessage, PullMessageResponse
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.sysflags import PullFlag

MOST_WAITING = 4_096  # pulls of one channel: a client has one for each queue that it holds

CODES: Mapping[Status, ResponseCode] = {
    Status.FOUND: ResponseCode.SUCCESS,
    Status.NO_MATCHED_MESSAGE: ResponseCode.PULL_RETRY_IMMEDIATELY,
    Status.MESSAGE_WAS_REMOVING: ResponseCode.PULL_RETRY_IMMEDIATELY,
    Status.NO_MESSAGE_IN_QUEUE: ResponseCode.PULL_NOT_FOUND,
    Status.OFFSET_OVERFLOW_ONE: ResponseCode.PULL_NOT_FOUND,
    Status.OFFSET_OVERFLOW_BADLY: ResponseCode.PULL_OFFSET_MOVED,
    Status.OFFSET_TOO_SMALL: ResponseCode.PULL_OFFSET_MOVED,
    Status.OFFSET_RESET: ResponseCode.PULL_OFFSET_MOVED,
}


@dataclass(slots=True, eq=False)
class Waiting:
    """A pull that waits; ``until`` is in ms."""

    call: Call
    pull: PullMessage
    until: int


class Pulling:
    """The room of whoever wants messages."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._waiting: dict[Queue, list[Waiting]] = {}
        self._by_channel: dict[Channel, int] = {}
        serves: dict[type, Callable[[Call, Any], Response | None]] = {PullMessage: self._pull}
        if core.settings.is_since((5, 0, 0)):
            serves[LitePullMessage] = self._pull
        self.serves: Mapping[type, Callable[[Call, Any], Response | None]] = serves

    @property
    def waiting(self) -> int:
        """How many pulls wait."""
        return sum(map(len, self._waiting.values()))

    def _pull(self, call: Call, pull: PullMessage) -> Response | None:
        answer = self._look(call, pull, commits=True)
        is_empty = answer.code == ResponseCode.PULL_NOT_FOUND and isinstance(answer, PullMessageResponse)
        if not (is_empty and pull.sys_flag & PullFlag.SUSPEND) or call.token is None:
            return answer
        if self._by_channel.get(call.channel, 0) >= MOST_WAITING:
            remark = f"[OVERLOAD]{MOST_WAITING} pulls of this channel wait already"
            return refuse(ResponseCode.SYSTEM_BUSY, remark)
        until = call.at + max(0, pull.suspend_timeout_millis)
        self._waiting.setdefault((pull.topic, pull.queue_id), []).append(Waiting(call, pull, until))
        self._by_channel[call.channel] = self._by_channel.get(call.channel, 0) + 1
        return None

    # ---- looking ----

    def _look(self, call: Call, pull: PullMessage, *, commits: bool) -> Response:
        if not self._core.permission & READ:
            remark = f"the broker[{self._core.host.ip}] pulling message is forbidden"
            fields = {"forbiddenType": "1"} if self._core.settings.is_since((5, 0, 0)) else {}
            return Refused(code=ResponseCode.NO_PERMISSION, remark=remark, ext_fields=fields)
        membership = self._core.membership
        terms = membership.check_pull(call.channel, pull, call.at)
        if isinstance(terms, Refused):
            return terms
        found = self._reset(pull) or self._core.store.fetch(
            pull.topic,
            pull.queue_id,
            pull.queue_offset,
            pull.max_msg_nums,
            max_bytes=MOST_BYTES_SENT if pull.max_msg_bytes is None else max(100, pull.max_msg_bytes),
            is_wanted=filter_of(terms.subscription),
        )
        membership.note_pulled(pull, found.following)
        if commits:
            self._core.outbox.extend(membership.commit_with_pull(call.channel, pull, call.at))
        self._count(pull, found, call.at)
        return self._answer(pull, found, terms)

    def _reset(self, pull: PullMessage) -> Found | None:
        offset = self._core.membership.take_reset(pull)
        if offset is None:
            return None
        store, queue = self._core.store, (pull.topic, pull.queue_id)
        return Found(status=Status.OFFSET_RESET, following=offset, begin=store.begin(*queue), end=store.end(*queue))

    def _count(self, pull: PullMessage, found: Found, at: int) -> None:
        if found.count:
            key = f"{pull.topic}@{pull.consumer_group}"
            self._core.rates.add(GOT, key, found.count, at)
            self._core.rates.add(GOT_SIZE, key, len(found.data), at)
            self._core.rates.add(ALL_GOT, self._core.settings.cluster, found.count, at)

    def _answer(self, pull: PullMessage, found: Found, terms: PullTerms) -> PullMessageResponse:
        code = CODES[found.status]
        if found.status is Status.NO_MESSAGE_IN_QUEUE and pull.queue_offset != 0:
            code = ResponseCode.PULL_OFFSET_MOVED
        has_flags = self._core.settings.is_since((5, 0, 0))
        return PullMessageResponse(
            code=code,
            remark=found.status.value,
            suggest_which_broker_id=0,
            next_begin_offset=found.following,
            min_offset=found.begin,
            max_offset=found.end,
            topic_sys_flag=terms.topic.topic_sys_flag if has_flags else None,
            group_sys_flag=terms.group.group_sys_flag if has_flags else None,
            body=found.data,
        )

    # ---- waiting ----

    def arrived(self, topic: str, queue_id: int, tag_code: int, at: int) -> None:
        """Answer the pulls that want a message that has just come."""
        waiting = self._waiting.get((topic, queue_id))
        if not waiting:
            return
        staying = [one for one in waiting if not self._is_wanted(one.pull, tag_code)]
        self._keep((topic, queue_id), staying)
        for one in waiting:
            if one not in staying:
                self._answer_late(one, at)

    def _is_wanted(self, pull: PullMessage, tag_code: int) -> bool:
        registry = self._core.membership.registry
        subscription = registry.find_subscription(pull.consumer_group, pull.topic)
        is_wanted = filter_of(subscription) if subscription else None
        return is_wanted is None or is_wanted(tag_code)

    def _answer_late(self, one: Waiting, at: int) -> None:
        self._forget_one(one.call.channel)
        if one.call.token is not None and one.call.channel in self._core.membership.channels:
            late = replace(one.call, at=at)
            response = self._look(late, one.pull, commits=False)
            self._core.outbox.append(Respond(channel=late.channel, token=one.call.token, response=response))

    def scan(self, at: int) -> None:
        """Answer the pulls whose time is over, and those that missed a message."""
        for (topic, queue_id), waiting in tuple(self._waiting.items()):
            end = self._core.store.end(topic, queue_id)
            over = [one for one in waiting if at >= one.until or end > one.pull.queue_offset]
            if over:
                self._keep((topic, queue_id), [one for one in waiting if one not in over])
                for one in over:
                    self._answer_late(one, at)

    def closed(self, channel: Channel) -> None:
        """Forget the pulls of a channel."""
        if self._by_channel.pop(channel, 0):
            for queue, waiting in tuple(self._waiting.items()):
                self._keep(queue, [one for one in waiting if one.call.channel != channel])

    def _keep(self, queue: Queue, waiting: list[Waiting]) -> None:
        if waiting:
            self._waiting[queue] = waiting
        else:
            self._waiting.pop(queue, None)

    def _forget_one(self, channel: Channel) -> None:
        left = self._by_channel.get(channel, 0) - 1
        if left > 0:
            self._by_channel[channel] = left
        else:
            self._by_channel.pop(channel, None)


def filter_of(subscription: SubscriptionData) -> IsWanted | None:
    """Say how a subscription filters by the hash of a tag; None if it wants everything.

    Source: ``broker/.../filter/ExpressionMessageFilter.java`` (``isMatchedByConsumeQueue``).
    """
    if subscription.class_filter_mode or subscription.sub_string == SUBSCRIBE_ALL:
        return None
    return frozenset(subscription.code_set).__contains__
