"""Which queues a producer may send to: the list that is made of a route, and what goes with it.

Sources: ``client/.../impl/producer/TopicPublishInfo.java``; ``client/.../impl/factory/MQClientInstance.java``
(``topicRouteData2TopicPublishInfo``, ``updateTopicRouteInfoFromNameServer``); ``src/MQClientFactory.cpp``;
``internal/route.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from rebalance_engine.model import MessageQueue, Order
from rebalance_engine.producer.index import Index
from rebalance_engine.producer.profiles import Profile
from rebalance_engine.remoting.bodies.routes import BrokerData, QueueData, TopicRouteData
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.static_topics import static_endpoints

_CPP_DEFAULT_QUEUES = 4  # C++ knows no setting for it


class BadRoute(Exception):
    """A route's order configuration that the client cannot read either; Java's update fails with an exception."""


class PublishInfo:
    """What a producer knows of one topic (``TopicPublishInfo``).

    Attributes:
        queues: where to send. One list for all threads; up to 5.1.3 the selection rewrites elements of it.
        is_ordered: made from an order configuration.
        route: what it was made from; None before the first answer.
        index: the round robin; a new publish info has a new one.
        endpoints: static topics only: logical queue -> name of the broker that hosts it.
        made_at: when, in ms.
        parked_until: C++ in active mode only: queue -> until when it is out of service, in ms.
    """

    def __init__(self, topic: str, index: Index, route: TopicRouteData | None = None, *, made_at: int = 0) -> None:
        self.topic = topic
        self.index = index
        self.route = route
        self.queues: list[MessageQueue] = []
        self.is_ordered = False
        self.endpoints: Mapping[MessageQueue, str] = {}
        self.made_at = made_at
        self.parked_until: dict[MessageQueue, int] = {}

    @classmethod
    def from_route(cls, topic: str, route: TopicRouteData, index: Index, profile: Profile, at: int) -> PublishInfo:
        """Make it from a route that came now.

        Raises:
            BadRoute: the order configuration is malformed.
        """
        info = cls(topic, index, route, made_at=at)
        info.is_ordered = bool(route.order_topic_conf)
        info.endpoints = static_endpoints(topic, route) if profile.knows_static_topics else {}
        info.queues = publish_list(topic, route, profile)
        return info

    @property
    def has_queues(self) -> bool:
        """Whether a queue can be chosen (``ok()``)."""
        return bool(self.queues)

    @property
    def is_known(self) -> bool:
        """Whether a route came, or queues are there all the same."""
        return self.route is not None or self.has_queues

    def broker_of(self, queue: MessageQueue) -> str | None:
        """Say which broker to send to; a logical queue lives where the mapping says, or nowhere."""
        return self.endpoints.get(queue) if self.endpoints else queue.broker

    def write_queues(self, broker: str | None) -> int:
        """Say how many queues the route gives a broker, writable or not; -1 for one that it does not name."""
        datas = self.route.queue_datas if self.route else ()
        return next((data.write_queue_nums for data in datas if data.broker_name == broker), -1)


def publish_list(topic: str, route: TopicRouteData, profile: Profile) -> list[MessageQueue]:
    """List the queues of a route: of an order topic, of a static topic, or of every broker that takes messages.

    Raises:
        BadRoute: the order configuration is malformed.
    """
    if route.order_topic_conf:
        return _ordered(topic, route.order_topic_conf, profile)
    if profile.knows_static_topics and route.order_topic_conf is None and route.topic_queue_mapping_by_broker:
        return sorted(static_endpoints(topic, route), key=lambda queue: queue.queue_id)
    return [queue for data in _in_order(route, profile) for queue in _of_broker(topic, data, route)]


def _ordered(topic: str, configuration: str, profile: Profile) -> list[MessageQueue]:
    entries = [entry.split(":") for entry in configuration.rstrip(";").split(";")]
    return [
        MessageQueue(topic, entry[0], queue_id)
        for entry in entries
        for queue_id in range(_count(entry, configuration, profile))
    ]


def _count(entry: list[str], configuration: str, profile: Profile) -> int:
    text = entry[1] if len(entry) > 1 else ""
    if re.fullmatch(r"[+-]?\d{1,9}", text):
        return int(text)
    if profile.language is Language.CPP:  # ``atoi`` reads as far as it can
        leading = re.match(r"\s*([+-]?\d{1,9})", text)
        return int(leading[1]) if leading else 0
    if profile.language is Language.GO and len(entry) > 1:
        return 0
    raise BadRoute(f"the order configuration is {configuration[:100]!r}; needed is brokerA:4;brokerB:4")


def _in_order(route: TopicRouteData, profile: Profile) -> list[QueueData]:
    if profile.language is Language.CPP:
        return list(route.queue_datas)
    order = Order.JAVA if profile.language is Language.JAVA else Order.BYTES
    key = order.key([data.broker_name for data in route.queue_datas])
    return sorted(route.queue_datas, key=lambda data: key(data.broker_name))


def _of_broker(topic: str, data: QueueData, route: TopicRouteData) -> Iterable[MessageQueue]:
    if not (data.is_writable and _master_of(data.broker_name, route.broker_datas)):
        return ()
    return (MessageQueue(topic, data.broker_name, queue_id) for queue_id in range(data.write_queue_nums))


def _master_of(name: str, brokers: Iterable[BrokerData]) -> str | None:
    broker = next((broker for broker in brokers if broker.broker_name == name), None)
    return broker.master_address if broker else None


def narrowed(route: TopicRouteData, profile: Profile, default_queues: int) -> TopicRouteData:
    """Make the route of an unknown topic from that of the default topic: fewer queues, on the same brokers."""
    return replace(route, queue_datas=tuple(_narrowed(data, profile, default_queues) for data in route.queue_datas))


def _narrowed(data: QueueData, profile: Profile, default_queues: int) -> QueueData:
    if profile.language is Language.GO and data.read_queue_nums <= default_queues:
        return data  # Go leaves the write queues as they are
    most = _CPP_DEFAULT_QUEUES if profile.language is Language.CPP else default_queues
    count = min(most, data.read_queue_nums)
    return replace(data, read_queue_nums=count, write_queue_nums=count)


def differs(one: TopicRouteData, other: TopicRouteData | None) -> bool:
    """Compare two routes whatever the order of their parts (``topicRouteDataChanged``)."""
    return other is None or _sorted(one) != _sorted(other)


def _sorted(route: TopicRouteData) -> TopicRouteData:
    return replace(
        route,
        queue_datas=tuple(sorted(route.queue_datas, key=lambda data: data.broker_name)),
        broker_datas=tuple(sorted(route.broker_datas, key=lambda data: data.broker_name)),
    )
