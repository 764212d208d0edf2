from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig


def test_a_group_is_notified_unless_it_says_otherwise() -> None:
    group = SubscriptionGroupConfig(group_name="G")

    assert group.notify_consumer_ids_changed_enable
    assert (group.retry_max_times, group.consume_timeout_minute) == (16, 15)
