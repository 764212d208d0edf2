"""How groups get the messages of topics, by PULL or by POP, as an operator set it on one broker; it outlives restarts.

Source: ``broker/.../loadbalance/MessageRequestModeManager.java``,
``broker/.../processor/QueryAssignmentProcessor.java`` (``queryAssignment``, ``setMessageRequestMode``).
"""

from __future__ import annotations

from rebalance_engine.membership.configs import GroupConfigs, TopicConfigs
from rebalance_engine.membership.profiles import Policy
from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.remoting.bodies.settings import (
    MessageRequestMode,
    MessageRequestModeSerializeWrapper,
    SetMessageRequestModeRequestBody,
)
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused, Response


class RequestModes:
    """Topic -> group -> what was set; what was not set is the broker's default."""

    def __init__(self, policy: Policy, kept: MessageRequestModeSerializeWrapper | None = None) -> None:
        self._policy = policy
        rows = kept.message_request_mode_map if kept else {}
        self._modes = {topic: dict(groups) for topic, groups in rows.items()}

    def mode_of(self, topic: str, group: str) -> SetMessageRequestModeRequestBody:
        """Say how a group gets a topic; a retry topic never set comes by PULL, whatever the default is."""
        known = self._modes.get(topic, {}).get(group)
        if known is not None:
            return known
        settings = self._policy.settings
        if topic.startswith(RETRY_TOPIC_PREFIX) or settings.default_request_mode is MessageRequestMode.PULL:
            return SetMessageRequestModeRequestBody(topic=topic, consumer_group=group)
        return SetMessageRequestModeRequestBody(
            topic=topic,
            consumer_group=group,
            mode=settings.default_request_mode,
            pop_share_queue_num=settings.default_pop_share_queue_num,
        )

    def set(self, body: SetMessageRequestModeRequestBody, groups: GroupConfigs, topics: TopicConfigs) -> Response:
        """Answer request 401; from 5.3.3 on the topic and the group have to be there, or to be creatable."""
        if body.topic.startswith(RETRY_TOPIC_PREFIX):
            return Refused(code=ResponseCode.NO_PERMISSION, remark="retry topic is not allowed to set mode")
        if self._policy.rules.checks_request_modes:
            if topics.find(body.topic) is None:
                return Refused(code=ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{body.topic}] not exist")
            if groups.find_or_create(body.consumer_group) is None:
                remark = "subscription group does not exist"
                return Refused(code=ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
        self._modes.setdefault(body.topic, {})[body.consumer_group] = body
        return Response()

    def all(self) -> MessageRequestModeSerializeWrapper:
        """Give all that was set, as request 402 answers it and the disk keeps it."""
        rows = {topic: dict(groups) for topic, groups in self._modes.items()}
        return MessageRequestModeSerializeWrapper(message_request_mode_map=rows)
