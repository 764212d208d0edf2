"""Static topics: logical queues that keep their numbers while brokers come and go (5.0.0 and later).

A logical queue has the name of no broker, such as ``__syslo__global__``; by that it is sorted, divided and sent to. A
route says which broker hosts each one now.

Sources: ``remoting/.../rpc/ClientMetadata.java`` (``topicRouteData2EndpointsForStaticTopic``),
``remoting/.../protocol/statictopic/TopicQueueMappingUtils.java`` (``getMockBrokerName``), ``common/.../MixAll.java``.
"""

from __future__ import annotations

from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.routes import TopicQueueMappingInfo, TopicRouteData

LOGICAL_PREFIX = "__syslo__"  # of the broker names that stand for logical queues
NOT_HOSTED = "__syslo__none__"
GLOBAL_SCOPE = "__global__"  # Java's default where none is given; fastjson never writes a null


def static_endpoints(topic: str, route: TopicRouteData) -> dict[MessageQueue, str]:
    """Say which broker hosts each logical queue of a static topic; of two that claim it the later epoch holds.

    Empty for any other topic. A queue that nobody hosts is there too, at ``NOT_HOSTED``.
    """
    by_scope: dict[str, list[TopicQueueMappingInfo]] = {}
    for mapping in (route.topic_queue_mapping_by_broker or {}).values():
        by_scope.setdefault(mapping.scope or GLOBAL_SCOPE, []).append(mapping)
    return {
        queue: host
        for scope, mappings in by_scope.items()
        for queue, host in _endpoints(topic, scope, mappings).items()
    }


def _endpoints(topic: str, scope: str, mappings: list[TopicQueueMappingInfo]) -> dict[MessageQueue, str]:
    total = max(mapping.total_queues for mapping in mappings)
    hosts: dict[int, str] = {}
    for mapping in sorted(mappings, key=lambda mapping: mapping.epoch):
        hosts.update(dict.fromkeys(mapping.curr_id_map, mapping.bname or NOT_HOSTED))
    broker = logical_broker(scope)
    return {MessageQueue(topic, broker, number): hosts.get(number, NOT_HOSTED) for number in range(total)}


def logical_broker(scope: str) -> str:
    """Name the broker that stands for all of a scope: ``__syslo__global__``, else ``__syslo__`` and the scope."""
    return LOGICAL_PREFIX + (scope.removeprefix("__") if scope == GLOBAL_SCOPE else scope)
