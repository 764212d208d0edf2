"""What can be asked of a cluster, and the few things that can be changed: one coroutine each, all within the budget.

An answer that means "nobody is online here" or "there is none" is ``None``, so that it is never taken for an empty one;
any other refusal raises. ``timeout_s`` is the whole time that a caller waits, for its turn and for the answer.

Sources: ``tools/.../admin/DefaultMQAdminExtImpl.java``, ``client/.../impl/MQClientAPIImpl.java``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from rebalance_engine.effects import Address
from rebalance_engine.network.asking import Asker, Calls, Outcome, check_fields
from rebalance_engine.network.budget import BROKER_LIMITS, NAME_SERVER_LIMITS, Limits
from rebalance_engine.network.checking import check_call
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.nameservers import NameServers
from rebalance_engine.network.rules import seconds_left
from rebalance_engine.network.silent_clients import SilentClients
from rebalance_engine.remoting.bodies.clients import ConsumerConnection, ProducerConnection, ProducerTableInfo
from rebalance_engine.remoting.bodies.queues import (
    ConsumerOffsetSerializeWrapper,
    ConsumerRunningInfo,
    ConsumeStats,
    ConsumeStatsList,
    TopicStatsTable,
)
from rebalance_engine.remoting.bodies.routes import ClusterInfo, TopicRouteData
from rebalance_engine.remoting.bodies.settings import (
    MessageRequestModeSerializeWrapper,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
    TopicConfig,
    TopicConfigSerializeWrapper,
)
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests import brokers, changes, clients, consuming, membership, nameserver, upkeep
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

R = TypeVar("R", bound=Response)

TIMEOUT_S = 10.0
RUNNING_INFO_TIMEOUT_S = 20.0  # the broker waits 10 s for the client, after up to 5 s in its queue
SILENT_CLIENT_S = (60.0, 600.0)  # the first pause after a 307 without answer, and the longest

# What a client says of itself that may be kept and shown; Java tells all its fields, passwords of proxies included.
SHOWN_PROPERTIES = frozenset(
    {
        "PROP_CLIENT_VERSION",
        "PROP_CONSUMEORDERLY",
        "PROP_CONSUMER_START_TIMESTAMP",
        "PROP_CONSUME_TYPE",
        "PROP_NAMESERVER_ADDR",
        "PROP_THREADPOOL_CORE_SIZE",
        "adjustThreadPoolNumsThreshold",
        "allocateMessageQueueStrategy",
        "awaitTerminationMillisWhenShutdown",
        "clientRebalance",
        "consumeConcurrentlyMaxSpan",
        "consumeFromWhere",
        "consumeMessageBatchMaxSize",
        "consumeThreadMax",
        "consumeThreadMin",
        "consumeTimeout",
        "consumeTimestamp",
        "consumerGroup",
        "maxReconsumeTimes",
        "messageModel",
        "pullBatchSize",
        "pullInterval",
        "pullThresholdForQueue",
        "pullThresholdForTopic",
        "pullThresholdSizeForQueue",
        "pullThresholdSizeForTopic",
        "suspendCurrentQueueTimeMillis",
        "unitMode",
    }
)
UNSUPPORTED = frozenset({ResponseCode.REQUEST_CODE_NOT_SUPPORTED})
NO_SAMPLES, SAMPLED_EVERY_S = "NoSuchElementException", 1.0  # ``StoreStatsService.FREQUENCY_OF_SAMPLING``


class Denied(Exception):
    """A server refused: what, with which code, and what it said."""

    def __init__(self, address: Address, request: object, refused: Refused) -> None:
        name = ResponseCode(refused.code).name if refused.code in set(ResponseCode) else "unknown"
        remark = refused.remark or "no remark"
        super().__init__(f"{address} refused {type(request).__name__} with code {refused.code} ({name}): {remark}")
        self.address = address
        self.code = refused.code
        self.remark = refused.remark


class Admin:
    """A cluster, asked within a budget. Brokers are named by their addresses; one process has one of these.

    Raises, each of its coroutines:
        NotAsked: the budget gave no turn in time, or who is asked does not answer lately.
        NoAnswer: no answer came.
        Denied: the server refused.
        BrokenContent: what came is not an answer to this.
        TypeError, ValueError: an argument is of another kind, or makes no sense.
    """

    def __init__(
        self,
        transport: Calls,
        name_servers: NameServers | str,
        *,
        broker_limits: Limits = BROKER_LIMITS,
        name_server_limits: Limits = NAME_SERVER_LIMITS,
    ) -> None:
        self.name_servers = NameServers(name_servers) if isinstance(name_servers, str) else name_servers
        self.asker = Asker(transport)
        self._broker_limits = broker_limits
        self._name_server_limits = name_server_limits
        self._silent = SilentClients(*SILENT_CLIENT_S)
        self._suspects: dict[Address, asyncio.Lock] = {}

    @property
    def resting(self) -> int:
        """How many clients do not answer, as a broker said, and are left alone for now."""
        return self._silent.resting(asyncio.get_running_loop().time())

    def renew(self, group: str, client: str) -> bool:
        """Let a client be asked at once: it has registered anew. Tell whether it was silent, or was left alone."""
        check_call(group=group, client=client)
        return self._silent.renew((group, client), asyncio.get_running_loop().time())

    async def close(self) -> None:
        """Give up what is under way; the transport stays its owner's."""
        await self.asker.close()

    # ---- NameServers ----

    async def cluster(self, *, at: Address | None = None, timeout_s: float = TIMEOUT_S) -> ClusterInfo:
        """Give all brokers and clusters (106), as any NameServer knows them, or the one at an address."""
        return (await self._of_name_server(nameserver.GetBrokerClusterInfo(), timeout_s, at)).body

    async def route(
        self, topic: str, *, at: Address | None = None, timeout_s: float = TIMEOUT_S
    ) -> TopicRouteData | None:
        """Give the brokers and queues of a topic (105), from any NameServer or one; None: no broker has it."""
        request = nameserver.GetRouteInfoByTopic(topic=topic, accept_standard_json_only=True)
        answer = await self._find_at_name_server(request, {ResponseCode.TOPIC_NOT_EXIST}, timeout_s, at)
        return None if answer is None else answer.body

    async def topics(self, *, timeout_s: float = TIMEOUT_S) -> tuple[str, ...]:
        """Give the names of all topics (206), at most once a minute; ``topic_configs`` of the brokers costs less."""
        answer = await self._of_name_server(nameserver.GetAllTopicListFromNameserver(), timeout_s)
        return tuple(answer.body.topic_list)

    async def topics_of_cluster(self, cluster: str, *, timeout_s: float = TIMEOUT_S) -> tuple[str, ...]:
        """Give the names of a cluster's topics (224); an unknown cluster has none."""
        answer = await self._of_name_server(nameserver.GetTopicsByCluster(cluster=cluster), timeout_s)
        return tuple(answer.body.topic_list)

    # ---- what a broker knows ----

    async def topic_configs(self, broker: Address, *, timeout_s: float = TIMEOUT_S) -> TopicConfigSerializeWrapper:
        """Give all topics of a broker (21)."""
        return (await self._of_broker(broker, brokers.GetAllTopicConfig(), timeout_s)).body

    async def group_configs(self, broker: Address, *, timeout_s: float = TIMEOUT_S) -> SubscriptionGroupWrapper:
        """Give all groups that are configured at a broker (201), online or not, junk included."""
        return (await self._of_broker(broker, brokers.GetAllSubscriptionGroupConfig(), timeout_s)).body

    async def runtime(self, broker: Address, *, timeout_s: float = TIMEOUT_S) -> Mapping[str, str]:
        """Give the figures of a broker (28); names and number differ by version.

        A 4.x broker that has just started fails at it until it has taken its first samples
        (``StoreStatsService.getPutTps``); it is asked again then, within the same time.
        """
        timeout_s = seconds_left("timeout_s", timeout_s)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while True:
            try:
                request = brokers.GetBrokerRuntimeInfo()
                return (await self._of_broker(broker, request, deadline - loop.time())).body.table
            except Denied as denied:
                if NO_SAMPLES not in (denied.remark or "") or deadline - loop.time() <= SAMPLED_EVERY_S:
                    raise
                await asyncio.sleep(SAMPLED_EVERY_S)

    async def broker_config(
        self, broker: Address, names: Collection[str], *, timeout_s: float = TIMEOUT_S
    ) -> dict[str, str]:
        """Give some settings of a broker (26). Only those named: the others can hold secrets."""
        check_call(names=names)
        answer = await self._of_broker(broker, brokers.GetBrokerConfig(), timeout_s)
        pairs = (line.partition("=") for line in answer.body.splitlines())
        return {name.strip(): value.strip() for name, _, value in pairs if name.strip() in names}

    async def request_modes(
        self, broker: Address, *, timeout_s: float = TIMEOUT_S
    ) -> MessageRequestModeSerializeWrapper:
        """Give how groups were set to get topics, by PULL or by POP (402); brokers of 4.x cannot tell."""
        return (await self._of_broker(broker, brokers.GetAllMessageRequestMode(), timeout_s)).body

    async def groups_of_topic(self, broker: Address, topic: str, *, timeout_s: float = TIMEOUT_S) -> frozenset[str]:
        """Give the groups that read a topic or once did (300): a hint."""
        request = brokers.QueryTopicConsumeByWho(topic=topic)
        return frozenset((await self._of_broker(broker, request, timeout_s)).body.group_list)

    async def topics_of_group(
        self, broker: Address, group: str, *, timeout_s: float = TIMEOUT_S
    ) -> frozenset[str] | None:
        """Give the topics of which a group ever stored an offset (343): a hint; None: 4.x brokers cannot tell."""
        answer = await self._find_at_broker(broker, brokers.QueryTopicsByConsumer(group=group), UNSUPPORTED, timeout_s)
        return None if answer is None else frozenset(answer.body.topic_list)

    # ---- who is there ----

    async def member_ids(self, broker: Address, group: str, *, timeout_s: float = TIMEOUT_S) -> tuple[str, ...] | None:
        """Give the client ids of a group at a broker (38), as its members get them; None: nobody is online there."""
        request = membership.GetConsumerListByGroup(consumer_group=group)
        answer = await self._find_at_broker(broker, request, {ResponseCode.SYSTEM_ERROR}, timeout_s)
        return None if answer is None else tuple(answer.body.consumer_id_list)

    async def members(self, broker: Address, group: str, *, timeout_s: float = TIMEOUT_S) -> ConsumerConnection | None:
        """Give the members of a group at a broker, and what it subscribes to (203); None: nobody is online there."""
        request = brokers.GetConsumerConnectionList(consumer_group=group)
        answer = await self._find_at_broker(broker, request, {ResponseCode.CONSUMER_NOT_ONLINE}, timeout_s)
        return None if answer is None else answer.body

    async def producers_of_group(
        self, broker: Address, group: str, *, timeout_s: float = TIMEOUT_S
    ) -> ProducerConnection | None:
        """Give the producers of a group at a broker (204); None: it knows none."""
        request = brokers.GetProducerConnectionList(producer_group=group)
        answer = await self._find_at_broker(broker, request, {ResponseCode.SYSTEM_ERROR}, timeout_s)
        return None if answer is None else answer.body

    async def producers(self, broker: Address, *, timeout_s: float = TIMEOUT_S) -> ProducerTableInfo | None:
        """Give all producers of a broker (328); None: it is older than 4.9.4 and cannot tell."""
        answer = await self._find_at_broker(broker, brokers.GetAllProducerInfo(), UNSUPPORTED, timeout_s)
        return None if answer is None else answer.body

    async def running_info(
        self, broker: Address, group: str, client: str, *, timeout_s: float = RUNNING_INFO_TIMEOUT_S
    ) -> ConsumerRunningInfo:
        """Give what a member holds, by its own word (307); of its properties those that may be shown.

        A client that does not answer is left alone for a minute, then for two, and so on up to ten; through this broker
        alone, where that gave no answer either. Those that did not answer the last time are asked one after the other,
        so that they never take all places.
        """
        timeout_s = seconds_left("timeout_s", timeout_s)
        check_fields(clients.GetConsumerRunningInfo(consumer_group=group, client_id=client))
        loop, name = asyncio.get_running_loop(), (group, client)
        deadline = loop.time() + timeout_s
        if pause := self._silent.pause_s(name, broker, loop.time()):
            raise NotAsked(broker, f"client {client} does not answer; it is asked again in {pause:.0f} s")
        if not self._silent.is_suspect(name, broker):
            return await self._ask_client(broker, group, client, timeout_s)
        turn = self._suspects.setdefault(broker, asyncio.Lock())
        try:
            async with asyncio.timeout_at(deadline):
                await turn.acquire()
        except TimeoutError:
            raise NotAsked(broker, f"other silent clients are asked before {client}") from None
        try:
            return await self._ask_client(broker, group, client, deadline - loop.time())
        finally:
            turn.release()

    async def _ask_client(self, broker: Address, group: str, client: str, timeout_s: float) -> ConsumerRunningInfo:
        request = clients.GetConsumerRunningInfo(consumer_group=group, client_id=client)
        loop = asyncio.get_running_loop()
        asked_at = loop.time()

        def learn(outcome: Outcome) -> None:
            self._silent.learn((group, client), broker, outcome, asked_at=asked_at, at=loop.time())

        answer = await self.asker.ask(broker, request, timeout_s=timeout_s, limits=self._broker_limits, learn=learn)
        info = _granted(broker, request, answer).body
        shown = {key: value for key, value in info.properties.items() if key in SHOWN_PROPERTIES}
        return replace(info, properties=shown, jstack=None)

    # ---- how far they are ----

    async def consume_stats(
        self, broker: Address, group: str, topic: str | None = None, *, timeout_s: float = TIMEOUT_S
    ) -> ConsumeStats:
        """Say how far a group is (208). A queue never committed reads 0: ask ``offset`` before calling that real."""
        request = brokers.GetConsumeStats(consumer_group=group, topic=topic)
        return (await self._of_broker(broker, request, timeout_s)).body

    async def broker_consume_stats(self, broker: Address, *, timeout_s: float = TIMEOUT_S) -> ConsumeStatsList:
        """Say how far all groups are (317), at most once a minute: it reads the disk for every queue."""
        return (await self._of_broker(broker, brokers.GetBrokerConsumeStats(is_order=False), timeout_s)).body

    async def offsets(self, broker: Address, *, timeout_s: float = TIMEOUT_S) -> ConsumerOffsetSerializeWrapper:
        """Give all committed offsets (43); what was never committed is not there."""
        return (await self._of_broker(broker, brokers.GetAllConsumerOffset(), timeout_s)).body

    async def offset(
        self, broker: Address, group: str, topic: str, queue_id: int, *, timeout_s: float = TIMEOUT_S
    ) -> int | None:
        """Give the committed offset of a queue (14); None: none was ever committed (4.x may say 0 instead)."""
        request = consuming.QueryConsumerOffset(
            consumer_group=group, topic=topic, queue_id=queue_id, set_zero_if_not_found=False
        )
        answer = await self._find_at_broker(broker, request, {ResponseCode.QUERY_NOT_FOUND}, timeout_s)
        return None if answer is None else answer.offset

    async def topic_stats(self, broker: Address, topic: str, *, timeout_s: float = TIMEOUT_S) -> TopicStatsTable | None:
        """Give the ends of a topic's queues (202); None: the broker does not have it."""
        request = brokers.GetTopicStatsInfo(topic=topic)
        answer = await self._find_at_broker(broker, request, {ResponseCode.TOPIC_NOT_EXIST}, timeout_s)
        return None if answer is None else answer.body

    # ---- changes; each is for one server, and made once ----

    async def put_topic(self, broker: Address, config: TopicConfig, *, timeout_s: float = TIMEOUT_S) -> None:
        """Create a topic at a broker, or change it (17). Fewer read queues strand what is unread in the others."""
        check_call(config=config)
        attributes = ",".join(f"+{name}={value}" for name, value in (config.attributes or {}).items())
        request = changes.UpdateAndCreateTopic(
            topic=config.topic_name,
            read_queue_nums=config.read_queue_nums,
            write_queue_nums=config.write_queue_nums,
            perm=config.perm,
            topic_filter_type=config.topic_filter_type,
            topic_sys_flag=config.topic_sys_flag,
            order=config.order,
            attributes=attributes or None,
        )
        await self._change(broker, request, timeout_s)

    async def delete_topic(self, broker: Address, topic: str, *, timeout_s: float = TIMEOUT_S) -> None:
        """Delete a topic and its messages at a broker (215); NameServers forget it by ``forget_topic``."""
        await self._change(broker, upkeep.DeleteTopicInBroker(topic=topic), timeout_s)

    async def forget_topic(self, name_server: Address, topic: str, *, timeout_s: float = TIMEOUT_S) -> None:
        """Let a NameServer forget a topic (216); after it was deleted at the brokers."""
        request = nameserver.DeleteTopicInNamesrv(topic=topic)
        await self._change(name_server, request, timeout_s, self._name_server_limits)

    async def put_group(
        self, broker: Address, config: SubscriptionGroupConfig, *, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Create a group at a broker, or replace what is configured of it as a whole (200)."""
        await self._change(broker, changes.UpdateAndCreateSubscriptionGroup(body=config), timeout_s)

    async def unregister(self, broker: Address, group: str, client: str, *, timeout_s: float = TIMEOUT_S) -> None:
        """Say that a client leaves (35). From here it removes nobody, but notifies the group: see ``probe``."""
        await self._change(broker, membership.UnregisterClient(client_id=client, consumer_group=group), timeout_s)

    # ---- asking ----

    async def _of_broker(self, broker: Address, request: Request[R], timeout_s: float) -> R:
        answer = await self.asker.ask(broker, request, timeout_s=timeout_s, limits=self._broker_limits)
        return _granted(broker, request, answer)

    async def _find_at_broker(
        self, broker: Address, request: Request[R], means_none: Collection[int], timeout_s: float
    ) -> R | None:
        answer = await self.asker.ask(broker, request, timeout_s=timeout_s, limits=self._broker_limits)
        return None if answer.code in means_none else _granted(broker, request, answer)

    async def _change(self, address: Address, request: Request[R], timeout_s: float, limits: Limits | None = None) -> R:
        limits = limits or self._broker_limits
        answer = await self.asker.ask(address, request, timeout_s=timeout_s, limits=limits, shared=False)
        return _granted(address, request, answer)

    async def _of_name_server(self, request: Request[R], timeout_s: float, at: Address | None = None) -> R:
        answer = await self._find_at_name_server(request, (), timeout_s, at)
        assert answer is not None
        return answer

    async def _find_at_name_server(
        self, request: Request[R], means_none: Collection[int], timeout_s: float, at: Address | None
    ) -> R | None:
        """Each NameServer that has to be tried gets its part of the time."""
        timeout_s = seconds_left("timeout_s", timeout_s)
        part_s = timeout_s if at is not None else timeout_s / len(self.name_servers.addresses)

        async def asking(address: Address) -> R | None:
            answer = await self.asker.ask(address, request, timeout_s=part_s, limits=self._name_server_limits)
            return None if answer.code in means_none else _granted(address, request, answer)

        return await (self.name_servers.ask(asking) if at is None else asking(at))


def _granted(address: Address, request: Request[R], answer: R | Refused) -> R:
    if isinstance(answer, Refused):
        raise Denied(address, request, answer)
    return answer
