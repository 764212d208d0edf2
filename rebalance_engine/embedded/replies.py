"""Replies: what a consumer answers to a message goes to the very client that sent it, while that one waits.

A reply is a message of the cluster's reply topic. It is stored as any other and handed to whom its properties name; its
sender hears what became of that.

Source: ``broker/.../processor/ReplyMessageProcessor.java``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalance_engine.effects import Answered, Channel, Unanswered
from rebalance_engine.embedded.core import Call, Core, refuse
from rebalance_engine.embedded.relay import TIMEOUT_MS, Relay
from rebalance_engine.embedded.sending import Sending
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.properties import decode_properties, encode_properties
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.producing import (
    PushReplyMessageToClient,
    SendMessage,
    SendMessageResponse,
    SendReplyMessage,
    SendReplyMessageV2,
)

REPLY_TO, PUSHED_AT = "REPLY_TO_CLIENT", "PUSH_REPLY_TIME"


class Replies:
    """The room of whoever replies.

    Args:
        core: of the broker.
        sending: stores the replies.
        relay: asks the clients that wait for them.
    """

    def __init__(self, core: Core, sending: Sending, relay: Relay) -> None:
        self._core = core
        self._sending = sending
        self._relay = relay
        self.serves: Mapping[type, Callable[[Call, Any], Response | None]] = {
            SendReplyMessage: self._reply,
            SendReplyMessageV2: self._reply,
        }

    def _reply(self, call: Call, request: SendMessage) -> Response | None:
        checked = self._sending.check(call, request)
        if isinstance(checked, Refused):
            return checked
        stored = self._sending.accept(call, request)
        if not isinstance(stored, SendMessageResponse):  # Java logs it, and replies all the same
            stored = SendMessageResponse(msg_id="0", queue_id=max(0, request.queue_id), queue_offset=0)
        client = decode_properties(request.properties or "").get(REPLY_TO)
        if client is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"reply message properties[{REPLY_TO}] is null")
        channel = self._find(client)
        if channel is None:
            remark = f"push reply message fail, channel of <{client}> not found."
            return refuse(ResponseCode.SYSTEM_ERROR, remark)
        if self._relay.is_full:
            return self._relay.refuse_full()
        self._push(call, request, channel, (client, stored))
        return None

    def _find(self, client: str) -> Channel | None:
        producers = self._core.membership.producers
        for group in producers.members():
            for presence in producers.find(group) or ():
                if presence.client == client:
                    return presence.peer.channel
        return None

    def _push(self, call: Call, request: SendMessage, channel: Channel, told: tuple[str, SendMessageResponse]) -> None:
        client, stored = told

        def finish(answer: Answered | Unanswered) -> None:
            command = answer.response if isinstance(answer, Answered) else None
            is_there = isinstance(command, Command) and command.code == ResponseCode.SUCCESS
            words = f"push reply message to {client}fail."  # Java has no space there either
            self._relay.respond(call, stored if is_there else refuse(ResponseCode.SYSTEM_ERROR, words))

        self._relay.ask(channel, self._pushed(call, request), TIMEOUT_MS, finish, unread=True)

    def _pushed(self, call: Call, request: SendMessage) -> PushReplyMessageToClient:
        properties = {**decode_properties(request.properties or ""), PUSHED_AT: str(call.at)}
        return PushReplyMessageToClient(
            producer_group=request.producer_group,
            topic=request.topic,
            default_topic=request.default_topic,
            default_topic_queue_nums=request.default_topic_queue_nums,
            queue_id=request.queue_id,
            sys_flag=request.sys_flag,
            born_timestamp=request.born_timestamp,
            flag=request.flag,
            properties=encode_properties(properties),
            reconsume_times=request.reconsume_times,
            unit_mode=request.unit_mode,
            born_host=call.caller,
            store_host=self._core.settings.membership.address,
            store_timestamp=call.at,
            body=request.body,
        )
