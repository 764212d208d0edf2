"""A name server: brokers register their topics, clients ask for routes.

Source: ``namesrv/.../routeinfo/RouteInfoManager.java``. A broker whose connection closes is forgotten at once, a silent
one after two minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from rebalance_engine.effects import Address, Channel, Closed, Heard, Received, Respond
from rebalance_engine.remoting.bodies.routes import BrokerData, QueueData, TopicRouteData
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.nameserver import (
    GetRouteInfoByTopic,
    GetRouteInfoByTopicResponse,
    RegisterBroker,
    RegisterBrokerResponse,
)
from rebalance_engine.remoting.tags import java_hash
from rebalance_engine.simulation.process import Place, Process

ADDRESS = "10.0.0.1:9876"
BROKER_EXPIRES = 120_000  # ms; ``brokerExpiredTime``


@dataclass(frozen=True, slots=True)
class _Registered:
    address: Address
    channel: Channel
    at: int
    topics: Mapping[str, TopicConfig]


class NameServer(Process):
    """The one name server of a cluster."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._brokers: dict[str, _Registered] = {}

    def react(self, heard: Heard, at: int) -> Iterable[object]:
        """Answer, or forget a broker whose connection closed."""
        if isinstance(heard, Closed):
            lost = [name for name, broker in self._brokers.items() if broker.channel == heard.channel]
            for name in lost:
                del self._brokers[name]
        elif isinstance(heard, Received) and heard.token is not None:
            response = self._answer(heard.channel, heard.request, at)
            return (Respond(channel=heard.channel, token=heard.token, response=response),)
        return ()

    def _answer(self, channel: Channel, request: object, at: int) -> Response:
        if isinstance(request, GetRouteInfoByTopic):
            route = self.route(request.topic, at)
            if route.broker_datas:
                return GetRouteInfoByTopicResponse(body=route)
            return Refused(code=ResponseCode.TOPIC_NOT_EXIST, remark=f"No topic route info for {request.topic}")
        if isinstance(request, RegisterBroker) and request.body is not None:
            topics = request.body.topic_config_serialize_wrapper.topic_config_table
            self._brokers[request.broker_name] = _Registered(request.broker_addr, channel, at, topics)
            return RegisterBrokerResponse()
        return Refused(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=f"{type(request).__name__} is not known")

    def route(self, topic: str, at: int) -> TopicRouteData:
        """Say where a topic is; nowhere, if no broker has it."""
        found = [
            (name, broker, broker.topics[topic])
            for name, broker in sorted(
                self._brokers.items(), key=lambda item: place_in_java(item[0], len(self._brokers))
            )
            if topic in broker.topics and at - broker.at <= BROKER_EXPIRES
        ]
        return TopicRouteData(
            queue_datas=tuple(_queue_data(name, config) for name, _, config in found),
            broker_datas=tuple(
                BrokerData(cluster="simulated", broker_name=name, broker_addrs={0: broker.address})
                for name, broker, _ in found
            ),
        )

    def check(self) -> None:
        """Nothing here can break."""


@cache
def place_in_java(name: str, of: int) -> tuple[int, str]:
    """Give where a Java ``HashMap`` of so many names has one: the order in which routes name brokers.

    It matters, as clients beat to one broker after the other in it: the retry topic is at the first of them before it
    is at the next, and who asks for its route between has half of it.
    """
    size = 16
    while of > size * 3 // 4:
        size *= 2
    code = java_hash(name) & 0xFFFFFFFF
    return (code ^ code >> 16) & (size - 1), name


def _queue_data(broker: str, config: TopicConfig) -> QueueData:
    return QueueData(
        broker_name=broker,
        read_queue_nums=config.read_queue_nums,
        write_queue_nums=config.write_queue_nums,
        perm=config.perm,
    )
