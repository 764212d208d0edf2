"""What an application may set on a producer. The defaults are RocketMQ's; each has its Java name beside it."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.effects import Address
from rebalance_engine.remoting.requests.producing import DEFAULT_TOPIC


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One producer's settings; what is None is the profile's.

    Attributes:
        group: ``producerGroup``.
        client: the client id, as facts name it.
        name_servers: ``namesrvAddr``.
        send_timeout_ms: ``sendMsgTimeout``.
        timeout_per_request_ms: ``sendMsgMaxTimeoutPerRequest`` (5.3.3 and later); None is Java's -1.
        retries: ``retryTimesWhenSendFailed``; in C++ ``retryTimes`` less one; in Go ``RetryTimes``.
        async_retries: ``retryTimesWhenSendAsyncFailed``; in C++ ``retryTimes4Async`` less one.
        retries_when_not_stored: ``retryAnotherBrokerWhenNotStoreOK``.
        avoids_faults: ``sendLatencyFaultEnable``; in C++ the active mode.
        latency_max_ms: ``latencyMax``.
        not_available_ms: ``notAvailableDuration``.
        detects: ``startDetectorEnable`` (5.1.4 and later).
        detect_interval_ms: ``detectInterval``.
        detect_timeout_ms: ``detectTimeout``.
        default_topic: ``createTopicKey``.
        default_topic_queues: ``defaultTopicQueueNums``.
        uses_vip_channel: ``sendMessageWithVIPChannel``: the port two below.
        route_every_ms: ``pollNameServerInterval``.
    """

    group: str
    client: str
    name_servers: tuple[Address, ...] = ()
    send_timeout_ms: int = 3_000
    timeout_per_request_ms: int | None = None
    retries: int | None = None
    async_retries: int | None = None
    retries_when_not_stored: bool = False
    avoids_faults: bool = False
    latency_max_ms: tuple[int, ...] | None = None
    not_available_ms: tuple[int, ...] | None = None
    detects: bool = False
    detect_interval_ms: int = 2_000
    detect_timeout_ms: int = 200
    default_topic: str = DEFAULT_TOPIC
    default_topic_queues: int = 4
    uses_vip_channel: bool = False
    route_every_ms: int = 30_000
