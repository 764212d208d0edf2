import asyncio
from collections.abc import Awaitable, Callable

import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.remoting.bodies.clients import (
    ConsumerConnection,
    GetConsumerListByGroupResponseBody,
    ProducerConnection,
    ProducerTableInfo,
)
from rebalance_engine.remoting.bodies.queues import (
    ConsumerOffsetSerializeWrapper,
    ConsumerRunningInfo,
    ConsumeStats,
    ConsumeStatsList,
    ProcessQueueInfo,
    TopicStatsTable,
)
from rebalance_engine.remoting.bodies.routes import ClusterInfo, GroupList, TopicList, TopicRouteData
from rebalance_engine.remoting.bodies.settings import (
    KVTable,
    MessageRequestModeSerializeWrapper,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
    TopicConfig,
    TopicConfigSerializeWrapper,
)
from rebalance_engine.remoting.requests import brokers, changes, clients, consuming, membership, nameserver, upkeep
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from tests.rebalance_engine.network.answers import Answer, Answering
from tests.rebalance_engine.network.virtual import run

EAST, NAMES = "east:10911", "names:9876"
QUEUE = MessageQueue("orders", "east", 0)
INFO = clients.GetConsumerRunningInfoResponse(body=ConsumerRunningInfo(mq_table={QUEUE: ProcessQueueInfo()}))
MODES = brokers.GetAllMessageRequestModeResponse(body=MessageRequestModeSerializeWrapper())
IDS = GetConsumerListByGroupResponseBody(consumer_id_list=("A", "B"))
Call = Callable[[Admin], Awaitable[object]]


def admin_of(answer: Answer, *, names: str = NAMES, takes_s: float = 0.0) -> tuple[Admin, Answering]:
    calls = Answering(lambda _address, _request: answer, takes_s)
    return Admin(calls, names), calls


READS: list[tuple[Call, str, Request[Response], Response, object]] = [
    (
        lambda admin: admin.cluster(),
        NAMES,
        nameserver.GetBrokerClusterInfo(),
        nameserver.GetBrokerClusterInfoResponse(body=ClusterInfo()),
        ClusterInfo(),
    ),
    (
        lambda admin: admin.route("orders"),
        NAMES,
        nameserver.GetRouteInfoByTopic(topic="orders", accept_standard_json_only=True),
        nameserver.GetRouteInfoByTopicResponse(body=TopicRouteData()),
        TopicRouteData(),
    ),
    (
        lambda admin: admin.topic_configs(EAST),
        EAST,
        brokers.GetAllTopicConfig(),
        brokers.GetAllTopicConfigResponse(body=TopicConfigSerializeWrapper()),
        TopicConfigSerializeWrapper(),
    ),
    (
        lambda admin: admin.group_configs(EAST),
        EAST,
        brokers.GetAllSubscriptionGroupConfig(),
        brokers.GetAllSubscriptionGroupConfigResponse(body=SubscriptionGroupWrapper()),
        SubscriptionGroupWrapper(),
    ),
    (
        lambda admin: admin.broker_config(EAST, {"brokerName", "missing"}),
        EAST,
        brokers.GetBrokerConfig(),
        brokers.GetBrokerConfigResponse(body="brokerName=east\nsecret=word\nempty\n"),
        {"brokerName": "east"},
    ),
    (lambda admin: admin.request_modes(EAST), EAST, brokers.GetAllMessageRequestMode(), MODES, MODES.body),
    (
        lambda admin: admin.topics(),
        NAMES,
        nameserver.GetAllTopicListFromNameserver(),
        nameserver.TopicListResponse(body=TopicList(topic_list=("orders",))),
        ("orders",),
    ),
    (
        lambda admin: admin.topics_of_cluster("c"),
        NAMES,
        nameserver.GetTopicsByCluster(cluster="c"),
        nameserver.TopicListResponse(body=TopicList(topic_list=("orders",))),
        ("orders",),
    ),
    (
        lambda admin: admin.groups_of_topic(EAST, "orders"),
        EAST,
        brokers.QueryTopicConsumeByWho(topic="orders"),
        brokers.QueryTopicConsumeByWhoResponse(body=GroupList(group_list=("G",))),
        {"G"},
    ),
    (
        lambda admin: admin.topics_of_group(EAST, "G"),
        EAST,
        brokers.QueryTopicsByConsumer(group="G"),
        brokers.QueryTopicsByConsumerResponse(body=TopicList(topic_list=("orders",))),
        {"orders"},
    ),
    (
        lambda admin: admin.runtime(EAST),
        EAST,
        brokers.GetBrokerRuntimeInfo(),
        brokers.GetBrokerRuntimeInfoResponse(body=KVTable(table={"a": "b"})),
        {"a": "b"},
    ),
    (
        lambda admin: admin.member_ids(EAST, "G"),
        EAST,
        membership.GetConsumerListByGroup(consumer_group="G"),
        membership.GetConsumerListByGroupResponse(body=IDS),
        ("A", "B"),
    ),
    (
        lambda admin: admin.members(EAST, "G"),
        EAST,
        brokers.GetConsumerConnectionList(consumer_group="G"),
        brokers.GetConsumerConnectionListResponse(body=ConsumerConnection()),
        ConsumerConnection(),
    ),
    (
        lambda admin: admin.producers_of_group(EAST, "P"),
        EAST,
        brokers.GetProducerConnectionList(producer_group="P"),
        brokers.GetProducerConnectionListResponse(body=ProducerConnection()),
        ProducerConnection(),
    ),
    (
        lambda admin: admin.producers(EAST),
        EAST,
        brokers.GetAllProducerInfo(),
        brokers.GetAllProducerInfoResponse(body=ProducerTableInfo()),
        ProducerTableInfo(),
    ),
    (
        lambda admin: admin.running_info(EAST, "G", "A"),
        EAST,
        clients.GetConsumerRunningInfo(consumer_group="G", client_id="A", jstack_enable=False),
        INFO,
        INFO.body,
    ),
    (
        lambda admin: admin.consume_stats(EAST, "G"),
        EAST,
        brokers.GetConsumeStats(consumer_group="G"),
        brokers.GetConsumeStatsResponse(body=ConsumeStats()),
        ConsumeStats(),
    ),
    (
        lambda admin: admin.broker_consume_stats(EAST),
        EAST,
        brokers.GetBrokerConsumeStats(is_order=False),
        brokers.GetBrokerConsumeStatsResponse(body=ConsumeStatsList()),
        ConsumeStatsList(),
    ),
    (
        lambda admin: admin.offsets(EAST),
        EAST,
        brokers.GetAllConsumerOffset(),
        brokers.GetAllConsumerOffsetResponse(body=ConsumerOffsetSerializeWrapper()),
        ConsumerOffsetSerializeWrapper(),
    ),
    (
        lambda admin: admin.offset(EAST, "G", "orders", 3),
        EAST,
        consuming.QueryConsumerOffset(consumer_group="G", topic="orders", queue_id=3, set_zero_if_not_found=False),
        consuming.OffsetResponse(offset=0),
        0,
    ),
    (
        lambda admin: admin.topic_stats(EAST, "orders"),
        EAST,
        brokers.GetTopicStatsInfo(topic="orders"),
        brokers.GetTopicStatsInfoResponse(body=TopicStatsTable()),
        TopicStatsTable(),
    ),
    (
        lambda admin: admin.delete_topic(EAST, "orders"),
        EAST,
        upkeep.DeleteTopicInBroker(topic="orders"),
        Response(),
        None,
    ),
    (
        lambda admin: admin.forget_topic(NAMES, "orders"),
        NAMES,
        nameserver.DeleteTopicInNamesrv(topic="orders"),
        Response(),
        None,
    ),
    (
        lambda admin: admin.unregister(EAST, "G", "nobody"),
        EAST,
        membership.UnregisterClient(client_id="nobody", consumer_group="G"),
        Response(),
        None,
    ),
    (
        lambda admin: admin.put_group(EAST, SubscriptionGroupConfig(group_name="G")),
        EAST,
        changes.UpdateAndCreateSubscriptionGroup(body=SubscriptionGroupConfig(group_name="G")),
        Response(),
        None,
    ),
    (
        lambda admin: admin.put_topic(
            EAST,
            TopicConfig(
                topic_name="T", read_queue_nums=8, write_queue_nums=4, perm=6, attributes={"message.type": "FIFO"}
            ),
        ),
        EAST,
        changes.UpdateAndCreateTopic(
            topic="T", read_queue_nums=8, write_queue_nums=4, perm=6, attributes="+message.type=FIFO"
        ),
        Response(),
        None,
    ),
]


@pytest.mark.parametrize(("call", "address", "request_", "answer", "result"), READS)
def test_each_question_is_put_to_the_right_server_and_its_answer_unwrapped(
    call: Call, address: str, request_: Request[Response], answer: Response, result: object
) -> None:
    async def main() -> None:
        admin, calls = admin_of(answer)
        assert await call(admin) == result
        assert calls.asked == [(address, request_)]
        await admin.close()

    run(main())


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda admin: admin.route("orders"), 17),
        (lambda admin: admin.member_ids(EAST, "G"), 1),
        (lambda admin: admin.members(EAST, "G"), 206),
        (lambda admin: admin.producers_of_group(EAST, "P"), 1),
        (lambda admin: admin.producers(EAST), 3),
        (lambda admin: admin.topics_of_group(EAST, "G"), 3),
        (lambda admin: admin.offset(EAST, "G", "orders", 3), 22),
        (lambda admin: admin.topic_stats(EAST, "orders"), 17),
    ],
)
def test_none_is_not_taken_for_an_empty_answer_and_other_refusals_are_errors(call: Call, code: int) -> None:
    async def main() -> None:
        admin, _ = admin_of(Refused(code=code))
        assert await call(admin) is None
        await admin.close()
        admin, _ = admin_of(Refused(code=16, remark="no right to do so"))
        with pytest.raises(Denied, match=r"with code 16 \(NO_PERMISSION\): no right to do so") as caught:
            await call(admin)
        assert (caught.value.code, caught.value.remark) == (16, "no right to do so")
        await admin.close()

    run(main())


def test_what_a_client_says_of_itself_is_kept_only_if_it_may_be_shown() -> None:
    async def main() -> None:
        told = {"PROP_CONSUMEORDERLY": "true", "socksProxyConfig": "user:word"}
        body = ConsumerRunningInfo(properties=told, jstack="thread dump")
        admin, _ = admin_of(clients.GetConsumerRunningInfoResponse(body=body))
        info = await admin.running_info(EAST, "G", "A")
        assert (info.properties, info.jstack) == ({"PROP_CONSUMEORDERLY": "true"}, None)
        await admin.close()

    run(main())


def test_an_offline_client_is_an_answer_not_a_silence() -> None:
    async def main() -> None:
        admin, calls = admin_of(Refused(code=1, remark="not online"))
        for _ in range(2):
            with pytest.raises(Denied, match="not online"):
                await admin.running_info(EAST, "G", "A")
        assert len(calls.asked) == 2
        await admin.close()

    run(main())


def test_the_next_name_server_is_asked_within_the_same_deadline() -> None:
    async def main() -> None:
        def answer(address: str, _: Request[Response]) -> Answer:
            return None if address == "a:1" else nameserver.GetBrokerClusterInfoResponse(body=ClusterInfo())

        admin = Admin(Answering(answer), "a:1;b:1")
        assert await admin.cluster(timeout_s=10) == ClusterInfo()
        assert asyncio.get_running_loop().time() == 5
        await admin.close()

    run(main())


def test_one_name_server_can_be_asked_by_its_address() -> None:
    admin, calls = admin_of(nameserver.GetBrokerClusterInfoResponse(body=ClusterInfo()), names="east:1;west:2")

    async def ask() -> None:
        await admin.cluster(at="west:2")
        await admin.cluster()
        await admin.close()

    run(ask())

    assert [address for address, _ in calls.asked] == ["west:2", "east:1"]


def test_a_broker_that_has_just_started_is_asked_for_its_figures_again() -> None:
    """4.x fails at them until it has sampled them once; another failure is told at once."""
    too_early = Refused(code=1, remark="java.util.NoSuchElementException, java.util.LinkedList.getLast")
    figures = brokers.GetBrokerRuntimeInfoResponse(body=KVTable(table={"brokerVersionDesc": "V4_9_7"}))
    answers = [too_early, too_early, figures, too_early, Refused(code=1, remark="NullPointerException")]
    calls = Answering(lambda _address, _request: answers.pop(0), 0.0)
    admin = Admin(calls, NAMES)

    async def ask() -> None:
        assert await admin.runtime(EAST, timeout_s=5) == {"brokerVersionDesc": "V4_9_7"}
        with pytest.raises(Denied, match="NoSuchElementException"):
            await admin.runtime(EAST, timeout_s=1)
        with pytest.raises(Denied, match="NullPointer"):
            await admin.runtime(EAST, timeout_s=5)

    run(ask())
    assert answers == []
