from dataclasses import fields

import pytest

from rebalance_engine.membership.checks import PullChecks, PullTerms
from rebalance_engine.membership.configs import GroupConfigs, TopicConfigs
from rebalance_engine.membership.registry import Registry
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumeType
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, TopicConfig
from rebalance_engine.remoting.requests.consuming import LitePullMessage, PullMessage
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.sysflags import PullFlag
from tests.rebalance_engine.membership.examples import consumer, peer, policy, presence, pull, wants


class Tables:
    """The tables of a broker on which group g wants version 5 of orders."""

    def __init__(self, version: str = "5.5.0", **settings: object) -> None:
        rules = policy(version, **settings)
        self.groups = GroupConfigs(rules)
        self.topics = TopicConfigs(rules, [TopicConfig(topic_name="orders", read_queue_nums=4)])
        self.registry = Registry()
        self.registry.register(presence(1), consumer(wants(version=5)), 0)
        self._checks = PullChecks(rules, self.groups, self.topics, self.registry)

    def check(self, request: PullMessage, channel: int = 1, at: int = 0) -> PullTerms | Refused:
        return self._checks.check(request, peer(channel), at)

    def refuse(self, request: PullMessage, channel: int = 1) -> tuple[int, str, str | None]:
        refused = self.check(request, channel)
        assert isinstance(refused, Refused) and refused.remark is not None
        return refused.code, refused.remark, refused.ext_fields.get("forbiddenType")


def test_a_pull_that_is_in_order_goes_by_the_groups_subscription() -> None:
    terms = Tables().check(pull(sub_version=5))

    assert isinstance(terms, PullTerms)
    assert terms.subscription == wants(version=5)
    assert (terms.group.group_name, terms.topic.topic_name) == ("g", "orders")


@pytest.mark.parametrize(("version", "is_refused"), [(4, False), (5, False), (6, True)])
def test_only_a_newer_version_than_the_stored_one_is_refused(version: int, *, is_refused: bool) -> None:
    checked = Tables().check(pull(sub_version=version))

    assert isinstance(checked, Refused) is is_refused
    if isinstance(checked, Refused):
        assert (checked.code, checked.remark) == (25, "the consumer's subscription not latest")


def test_an_unknown_group_and_an_unwanted_topic_have_their_words() -> None:
    tables = Tables()
    tables.topics.put(TopicConfig(topic_name="pay"))
    see = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."

    assert tables.refuse(pull(consumer_group="h")) == (24, f"the consumer's group info not exist{see}", None)
    assert tables.refuse(pull(topic="pay")) == (24, f"the consumer's subscription not exist{see}", None)


def test_4_9_points_to_the_older_page() -> None:
    _, remark, _ = Tables("4.9.7").refuse(pull(consumer_group="h"))

    assert remark.endswith("\nSee http://rocketmq.apache.org/docs/faq/ for further details.")


def test_a_group_that_may_not_be_created_is_refused_by_that_name() -> None:
    code, remark, _ = Tables(creates_groups=False).refuse(pull(consumer_group="h"))

    assert code == 26
    assert remark.startswith("subscription group [h] does not exist, \nSee ")


@pytest.mark.parametrize(
    ("version", "queue_id", "code"), [("5.5.0", 4, 29), ("5.5.0", -1, 29), ("5.3.1", 4, 1), ("4.9.7", 4, 1)]
)
def test_a_queue_that_is_not_there(version: str, queue_id: int, code: int) -> None:
    refused_code, remark, _ = Tables(version).refuse(pull(queue_id=queue_id))

    assert refused_code == code
    assert remark == (
        f"queueId[{queue_id}] is illegal, topic:[orders] topicConfig.readQueueNums:[4] consumer:[/10.0.0.1:5000]"
    )


def test_an_unknown_topic_comes_before_the_groups_members() -> None:
    code, remark, _ = Tables().refuse(pull(consumer_group="h", topic="nothing"))

    assert code == 17 and remark.startswith("topic[nothing] not exist, apply first please! ")


def test_everybody_who_can_forbid_a_pull() -> None:
    broker = Tables(is_readable=False)
    group = Tables()
    group.groups.put(SubscriptionGroupConfig(group_name="g", consume_enable=False))
    topic = Tables()
    topic.topics.put(TopicConfig(topic_name="orders", perm=2))
    broadcasting = Tables()
    broadcasting.groups.put(SubscriptionGroupConfig(group_name="g", consume_broadcast_enable=False))
    broadcasting.registry.register(presence(1), consumer(wants(version=5), model=MessageModel.BROADCASTING), 0)
    subscription = Tables()
    subscription.groups.forbid("g", "orders", is_forbidden=True)

    refusals = [tables.refuse(pull()) for tables in (broker, group, topic, broadcasting, subscription)]

    assert refusals == [
        (16, "the broker[127.0.0.1] pulling message is forbidden", "1"),
        (16, "subscription group no permission, g", "2"),
        (16, "the topic[orders] pulling message is forbidden", "3"),
        (16, "the consumer group[g] can not consume by broadcast way", "4"),
        (16, "the consumer group[g] is forbidden for topic[orders]", "5"),
    ]


def test_a_broadcasting_group_pulls_unless_that_is_forbidden() -> None:
    tables = Tables()
    tables.registry.register(presence(1), consumer(wants(version=5), model=MessageModel.BROADCASTING), 0)

    assert isinstance(tables.check(pull()), PullTerms)


def test_a_clustering_group_does_not_mind_that_broadcasting_is_forbidden() -> None:
    tables = Tables()
    tables.groups.put(SubscriptionGroupConfig(group_name="g", consume_broadcast_enable=False))

    assert isinstance(tables.check(pull()), PullTerms)


def test_lite_pulls_can_be_switched_off_by_themselves() -> None:
    request = pull()
    lite = LitePullMessage(**{field.name: getattr(request, field.name) for field in fields(request)})
    tables = Tables(allows_lite_pull=False)

    assert tables.refuse(lite) == (16, "the broker[127.0.0.1] for lite pull consumer is forbidden", "1")
    assert isinstance(tables.check(request), PullTerms)


def test_a_pull_that_carries_its_subscription_needs_no_members_and_is_remembered() -> None:
    tables = Tables()
    request = pull(consumer_group="h", sys_flag=PullFlag.SUBSCRIPTION, subscription="A || B", sub_version=99)

    terms = tables.check(request, at=7)

    assert isinstance(terms, PullTerms)
    assert terms.subscription.tags_set == ("A", "B")
    assert tables.registry.find_subscription("h", "orders") == terms.subscription
    assert tables.registry.find("h") is None


def test_before_5_1_a_carried_subscription_is_not_remembered() -> None:
    tables = Tables("5.0.0")

    tables.check(pull(consumer_group="h", sys_flag=PullFlag.SUBSCRIPTION, subscription="*"))

    assert tables.registry.find_subscription("h", "orders") is None


def test_a_carried_subscription_that_cannot_be_read() -> None:
    refused = Tables().refuse(pull(sys_flag=PullFlag.SUBSCRIPTION, subscription="||"))

    assert refused == (23, "parse the consumer's subscription failed", None)


def test_sql_is_refused_unless_the_broker_filters_by_property() -> None:
    request = pull(sys_flag=PullFlag.SUBSCRIPTION, subscription="a > 1", expression_type="SQL92")

    refused = Tables().refuse(request)

    assert refused == (1, "The broker does not support consumer to filter message by SQL92", None)
    assert isinstance(Tables(filters_by_property=True).check(request), PullTerms)


def test_where_pull_consumers_are_rejected_strangers_are_refused() -> None:
    tables = Tables(rejects_pull_consumers=True)
    carried = {"sys_flag": PullFlag.SUBSCRIPTION, "subscription": "*"}

    assert isinstance(tables.check(pull(**carried), channel=2), PullTerms)  # the group pushes
    assert tables.refuse(pull(consumer_group="h", **carried))[0] == 24
    assert isinstance(tables.check(pull(consumer_group="TOOLS_CONSUMER", **carried)), PullTerms)
    tables.registry.register(presence(1), consumer(wants(), kind=ConsumeType.CONSUME_ACTIVELY), 0)
    assert tables.refuse(pull(**carried), channel=2)[0] == 24
    assert isinstance(tables.check(pull(**carried), channel=1), PullTerms)
