"""Short ways to make what the tests of membership need."""

from rebalance_engine.effects import Channel
from rebalance_engine.membership.presence import Peer, Presence
from rebalance_engine.membership.profiles import BrokerSettings, Policy
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.remoting.bodies.clients import ConsumerData, ConsumeType, SubscriptionData
from rebalance_engine.remoting.requests.consuming import PullMessage

QUEUE = MessageQueue("orders", "broker-a", 0)


def policy(version: str = "5.5.0", **settings: object) -> Policy:
    return Policy.of(BrokerSettings(version=version, **settings))  # type: ignore[arg-type]  # each test names real ones


def peer(channel: Channel) -> Peer:
    return Peer(channel=channel, address=f"10.0.0.{channel}:5000")


def presence(channel: Channel, client: str = "A", at: int = 0) -> Presence:
    return Presence(peer(channel), client, at)


def wants(topic: str = "orders", version: int = 1, expression: str = "*", kind: str = "TAG") -> SubscriptionData:
    return SubscriptionData(topic=topic, sub_string=expression, sub_version=version, expression_type=kind)


def consumer(
    *subscriptions: SubscriptionData,
    group: str = "g",
    model: MessageModel = MessageModel.CLUSTERING,
    kind: ConsumeType = ConsumeType.CONSUME_PASSIVELY,
) -> ConsumerData:
    return ConsumerData(group_name=group, message_model=model, consume_type=kind, subscription_data_set=subscriptions)


def pull(**fields: object) -> PullMessage:
    given: dict = {
        "consumer_group": "g",
        "topic": "orders",
        "queue_id": 0,
        "queue_offset": 0,
        "max_msg_nums": 32,
        "sys_flag": 0,
        "commit_offset": 0,
        "suspend_timeout_millis": 15_000,
        "sub_version": 1,
    }
    return PullMessage(**{**given, **fields})
