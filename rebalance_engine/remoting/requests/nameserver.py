"""What is asked of a NameServer: by clients, by operators, by brokers.

Sources: ``remoting/.../protocol/header/namesrv/*.java``, ``header/GetTopicsByClusterRequestHeader.java``;
``namesrv/.../processor/DefaultRequestProcessor.java``, ``ClientRequestProcessor.java``.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.remoting.bodies.routes import ClusterInfo, TopicList, TopicRouteData
from rebalance_engine.remoting.bodies.settings import DataVersion, KVTable, RegisterBrokerBody
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.requests.contract import Request, Response, RpcRequest

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"  # the namespace in which ``orderTopicConf`` of a topic is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRouteInfoByTopicResponse(Response):
    """Where the topic is. An unknown topic is refused with TOPIC_NOT_EXIST."""

    body: TopicRouteData


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRouteInfoByTopic(RpcRequest[GetRouteInfoByTopicResponse]):
    """Ask where a topic is; ``accept_standard_json_only`` spares the reader bare integer keys (4.9.4 and later)."""

    CODE = RequestCode.GET_ROUTEINFO_BY_TOPIC
    RESPONSE = GetRouteInfoByTopicResponse

    topic: str
    accept_standard_json_only: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerClusterInfoResponse(Response):
    """All brokers and clusters."""

    body: ClusterInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerClusterInfo(Request[GetBrokerClusterInfoResponse]):
    """Ask for all brokers and clusters."""

    CODE = RequestCode.GET_BROKER_CLUSTER_INFO
    RESPONSE = GetBrokerClusterInfoResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicListResponse(Response):
    """Names of topics."""

    body: TopicList


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllTopicListFromNameserver(Request[TopicListResponse]):
    """Ask for the names of all topics. The NameServer logs a warning each time."""

    CODE = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
    RESPONSE = TopicListResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicsByCluster(Request[TopicListResponse]):
    """Ask for the names of a cluster's topics; an unknown cluster has none."""

    CODE = RequestCode.GET_TOPICS_BY_CLUSTER
    RESPONSE = TopicListResponse

    cluster: str


# ---- operators ----


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeWritePermOfBrokerResponse(Response):
    """How many topics lost the write permission."""

    wipe_topic_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeWritePermOfBroker(Request[WipeWritePermOfBrokerResponse]):
    """Let producers leave a broker. This NameServer only, in its memory only."""

    CODE = RequestCode.WIPE_WRITE_PERM_OF_BROKER
    RESPONSE = WipeWritePermOfBrokerResponse

    broker_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddWritePermOfBrokerResponse(Response):
    """How many topics got the write permission."""

    add_topic_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddWritePermOfBroker(Request[AddWritePermOfBrokerResponse]):
    """Let producers come back. Every topic of the broker becomes read-write, special permissions are lost."""

    CODE = RequestCode.ADD_WRITE_PERM_OF_BROKER
    RESPONSE = AddWritePermOfBrokerResponse

    broker_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutKvConfig(Request[Response]):
    """Keep a text under a namespace and a key."""

    CODE = RequestCode.PUT_KV_CONFIG

    namespace: str
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKvConfigResponse(Response):
    """The text. A missing one is refused with QUERY_NOT_FOUND."""

    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKvConfig(Request[GetKvConfigResponse]):
    """Ask for the text under a namespace and a key."""

    CODE = RequestCode.GET_KV_CONFIG
    RESPONSE = GetKvConfigResponse

    namespace: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteKvConfig(Request[Response]):
    """Forget the text under a namespace and a key."""

    CODE = RequestCode.DELETE_KV_CONFIG

    namespace: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKvlistByNamespaceResponse(Response):
    """All texts of the namespace. One without any is refused with QUERY_NOT_FOUND."""

    body: KVTable


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKvlistByNamespace(Request[GetKvlistByNamespaceResponse]):
    """Ask for all texts of a namespace."""

    CODE = RequestCode.GET_KVLIST_BY_NAMESPACE
    RESPONSE = GetKvlistByNamespaceResponse

    namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicInNamesrv(Request[Response]):
    """Forget where a topic is, on all brokers or on those of a cluster."""

    CODE = RequestCode.DELETE_TOPIC_IN_NAMESRV

    topic: str
    cluster_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSystemTopicListFromNs(Request[TopicListResponse]):
    """Ask for the names of clusters and brokers, which are topics too."""

    CODE = RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS
    RESPONSE = TopicListResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateNamesrvConfig(Request[Response]):
    """Change settings: one ``key=value`` a line."""

    CODE = RequestCode.UPDATE_NAMESRV_CONFIG

    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetNamesrvConfigResponse(Response):
    """One ``key=value`` a line."""

    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetNamesrvConfig(Request[GetNamesrvConfigResponse]):
    """Ask for the settings."""

    CODE = RequestCode.GET_NAMESRV_CONFIG
    RESPONSE = GetNamesrvConfigResponse


# ---- brokers ----


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerResponse(Response):
    """Where the broker's master is; ``body`` holds the order configuration of topics."""

    ha_server_addr: str | None = None
    master_addr: str | None = None
    body: KVTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBroker(Request[RegisterBrokerResponse]):
    """Tell a NameServer of a broker and its topics.

    Attributes:
        compressed: the body is deflated, in a form of its own.
        body_crc32: CRC-32 of the body; 0 is not checked.
    """

    CODE = RequestCode.REGISTER_BROKER
    RESPONSE = RegisterBrokerResponse

    broker_name: str
    broker_addr: str
    cluster_name: str
    ha_server_addr: str | None = None
    broker_id: int
    heartbeat_timeout_millis: int | None = None
    enable_acting_master: bool | None = None
    compressed: bool = False
    body_crc32: int = 0
    body: RegisterBrokerBody | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisterBroker(Request[Response]):
    """Tell a NameServer that a broker is gone."""

    CODE = RequestCode.UNREGISTER_BROKER

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersionResponse(Response):
    """Whether the NameServer has another version; ``body`` is the one it has."""

    changed: bool | None = None
    body: DataVersion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersion(Request[QueryDataVersionResponse]):
    """Ask whether a NameServer has this version of a broker's topics."""

    CODE = RequestCode.QUERY_DATA_VERSION
    RESPONSE = QueryDataVersionResponse

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: int
    body: DataVersion
