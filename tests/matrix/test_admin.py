"""What an operator asks, put to each cluster; and a probe that lets a member of ours rebalance."""

from __future__ import annotations

import asyncio

import pytest

from rebalance_engine.effects import Received
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.network.channels import OfChannel
from rebalance_engine.network.probe import Obstacle, Prober
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo, ProcessQueueInfo
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, TopicConfig
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo, GetConsumerRunningInfoResponse
from rebalance_engine.remoting.requests.consuming import UpdateConsumerOffset
from rebalance_engine.remoting.requests.membership import HeartBeat, NotifyConsumerIdsChanged
from rebalance_engine.remoting.requests.producing import SendMessageResponse, SendMessageV2
from tests.cluster.contract import Cluster
from tests.matrix.conftest import CLUSTERS

pytestmark = [pytest.mark.java, pytest.mark.parametrize("cluster", CLUSTERS, indirect=True, scope="session")]

TOPIC, GROUP, MEMBER = "AdminTopic", "AdminGroup", "10.0.0.9@admin"
READ_ONLY = "ReadOnlyTopic"
NOTIFIED_WITHIN_S = SAMPLED_WITHIN_S = 30


def test_an_operator_sees_and_changes_what_there_is(cluster: Cluster) -> None:
    asyncio.run(_look(cluster))


def test_a_topic_that_is_only_read_takes_what_is_sent_to_it_all_the_same(cluster: Cluster) -> None:
    asyncio.run(_send_to_read_only(cluster))


async def _send_to_read_only(cluster: Cluster) -> None:
    async with Transport() as transport:
        admin = Admin(transport, cluster.namesrv)
        try:
            broker = cluster.addresses["broker-a"]
            await admin.put_topic(broker, TopicConfig(topic_name=READ_ONLY, perm=4))
            send = SendMessageV2(producer_group="PG", topic=READ_ONLY, queue_id=0, born_timestamp=1, body=b"late")

            answer = await transport.request(broker, send)

            assert isinstance(answer, SendMessageResponse), answer
            assert answer.queue_offset == 0
        finally:
            await admin.close()


async def _look(cluster: Cluster) -> None:
    broker = cluster.addresses["broker-a"]
    queue = MessageQueue(TOPIC, "broker-a", 0)
    async with Transport() as transport:
        admin = Admin(transport, cluster.namesrv)
        try:
            assert (await admin.cluster()).broker_addr_table["broker-a"].broker_addrs == {0: broker}
            config = TopicConfig(topic_name=TOPIC, read_queue_nums=3, write_queue_nums=3, perm=6)
            await admin.put_topic(broker, config)
            await admin.put_group(broker, SubscriptionGroupConfig(group_name=GROUP))

            assert (await admin.topic_configs(broker)).topic_config_table[TOPIC].read_queue_nums == 3
            assert GROUP in (await admin.group_configs(broker)).subscription_group_table
            assert "brokerVersionDesc" in await admin.runtime(broker, timeout_s=SAMPLED_WITHIN_S)
            assert await admin.broker_config(broker, {"brokerName"}) == {"brokerName": "broker-a"}
            stats = await admin.topic_stats(broker, TOPIC)
            assert stats is not None
            assert queue in stats.offset_table
            assert await admin.topic_stats(broker, "NoTopic") is None
            assert await admin.route("NoTopic") is None

            assert await admin.member_ids(broker, GROUP) is None
            assert await admin.members(broker, GROUP) is None
            assert await admin.producers_of_group(broker, "NoProducers") is None
            with pytest.raises(Denied, match="not online"):
                await admin.running_info(broker, GROUP, MEMBER)

            commit = UpdateConsumerOffset(consumer_group=GROUP, topic=TOPIC, queue_id=0, commit_offset=0)
            await transport.request(broker, commit)
            assert (await admin.offsets(broker)).offset_table[f"{TOPIC}@{GROUP}"] == {0: 0}
            assert await admin.offset(broker, GROUP, TOPIC, 0) == 0
            known = None if cluster.name.startswith("4.") else {TOPIC}
            assert await admin.topics_of_group(broker, GROUP) == known
            assert GROUP in await admin.groups_of_topic(broker, TOPIC)
            assert queue in (await admin.consume_stats(broker, GROUP)).offset_table
            assert any(GROUP in groups for groups in (await admin.broker_consume_stats(broker)).consume_stats_list)

            await admin.delete_topic(broker, TOPIC)
            await admin.forget_topic(cluster.namesrv, TOPIC)
            assert await admin.route(TOPIC) is None
        finally:
            await admin.close()


def test_a_probe_notifies_the_members_and_changes_nothing(cluster: Cluster) -> None:
    asyncio.run(_probe(cluster))


async def _probe(cluster: Cluster) -> None:
    """The member announces itself and answers what it holds; it is notified for its own arrival first."""
    broker, group = cluster.addresses["broker-a"], "ProbedGroup"
    held = ConsumerRunningInfo(mq_table={MessageQueue(TOPIC, "broker-a", 1): ProcessQueueInfo()})
    notices: asyncio.Queue[str] = asyncio.Queue()
    async with Transport(NetworkSettings(version=513)) as member, Transport() as transport:

        def hear(heard: OfChannel) -> None:
            if not isinstance(heard, Received):
                return
            if isinstance(heard.request, NotifyConsumerIdsChanged):
                notices.put_nowait(heard.request.consumer_group)
            elif isinstance(heard.request, GetConsumerRunningInfo) and heard.token is not None:
                member.channels.respond(heard.channel, heard.token, GetConsumerRunningInfoResponse(body=held))

        member.channels.on_heard = hear
        admin = Admin(transport, cluster.namesrv)
        prober = Prober(admin)
        try:
            await admin.put_group(broker, SubscriptionGroupConfig(group_name=group))
            assert (await prober.probe(group, [broker])).obstacle is Obstacle.NOBODY_ONLINE
            data = HeartbeatData(client_id=MEMBER, consumer_data_set=(ConsumerData(group_name=group),))
            await member.request(broker, HeartBeat(body=data))
            async with asyncio.timeout(NOTIFIED_WITHIN_S):
                assert await notices.get() == group

                before = await admin.members(broker, group)
                assert before is not None
                assert (await admin.running_info(broker, group, MEMBER)).mq_table == held.mq_table
                assert (await prober.probe(group, [broker])).notified == {broker: frozenset({MEMBER})}
                assert await notices.get() == group
                assert await admin.members(broker, group) == before
        finally:
            await admin.close()
