"""Dividing queues for clients that leave it to the broker: where the computation gets its view of the routes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalance_engine import assignment
from rebalance_engine.embedded.core import Call, Core
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.routes import TopicRouteData
from rebalance_engine.remoting.requests.consuming import QueryAssignment
from rebalance_engine.remoting.requests.contract import Response

RouteOf = Callable[[str], TopicRouteData | None]


class Assignment:
    """The room of clients that do not divide queues themselves.

    Args:
        core: of the broker.
        route_of: asks the name server where a topic is; at once, where Java looks at it every 30 s.
    """

    def __init__(self, core: Core, route_of: RouteOf) -> None:
        self._core = core
        self._route_of = route_of
        self.serves: Mapping[type, Callable[[Call, Any], Response]] = {QueryAssignment: self._assign}

    def _assign(self, _: Call, request: QueryAssignment) -> Response:
        return assignment.answer(self._core.membership, request, self._queues(request.body.topic))

    def _queues(self, topic: str) -> list[MessageQueue] | None:
        route = self._route_of(topic)
        if route is None:
            return None
        return [
            MessageQueue(topic, data.broker_name, queue_id)
            for data in route.queue_datas
            if data.is_readable
            for queue_id in range(data.read_queue_nums)
        ]
