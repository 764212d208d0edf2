"""What is configured: topics, groups, and the version of each table.

Sources: ``remoting/.../protocol/DataVersion.java``; ``common/.../TopicConfig.java``;
``remoting/.../protocol/subscription/*.java``; ``remoting/.../protocol/body/TopicConfigSerializeWrapper.java``,
``TopicConfigAndMappingSerializeWrapper.java``, ``SubscriptionGroupWrapper.java``, ``RegisterBrokerBody.java``,
``KVTable.java``, ``SetMessageRequestModeRequestBody.java``, ``MessageRequestModeSerializeWrapper.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from rebalance_engine.remoting.bodies.routes import TopicQueueMappingDetail, TopicQueueMappingInfo
from rebalance_engine.remoting.java import Int32, JavaObject


@dataclass(frozen=True, slots=True, kw_only=True)
class DataVersion(JavaObject):
    """The version of a table; equal versions mean equal tables."""

    state_version: int = 0
    timestamp: int = 0
    counter: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig(JavaObject):
    """A topic on one broker; the defaults are ``TopicConfig.java``'s."""

    topic_name: str
    read_queue_nums: Int32 = 16
    write_queue_nums: Int32 = 16
    perm: Int32 = 6
    topic_filter_type: str = "SINGLE_TAG"
    topic_sys_flag: int = 0
    order: bool = False
    attributes: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfigSerializeWrapper(JavaObject):
    """All topics of one broker. The mappings are those of static topics, 5.x only."""

    topic_config_table: Mapping[str, TopicConfig] = field(default_factory=dict)
    data_version: DataVersion = DataVersion()
    mapping_data_version: DataVersion | None = None
    topic_queue_mapping_detail_map: Mapping[str, TopicQueueMappingDetail] | None = None
    topic_queue_mapping_info_map: Mapping[str, TopicQueueMappingInfo] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerBody(JavaObject):
    """What a broker tells a NameServer every 30 seconds."""

    topic_config_serialize_wrapper: TopicConfigSerializeWrapper
    filter_server_list: tuple[str, ...] = ()


class GroupRetryPolicyType(Enum):
    """How long a message waits before it is tried again."""

    EXPONENTIAL = "EXPONENTIAL"
    CUSTOMIZED = "CUSTOMIZED"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialRetryPolicy(JavaObject):
    """Waits that grow by a factor; in ms."""

    initial: int = 5_000
    max: int = 7_200_000
    multiplier: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomizedRetryPolicy(JavaObject):
    """Waits that are listed; in ms."""

    next: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRetryPolicy(JavaObject):
    """How a group waits before it tries a message again."""

    type: GroupRetryPolicyType = GroupRetryPolicyType.CUSTOMIZED
    exponential_retry_policy: ExponentialRetryPolicy | None = None
    customized_retry_policy: CustomizedRetryPolicy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleSubscriptionData(JavaObject):
    """A subscription that the group's configuration holds."""

    topic: str
    expression_type: str | None = None
    expression: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionGroupConfig(JavaObject):
    """A group on one broker; the defaults are ``SubscriptionGroupConfig.java``'s.

    What arrives with request 200 replaces the stored one as a whole, so change a copy of what 201 gave
    (``dataclasses.replace``).
    """

    group_name: str
    consume_enable: bool = True
    consume_from_min_enable: bool = True
    consume_broadcast_enable: bool = True
    consume_message_orderly: bool = False
    retry_queue_nums: Int32 = 1
    retry_max_times: int = 16
    group_retry_policy: GroupRetryPolicy = GroupRetryPolicy()
    broker_id: int = 0
    which_broker_when_consume_slowly: int = 1
    notify_consumer_ids_changed_enable: bool = True
    group_sys_flag: int = 0
    consume_timeout_minute: int = 15
    subscription_data_set: tuple[SimpleSubscriptionData, ...] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionGroupWrapper(JavaObject):
    """All groups of one broker; ``forbidden_table`` is group -> topic -> bits."""

    subscription_group_table: Mapping[str, SubscriptionGroupConfig] = field(default_factory=dict)
    forbidden_table: Mapping[str, Mapping[str, int]] | None = None
    data_version: DataVersion = DataVersion()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupForbidden(JavaObject):
    """Whether a group may read a topic."""

    topic: str | None = None
    group: str | None = None
    readable: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KVTable(JavaObject):
    """Texts by name: what a broker tells of its running."""

    table: Mapping[str, str] = field(default_factory=dict)


class MessageRequestMode(Enum):
    """Whether a group's members own queues (PULL) or share all (POP)."""

    PULL = "PULL"
    POP = "POP"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMessageRequestModeRequestBody(JavaObject):
    """How a group shall get the messages of a topic."""

    topic: str
    consumer_group: str
    mode: MessageRequestMode = MessageRequestMode.PULL
    pop_share_queue_num: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRequestModeSerializeWrapper(JavaObject):
    """How each group gets the messages of each topic: topic -> group -> mode."""

    message_request_mode_map: Mapping[str, Mapping[str, SetMessageRequestModeRequestBody]] = field(default_factory=dict)
