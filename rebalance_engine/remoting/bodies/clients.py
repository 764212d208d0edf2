"""What clients say of themselves, and what brokers repeat of it.

Sources: ``remoting/.../protocol/heartbeat/*.java``; ``remoting/.../protocol/body/Connection.java``,
``ConsumerConnection.java``, ``ProducerConnection.java``, ``ProducerInfo.java``, ``ProducerTableInfo.java``,
``CheckClientRequestBody.java``; ``common/.../consumer/ConsumeFromWhere.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.java import JavaObject

SUBSCRIBE_ALL = "*"


class ConsumeType(Enum):
    """How a group gets its messages."""

    CONSUME_ACTIVELY = "CONSUME_ACTIVELY"
    CONSUME_PASSIVELY = "CONSUME_PASSIVELY"
    CONSUME_POP = "CONSUME_POP"


class ConsumeFromWhere(Enum):
    """Where a group starts in a queue for which no offset is stored; the second to fourth behave like the first."""

    CONSUME_FROM_LAST_OFFSET = "CONSUME_FROM_LAST_OFFSET"
    CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST = "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST"
    CONSUME_FROM_MIN_OFFSET = "CONSUME_FROM_MIN_OFFSET"
    CONSUME_FROM_MAX_OFFSET = "CONSUME_FROM_MAX_OFFSET"
    CONSUME_FROM_FIRST_OFFSET = "CONSUME_FROM_FIRST_OFFSET"
    CONSUME_FROM_TIMESTAMP = "CONSUME_FROM_TIMESTAMP"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionData(JavaObject):
    """What a group wants of one topic; ``tags.subscription`` makes one from an expression.

    Attributes:
        sub_string: the expression; ``*`` is everything.
        tags_set: the tags of the expression; empty for everything.
        code_set: Java's hash of each tag.
        sub_version: when the subscription was made, in ms; of two versions the higher one holds.
        expression_type: ``TAG`` or ``SQL92``.
    """

    topic: str
    sub_string: str = SUBSCRIBE_ALL
    tags_set: tuple[str, ...] = ()
    code_set: tuple[int, ...] = ()
    sub_version: int = 0
    expression_type: str = "TAG"
    class_filter_mode: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerData(JavaObject):
    """A producer group that lives in the client."""

    group_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerData(JavaObject):
    """A consumer that lives in the client."""

    group_name: str
    consume_type: ConsumeType = ConsumeType.CONSUME_PASSIVELY
    message_model: MessageModel = MessageModel.CLUSTERING
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    subscription_data_set: tuple[SubscriptionData, ...] = ()
    unit_mode: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatData(JavaObject):
    """A client with all that lives in it; ``heartbeat_fingerprint`` other than 0 asks for the second version."""

    NAMES: ClassVar[Mapping[str, str]] = {"client_id": "clientID"}

    client_id: str
    producer_data_set: tuple[ProducerData, ...] = ()
    consumer_data_set: tuple[ConsumerData, ...] = ()
    heartbeat_fingerprint: int = 0
    without_sub: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckClientRequestBody(JavaObject):
    """A subscription that the broker shall try to understand (SQL expressions)."""

    client_id: str
    group: str
    subscription_data: SubscriptionData
    namespace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection(JavaObject):
    """One client as a broker sees it; ``client_addr`` is ``ip:port``."""

    client_id: str
    client_addr: str | None = None
    language: Language = Language.OTHER
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConnection(JavaObject):
    """A consumer group as one broker sees it; the last heartbeat wins the subscriptions."""

    connection_set: tuple[Connection, ...] = ()
    subscription_table: Mapping[str, SubscriptionData] = field(default_factory=dict)
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    consume_from_where: ConsumeFromWhere | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConnection(JavaObject):
    """A producer group as one broker sees it."""

    connection_set: tuple[Connection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerInfo(JavaObject):
    """One producer as a broker sees it; ``remote_ip`` is ``/ip:port``."""

    NAMES: ClassVar[Mapping[str, str]] = {"remote_ip": "remoteIP"}

    client_id: str
    remote_ip: str | None = None
    language: Language = Language.OTHER
    version: int = 0
    last_update_timestamp: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerTableInfo(JavaObject):
    """All producers of one broker, by group."""

    data: Mapping[str, tuple[ProducerInfo, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerListByGroupResponseBody(JavaObject):
    """The client ids of a group at one broker: the list that every member divides queues by."""

    consumer_id_list: tuple[str, ...] = ()
