import pytest

from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData, SubscriptionData
from rebalance_engine.remoting.requests.consuming import PullMessage
from rebalance_engine.remoting.requests.membership import HeartBeat
from rebalance_engine.simulation.breach import Breach
from rebalance_engine.simulation.subscribing import Told


def beat(version: int, group: str = "g") -> HeartBeat:
    subscription = SubscriptionData(topic="orders", sub_version=version)
    consumer = ConsumerData(group_name=group, subscription_data_set=(subscription,))
    return HeartBeat(body=HeartbeatData(client_id="A", consumer_data_set=(consumer,)))


def pull(version: int) -> PullMessage:
    return PullMessage(
        consumer_group="g",
        topic="orders",
        queue_id=0,
        queue_offset=0,
        max_msg_nums=32,
        sys_flag=0,
        commit_offset=0,
        suspend_timeout_millis=0,
        sub_version=version,
    )


def test_a_pull_with_what_was_told_is_served() -> None:
    told = Told("g")
    told.beat(beat(8))
    told.beat(beat(7))

    told.pulled("east", pull(7))
    told.pulled("east", pull(8))


def test_a_pull_with_a_newer_subscription_is_not_served() -> None:
    told = Told("g")
    told.beat(beat(8))

    with pytest.raises(Breach, match="serves orders in version 9, and was told 8 at most"):
        told.pulled("east", pull(9))


def test_a_pull_of_a_topic_of_which_nothing_was_told_is_not_served() -> None:
    told = Told("g")
    told.beat(beat(8, group="another"))

    with pytest.raises(Breach, match="never heard of that topic"):
        told.pulled("east", pull(0))
