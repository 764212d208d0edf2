"""Dividing queues for clients that leave it to the broker (5.x, ``clientRebalance=false``).

Sources: ``broker/.../processor/QueryAssignmentProcessor.java``,
``broker/.../loadbalance/MessageRequestModeManager.java``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rebalance_engine.allocation import strategy
from rebalance_engine.allocation.contract import Strategy
from rebalance_engine.embedded.core import Call, Core, refuse
from rebalance_engine.model import RETRY_TOPIC_PREFIX, MessageModel, MessageQueue, Order, sort_queues
from rebalance_engine.remoting.bodies.queues import (
    MessageQueueAssignment,
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
)
from rebalance_engine.remoting.bodies.routes import TopicRouteData
from rebalance_engine.remoting.bodies.settings import (
    MessageRequestMode,
    MessageRequestModeSerializeWrapper,
    SetMessageRequestModeRequestBody,
)
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.brokers import GetAllMessageRequestMode, GetAllMessageRequestModeResponse
from rebalance_engine.remoting.requests.changes import SetMessageRequestMode
from rebalance_engine.remoting.requests.consuming import QueryAssignment, QueryAssignmentResponse
from rebalance_engine.remoting.requests.contract import Response

ANY_QUEUE = -1
STRATEGIES = ("AVG", "AVG_BY_CIRCLE")  # all that a broker knows
RouteOf = Callable[[str], TopicRouteData | None]
Modes = Mapping[str, Mapping[str, SetMessageRequestModeRequestBody]]


class Assignment:
    """The room of clients that do not divide queues themselves.

    Args:
        core: of the broker.
        route_of: asks the name server where a topic is.
        modes: topic -> group -> how it gets its messages, as kept.
        keep: keeps them.
    """

    def __init__(
        self, core: Core, route_of: RouteOf, modes: Modes, keep: Callable[[MessageRequestModeSerializeWrapper], None]
    ) -> None:
        self._core = core
        self._route_of = route_of
        self._modes = {topic: dict(groups) for topic, groups in modes.items()}
        self._keep = keep
        self.serves: Mapping[type, Callable[[Call, Any], Response]] = {}
        if core.settings.is_since((5, 0, 0)):
            self.serves = {
                QueryAssignment: self._assign,
                SetMessageRequestMode: self._set_mode,
                GetAllMessageRequestMode: self._list_modes,
            }

    # ---- assignments ----

    def _assign(self, _: Call, request: QueryAssignment) -> Response:
        asked = request.body
        mode = self._mode_of(asked.topic, asked.consumer_group)
        queues = self._queues_for(asked, mode)
        if queues is None:  # invalid: the client keeps what it has
            return QueryAssignmentResponse(body=QueryAssignmentResponseBody())
        assignments = tuple(
            MessageQueueAssignment(message_queue=queue, mode=mode.mode) for queue in dict.fromkeys(queues)
        )
        return QueryAssignmentResponse(body=QueryAssignmentResponseBody(message_queue_assignments=assignments))

    def _mode_of(self, topic: str, group: str) -> SetMessageRequestModeRequestBody:
        known = self._modes.get(topic, {}).get(group)
        return known or SetMessageRequestModeRequestBody(topic=topic, consumer_group=group)

    def _queues_for(
        self, asked: QueryAssignmentRequestBody, mode: SetMessageRequestModeRequestBody
    ) -> list[MessageQueue] | None:
        queues = self._readable(asked.topic)
        if queues is None or asked.message_model is MessageModel.BROADCASTING:
            return queues
        clients = Order.JAVA.sort(self._core.membership.registry.clients(asked.consumer_group))
        if not clients or asked.strategy_name not in STRATEGIES:
            return None
        chosen = strategy(asked.strategy_name)
        if mode.mode is MessageRequestMode.POP:
            return share(chosen, asked.client_id, queues, clients, mode.pop_share_queue_num)
        return _member(chosen, asked.client_id, queues, clients)

    def _readable(self, topic: str) -> list[MessageQueue] | None:
        route = self._route_of(topic)
        if route is None:
            return None
        queues = [
            MessageQueue(topic, data.broker_name, queue_id)
            for data in route.queue_datas
            if data.is_readable
            for queue_id in range(data.read_queue_nums)
        ]
        return sort_queues(queues, Order.JAVA)

    # ---- modes ----

    def _set_mode(self, _: Call, request: SetMessageRequestMode) -> Response:
        asked = request.body
        if asked.topic.startswith(RETRY_TOPIC_PREFIX):
            return refuse(ResponseCode.NO_PERMISSION, "retry topic is not allowed to set mode")
        if self._core.find_topic(asked.topic) is None:
            return refuse(ResponseCode.TOPIC_NOT_EXIST, f"topic[{asked.topic}] not exist")
        if self._core.membership.groups.find_or_create(asked.consumer_group) is None:
            return refuse(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, "subscription group does not exist")
        self._modes.setdefault(asked.topic, {})[asked.consumer_group] = asked
        self._keep(self._all())
        return Response()

    def _list_modes(self, _: Call, __: GetAllMessageRequestMode) -> Response:
        return GetAllMessageRequestModeResponse(body=self._all())

    def _all(self) -> MessageRequestModeSerializeWrapper:
        return MessageRequestModeSerializeWrapper(message_request_mode_map=self._modes)


def share(
    chosen: Strategy, client: str, queues: Sequence[MessageQueue], clients: Sequence[str], count: int
) -> list[MessageQueue]:
    """Give one client's share in POP mode (``allocate4Pop``).

    With a count of 0, or one that makes everybody share with everybody, it is all brokers, each as "any queue".
    Otherwise it is the client's own share and those of so many clients after it.
    """
    if count <= 0 or count >= len(clients) - 1:
        return list(dict.fromkeys(MessageQueue(queue.topic, queue.broker, ANY_QUEUE) for queue in queues))
    if client not in clients:
        return []
    at = clients.index(client)
    if len(clients) > len(queues):
        return [queues[at % len(queues)]] if queues else []
    sharing = [clients[(at + step) % len(clients)] for step in range(count + 1)]
    return [queue for one in sharing for queue in _member(chosen, one, queues, clients)]


def _member(
    chosen: Strategy, client: str, queues: Sequence[MessageQueue], clients: Sequence[str]
) -> list[MessageQueue]:
    assert chosen.member is not None, f"{chosen.name} cannot be computed for one client"
    return (chosen.member(client, queues, clients) or []) if queues else []
