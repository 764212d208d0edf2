import pytest

from rebalance_engine.membership.configs import SYSTEM_GROUPS, GroupConfigs, TopicConfigs, may_always_pull, retry_topic
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, SubscriptionGroupWrapper, TopicConfig
from tests.rebalance_engine.membership.examples import policy


def test_an_unknown_group_is_created_with_javas_defaults() -> None:
    groups = GroupConfigs(policy())

    assert groups.find("g") is None
    assert groups.find_or_create("g") == SubscriptionGroupConfig(group_name="g")
    assert groups.find("g") is not None


def test_where_creating_is_off_only_system_groups_are_created() -> None:
    groups = GroupConfigs(policy(creates_groups=False))

    assert groups.find_or_create("g") is None
    assert groups.find_or_create("CID_RMQ_SYS_X") is not None
    assert SYSTEM_GROUPS[0] in groups.all()


@pytest.mark.parametrize(
    ("version", "group", "is_created"),
    [
        ("5.5.0", "a-Z_0%|9", True),
        ("5.5.0", "bad!", False),
        ("5.5.0", "ä", False),
        ("5.5.0", "", False),
        ("5.5.0", "g" * 120, True),
        ("5.5.0", "g" * 121, False),
        ("5.3.3", "g" * 255, True),
        ("5.3.3", "g" * 256, False),
        ("5.3.3", "bad!", False),
        ("5.1.0", "bad!", True),
        ("4.9.7", "bad!" * 100, True),
    ],
)
def test_which_names_a_group_may_have(version: str, group: str, *, is_created: bool) -> None:
    assert (GroupConfigs(policy(version)).find_or_create(group) is not None) is is_created


def test_java_says_why_a_name_is_illegal() -> None:
    groups = GroupConfigs(policy())

    assert groups.why_illegal(" ") == "The specified group is blank."
    assert "illegal characters" in (groups.why_illegal("bad!") or "")
    assert "longer than group max length: 120" in (groups.why_illegal("g" * 121) or "")
    assert groups.why_illegal("g") is None


def test_a_group_is_replaced_as_a_whole() -> None:
    groups = GroupConfigs(policy())

    groups.put(SubscriptionGroupConfig(group_name="g", consume_enable=False))

    found = groups.find("g")
    assert found is not None and not found.consume_enable


def test_allowing_one_topic_allows_all() -> None:
    groups = GroupConfigs(policy())
    groups.forbid("g", "orders", is_forbidden=True)
    groups.forbid("g", "pay", is_forbidden=True)
    assert groups.all_forbidden() == {"g": {"orders": 4, "pay": 4}}

    groups.forbid("g", "orders", is_forbidden=False)

    assert not groups.is_forbidden("g", "pay")


def test_what_was_kept_comes_back() -> None:
    kept = SubscriptionGroupWrapper(
        subscription_group_table={"g": SubscriptionGroupConfig(group_name="g", retry_queue_nums=3)},
        forbidden_table={"g": {"orders": 4, "pay": 2}},
    )

    groups = GroupConfigs(policy(), kept)

    found = groups.find("g")
    assert found is not None and found.retry_queue_nums == 3
    assert groups.is_forbidden("g", "orders") and not groups.is_forbidden("g", "pay")


def test_the_retry_topic_is_made_once_and_name_servers_are_to_hear_of_it() -> None:
    topics = TopicConfigs(policy())
    group = SubscriptionGroupConfig(group_name="g", retry_queue_nums=2)

    topics.ensure_retry_topic(group, ["orders"], is_unit=False)
    assert topics.version == 1
    topics.ensure_retry_topic(group, ["orders"], is_unit=True)
    assert topics.version == 1

    assert topics.find(retry_topic("g")) == TopicConfig(
        topic_name="%RETRY%g",
        read_queue_nums=2,
        write_queue_nums=2,
        perm=6,
        topic_sys_flag=0,
        order=False,
        attributes={},
    )


def test_the_order_flag_follows_what_is_subscribed() -> None:
    topics = TopicConfigs(policy(), [TopicConfig(topic_name="orders", order=True)])
    group = SubscriptionGroupConfig(group_name="g")

    for subscribed, is_ordered in ((["pay"], False), (["pay", "orders"], True), ([], False)):
        topics.ensure_retry_topic(group, subscribed, is_unit=False)
        found = topics.find("%RETRY%g")
        assert found is not None and found.order is is_ordered


def test_before_5_0_an_ordered_retry_topic_stays_as_it_is() -> None:
    made = TopicConfig(topic_name="%RETRY%g", order=True)
    topics = TopicConfigs(policy("4.9.7"), [made])

    topics.ensure_retry_topic(SubscriptionGroupConfig(group_name="g"), [], is_unit=False)

    assert topics.all() == {"%RETRY%g": made}


def test_rocketmqs_own_groups_may_always_pull() -> None:
    assert (
        may_always_pull("TOOLS_CONSUMER") and may_always_pull("CID_RMQ_SYS_X") and may_always_pull("DEFAULT_CONSUMER")
    )
    assert not may_always_pull("g")


def test_what_is_deleted_is_not_there_and_name_servers_are_to_hear_of_topics() -> None:
    groups, topics = GroupConfigs(policy()), TopicConfigs(policy(), [TopicConfig(topic_name="orders")])
    groups.find_or_create("G")

    groups.delete("G")
    topics.delete("orders")
    topics.delete("orders")

    assert (groups.find("G"), topics.find("orders"), topics.version) == (None, None, 1)
