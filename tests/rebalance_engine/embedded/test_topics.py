import pytest

from rebalance_engine.embedded import topics
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.remoting.bodies.settings import TopicConfig
from tests.rebalance_engine.membership.conversations import recording

OLD = EmbeddedSettings(membership=BrokerSettings(version="4.9.7"))
NEW = EmbeddedSettings()
MADE_BY_US = {"orders", "pay", "%RETRY%g_orders", "%RETRY%g_pay"}
FOR_ROCKSDB = {"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"}  # another store


@pytest.mark.parametrize("settings", [OLD, NEW], ids=["4.9.7", "5.5.0"])
def test_own_topics_are_those_of_the_real_broker(settings: EmbeddedSettings) -> None:
    recorded = recording(settings.membership.version, 25976).topics().body.topic_config_table

    own = {config.topic_name: config for config in topics.own_topics(settings)}

    assert own == {name: config for name, config in recorded.items() if name not in MADE_BY_US | FOR_ROCKSDB}


def test_a_broker_that_makes_no_topics_has_no_model_for_them() -> None:
    own = topics.own_topics(EmbeddedSettings(creates_topics=False))

    assert "TBW102" not in {config.topic_name for config in own}


@pytest.mark.parametrize("topic", ["orders", "%RETRY%G", "a|b-c_D9", "%DLQ%" + "x" * 250])
def test_legal_names(topic: str) -> None:
    assert topics.why_illegal(topic) is None


@pytest.mark.parametrize(
    ("topic", "why"),
    [(" ", "blank"), ("a b", "illegal characters"), ("x" * 128, "127"), ("%RETRY%" + "x" * 250, "255")],
)
def test_illegal_names(topic: str, why: str) -> None:
    assert why in (topics.why_illegal(topic) or "")


def test_a_topic_inherits_the_fewer_queues_and_the_permission() -> None:
    default = next(config for config in topics.own_topics(NEW) if config.topic_name == "TBW102")

    made = topics.inherit(NEW, "orders", default, 4)

    assert made == topics.make(NEW, "orders", 4)
    assert topics.inherit(NEW, "orders", default, 99) == topics.make(NEW, "orders", 8)


def test_a_topic_that_is_no_model_is_not_inherited_from() -> None:
    assert topics.inherit(NEW, "orders", topics.make(NEW, "BenchmarkTest", 4), 4) is None
    assert topics.inherit(NEW, "orders", None, 4) is None


def test_a_broker_takes_its_permissions_from_its_topics() -> None:
    topic = topics.make(NEW, "orders", 4)

    assert [topics.with_permission(topic, permission).perm for permission in (6, 4, 2, 0)] == [6, 4, 2, 0]


def test_which_topics_are_rocketmqs_own() -> None:
    assert [topics.is_system_topic(topic) for topic in ("TBW102", "rmq_sys_x", "orders")] == [True, True, False]
    assert topics.dead_letter_topic("G") == "%DLQ%G"


@pytest.mark.parametrize(
    ("has_attributes", "perm", "end"),
    [(True, "RW-", ", attributes={}]"), (False, "RW-", "]"), (True, "-WX", ", attributes={}]")],
)
def test_a_topic_is_shown_in_the_words_of_the_broker(has_attributes: bool, perm: str, end: str) -> None:
    number = {"RW-": 6, "-WX": 3}[perm]
    config = TopicConfig(topic_name="orders", read_queue_nums=4, write_queue_nums=4, perm=number)

    assert topics.shown(config, has_attributes=has_attributes) == (
        "TopicConfig [topicName=orders, readQueueNums=4, writeQueueNums=4, "
        f"perm={perm}, topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false{end}"
    )
