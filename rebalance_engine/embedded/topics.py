"""The topics that a broker has by itself, which names are legal, and how a topic is made that nobody made.

Sources: ``broker/.../topic/TopicConfigManager.java`` (``init``, ``createTopicInSendMessageMethod``),
``common/.../topic/TopicValidator.java``. The lists of topics were seen on 4.9.7 and 5.5.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.membership.configs import LEGAL_CHARACTERS, READ, WRITE
from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.remoting.bodies.routes import PERM_INHERIT
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.requests.producing import DEFAULT_TOPIC

DEAD_LETTER_PREFIX = "%DLQ%"
SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
TIMER_TOPIC = "rmq_sys_wheel_timer"
SYSTEM_PREFIX = "rmq_sys_"
READ_WRITE = READ | WRITE
NO_SENDING = frozenset(
    {
        SCHEDULE_TOPIC,
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
        "SELF_TEST_TOPIC",
        "OFFSET_MOVED_EVENT",
    }
)
SYSTEM_TOPICS = NO_SENDING | {DEFAULT_TOPIC, "BenchmarkTest", "RMQ_SYS_TRACE_TOPIC", "CHECKPOINT_TOPIC"}
LONGEST = 127
LONGEST_OF_GROUP = 255


def is_system_topic(topic: str) -> bool:
    """Say whether a topic is RocketMQ's own."""
    return topic in SYSTEM_TOPICS or topic.startswith(SYSTEM_PREFIX)


def dead_letter_topic(group: str) -> str:
    """Name the topic of the messages that a group gave up."""
    return DEAD_LETTER_PREFIX + group


def why_illegal(topic: str) -> str | None:
    """Say in Java's words why no topic may have this name; None if one may."""
    if not topic.strip():
        return "The specified topic is blank."
    if not LEGAL_CHARACTERS.issuperset(topic):
        return f"The specified topic: {topic}, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
    if topic.startswith((RETRY_TOPIC_PREFIX, DEAD_LETTER_PREFIX)):
        if len(topic) > LONGEST_OF_GROUP:
            return (
                f"The specified topic is DLQ or Retry topic: {topic}, "
                f"and it's longer than topic max length: {LONGEST_OF_GROUP}"
            )
    elif len(topic) > LONGEST:
        return f"The specified topic: {topic}, is longer than topic max length: {LONGEST}"
    return None


def own_topics(settings: EmbeddedSettings) -> Iterator[TopicConfig]:
    """Give the topics that a broker of this version has by itself."""
    cluster, broker = settings.cluster, settings.membership.broker
    own: dict[str, tuple[int, int]] = {
        "SELF_TEST_TOPIC": (1, READ_WRITE),
        "BenchmarkTest": (1024, READ_WRITE),
        cluster: (16, READ_WRITE | PERM_INHERIT),
        broker: (1, READ_WRITE | PERM_INHERIT),
        "OFFSET_MOVED_EVENT": (1, READ_WRITE),
        SCHEDULE_TOPIC: (18, READ_WRITE),
        f"{cluster}_REPLY_TOPIC": (1, READ_WRITE),
    }
    if settings.creates_topics:
        own[DEFAULT_TOPIC] = (settings.default_topic_queues, READ_WRITE | PERM_INHERIT)
    if settings.is_since((5, 0, 0)):
        own |= {
            TIMER_TOPIC: (1, READ_WRITE),
            f"{SYSTEM_PREFIX}REVIVE_LOG_{cluster}": (8, READ_WRITE),
            f"{SYSTEM_PREFIX}SYNC_BROKER_MEMBER_{broker}": (1, PERM_INHERIT),
            "RMQ_SYS_TRANS_HALF_TOPIC": (1, READ_WRITE),
            "RMQ_SYS_TRANS_OP_HALF_TOPIC": (1, READ_WRITE),
        }
    for topic, (queues, perm) in own.items():
        yield make(settings, topic, queues, perm=perm)


def make(
    settings: EmbeddedSettings, topic: str, queues: int, *, perm: int = READ_WRITE, is_unit_subscribed: bool = False
) -> TopicConfig:
    """Make what is configured of a topic."""
    return TopicConfig(
        topic_name=topic,
        read_queue_nums=queues,
        write_queue_nums=queues,
        perm=perm,
        topic_sys_flag=2 if is_unit_subscribed else 0,
        attributes={} if settings.is_since((5, 0, 0)) else None,
    )


def inherit(settings: EmbeddedSettings, topic: str, default: TopicConfig | None, queues: int) -> TopicConfig | None:
    """Make a topic after the default topic that its producer names; None where that one is no model."""
    if default is None or not default.perm & PERM_INHERIT:
        return None
    count = max(0, min(queues, default.write_queue_nums))
    return make(settings, topic, count, perm=default.perm & ~PERM_INHERIT)


def with_permission(config: TopicConfig, permission: int) -> TopicConfig:
    """Take away from a topic what its broker may not do."""
    return replace(config, perm=config.perm & (permission | PERM_INHERIT))


def shown(config: TopicConfig, *, has_attributes: bool) -> str:
    """Write a topic as the broker's own words do (``TopicConfig.toString``); 4.x has no attributes."""
    flags = ((READ, "R"), (WRITE, "W"), (PERM_INHERIT, "X"))
    perm = "".join(letter if config.perm & flag else "-" for flag, letter in flags)
    attributes = ", ".join(f"{name}={value}" for name, value in (config.attributes or {}).items())
    return (
        f"TopicConfig [topicName={config.topic_name}, readQueueNums={config.read_queue_nums}, "
        f"writeQueueNums={config.write_queue_nums}, perm={perm}, topicFilterType={config.topic_filter_type}, "
        f"topicSysFlag={config.topic_sys_flag}, order={str(config.order).lower()}"
        + (f", attributes={{{attributes}}}]" if has_attributes else "]")
    )
