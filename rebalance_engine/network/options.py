"""What an application may set on a consumer or a producer besides its name, all of it by keyword.

What is not set has RocketMQ's default. The Java name of each is beside it where it differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from rebalance_engine.allocation.own import Function
from rebalance_engine.model import MessageModel
from rebalance_engine.network.facts import OnFact
from rebalance_engine.network.outgoing import check_topic
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL, ConsumeFromWhere
from rebalance_engine.remoting.sysflags import Compression
from rebalance_engine.remoting.versions import release

if TYPE_CHECKING:
    from rebalance_engine import consumer, producer  # whoever is one of them loads no more

VERSION = "5.3.3"  # whose behaviour our clients have by default
LATEST = "5.5.0"  # whose behaviour is known
DRAIN_S = 5.0
_LATEST_MINOR = release(LATEST, "the latest release")[:2]
HOME_OF_OFFSETS = ".rocketmq_offsets"  # ``LocalFileOffsetStore.LOCAL_OFFSET_STORE_DIR``

Topics = str | Iterable[str] | Mapping[str, str]
"""One topic, several, or topic -> expression: tags like ``A || B``, or an ``Sql``."""


class ProcessOptions(TypedDict, total=False):
    """What consumers and producers have in common.

    Attributes:
        instance: the part of the client id after the ``@`` (``instanceName``).
        ip: the part before it (``clientIP``); by default the address from which a name server is called.
        version: of the Java client whose behaviour is wanted, like ``5.3.3`` or ``4.9.7``; or a profile.
        network: TLS, ACL, address rewriting, limits.
        on_fact: is called with everything that the client states about itself, at once, in the midst of what it does:
            what it orders of the client (``commit``, ``seek``, ``suspend``) happens when that is done, before anything
            else.
        report_url: of a control room that is told all of it too; the token is ``$EVENKEEL_REPORT_TOKEN``.
        drain_s: how long a close waits for what is under way.
        heartbeat_every_ms: ``heartbeatBrokerInterval``.
        routes_every_ms: ``pollNameServerInterval``.
    """

    instance: str
    ip: str
    network: NetworkSettings
    on_fact: OnFact
    report_url: str
    drain_s: float
    heartbeat_every_ms: int
    routes_every_ms: int


class GroupOptions(TypedDict, total=False):
    """What a consumer is in its group; the defaults are those of :class:`~rebalance_engine.consumer.GroupSettings`.

    Attributes:
        strategy: a name of RocketMQ's (``AVG`` by default), or a function that takes the own client id, the queues of a
            topic and all client ids, and gives the own queues.
        strategy_params: of a named strategy that has parameters.
        model: CLUSTERING or BROADCASTING.
        orderly: one message of a queue at a time, under the broker's lock.
        from_where: where a group begins that never was there.
        from_timestamp: for CONSUME_FROM_TIMESTAMP, in ms.
        threads: how many batches are in the listener's hands at a time (``consumeThreadMin``).
        batch: how many messages a batch listener gets at a time, at most (``consumeMessageBatchMaxSize``).
        max_reconsume_times: how often a message is retried before it is a dead letter.
        queue_messages, queue_mib, span, topic_messages, topic_mib: how much is pulled ahead.
        pull_batch: ``pullBatchSize``.
        pull_interval_ms: ``pullInterval``.
        suspend_ms: how long an orderly queue waits after a failure.
        consume_timeout_ms: after that a message is sent back though its listener still has it.
        client_rebalance: False lets the broker divide the queues.
        auto_commit_ms: of a lite pull consumer; None: only what is committed counts.
        pop_batch, pop_threshold, pop_invisible_ms: where the broker divides the queues by POP.
    """

    strategy: str | Function | None
    strategy_params: Mapping[str, object]
    model: MessageModel
    orderly: bool
    from_where: ConsumeFromWhere
    from_timestamp: int | None
    threads: int
    batch: int
    max_reconsume_times: int
    queue_messages: int | None
    queue_mib: int | None
    span: int | None
    topic_messages: int | None
    topic_mib: int | None
    pull_batch: int | None
    pull_interval_ms: int
    suspend_ms: int
    consume_timeout_ms: int
    client_rebalance: bool
    auto_commit_ms: int | None
    pop_batch: int
    pop_threshold: int
    pop_invisible_ms: int


class ConsumerOptions(ProcessOptions, GroupOptions, total=False):
    """All that a consumer may be told.

    Attributes:
        persist_every_ms: ``persistConsumerOffsetInterval``.
        offsets_dir: where a broadcasting consumer keeps its offsets (``rocketmq.client.localOffsetStoreDir``).
    """

    version: str | consumer.Profile
    persist_every_ms: int
    offsets_dir: Path | str


class ProducerOptions(ProcessOptions, total=False):
    """All that a producer may be told; the defaults are those of :class:`~rebalance_engine.producer.Settings`.

    Attributes:
        send_timeout_ms: ``sendMsgTimeout``, for a whole call with its retries.
        timeout_per_request_ms: ``sendMsgMaxTimeoutPerRequest``.
        retries: ``retryTimesWhenSendFailed``.
        retries_when_not_stored: ``retryAnotherBrokerWhenNotStoreOK``.
        avoids_faults: leave slow and failed brokers alone for a while (``sendLatencyFaultEnable``).
        latency_max_ms, not_available_ms: for how long, by latency; by default as the version's table says.
        detects, detect_interval_ms, detect_timeout_ms: ``startDetectorEnable`` and its figures.
        default_topic, default_topic_queues: ``createTopicKey``, ``defaultTopicQueueNums``.
        compression, compress_from: with what, and from how many bytes on (``compressMsgBodyOverHowmuch``); None: never.
        max_size: in bytes (``maxMessageSize``).
        most_under_way: how many sends run at a time; more wait.
    """

    version: str | producer.Profile
    send_timeout_ms: int
    timeout_per_request_ms: int | None
    retries: int | None
    retries_when_not_stored: bool
    avoids_faults: bool
    latency_max_ms: tuple[int, ...] | None
    not_available_ms: tuple[int, ...] | None
    detects: bool
    detect_interval_ms: int
    detect_timeout_ms: int
    default_topic: str
    default_topic_queues: int
    compression: Compression
    compress_from: int | None
    max_size: int
    most_under_way: int


def known_version(version: str, first: str) -> str:
    """Give the version of a Java client, if it is known how that one behaves.

    Raises:
        ValueError: it is none, or not one from the first to the latest.
    """
    what = "the Java client's version"
    if not release(first, what) <= release(version, what) < (*_LATEST_MINOR, sys.maxsize):
        raise ValueError(f"{what} is {version!r}; known are those from {first} to {LATEST}")
    return version


def topics_of(given: Topics) -> dict[str, str]:
    """Read what is subscribed to: topic -> expression.

    Raises:
        TypeError: it is something else.
        ValueError: a name is none that a topic may have.
    """
    by_topic: dict[str, str] = {}
    seen: object = given
    if not isinstance(seen, Iterable) or isinstance(seen, bytes):
        raise TypeError(f"the topics are {given!r}; needed are a name, several, or topic -> expression")
    if isinstance(given, Mapping):
        by_topic |= given
    else:
        by_topic |= dict.fromkeys([given] if isinstance(given, str) else given, SUBSCRIBE_ALL)
    for topic, expression in by_topic.items():
        if not all(isinstance(text, str) for text in (topic, expression)):
            raise TypeError(f"topic {topic!r} has the expression {expression!r}; needed are two texts")
        check_topic(topic)
    return by_topic


def default_offsets_dir() -> Path:
    """Say where broadcasting consumers keep their offsets, as Java does."""
    return Path.home() / HOME_OF_OFFSETS
