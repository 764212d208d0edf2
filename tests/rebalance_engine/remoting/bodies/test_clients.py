from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumerData, ConsumeType, SubscriptionData


def test_a_subscription_is_to_everything_unless_it_says_otherwise() -> None:
    subscription = SubscriptionData(topic="T")

    assert (subscription.sub_string, subscription.tags_set, subscription.code_set) == ("*", (), ())


def test_a_consumer_is_a_push_consumer_of_a_clustering_group_unless_it_says_otherwise() -> None:
    consumer = ConsumerData(group_name="G")

    assert consumer.consume_type is ConsumeType.CONSUME_PASSIVELY
    assert consumer.message_model is MessageModel.CLUSTERING
