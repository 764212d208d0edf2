import pytest

from rebalance_engine.membership.configs import GroupConfigs, TopicConfigs
from rebalance_engine.membership.heartbeats import Heartbeats, Tables
from rebalance_engine.membership.producers import ProducerTable
from rebalance_engine.membership.registry import Registry
from rebalance_engine.remoting.bodies.clients import ConsumerData, ConsumeType, HeartbeatData, ProducerData
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig
from tests.rebalance_engine.membership.examples import consumer, peer, policy, wants


class Desk:
    """Heartbeats into empty tables."""

    def __init__(self, version: str = "5.5.0", **settings: object) -> None:
        rules = policy(version, **settings)
        producers = ProducerTable(forgets_empty_groups=True)
        self.tables = Tables(GroupConfigs(rules), TopicConfigs(rules), Registry(), producers)
        self._heartbeats = Heartbeats(rules, self.tables)

    def hear(
        self, *consumers: ConsumerData, channel: int = 1, fingerprint: int = 0, without_sub: bool = False, at: int = 0
    ) -> tuple[bool | None, list[tuple[str, bool]]]:
        data = HeartbeatData(
            client_id="A",
            producer_data_set=(ProducerData(group_name="p"),),
            consumer_data_set=consumers,
            heartbeat_fingerprint=fingerprint,
            without_sub=without_sub,
        )
        response, entered = self._heartbeats.hear(peer(channel), data, at)
        assert response.is_support_heart_beat_v2 in {True, None}
        return response.is_sub_change, [(one.update.group, one.group_switch) for one in entered]


def test_every_consumer_and_producer_of_the_client_is_entered() -> None:
    desk = Desk()

    _, entered = desk.hear(consumer(wants(), group="g"), consumer(wants(), group="h"))

    assert entered == [("g", True), ("h", True)]
    assert desk.tables.producers.members() == {"p": (1,)}
    assert list(desk.tables.topics.all()) == ["%RETRY%g", "%RETRY%h"]


def test_the_groups_switch_goes_along() -> None:
    desk = Desk()
    desk.tables.groups.put(SubscriptionGroupConfig(group_name="g", notify_consumer_ids_changed_enable=False))

    assert desk.hear(consumer(wants()))[1] == [("g", False)]


@pytest.mark.parametrize(("version", "is_entered"), [("5.5.0", False), ("5.1.1", False), ("5.1.0", True)])
def test_a_group_without_configuration(version: str, *, is_entered: bool) -> None:
    desk = Desk(version, creates_groups=False)

    _, entered = desk.hear(consumer(wants()))

    assert entered == ([("g", True)] if is_entered else [])
    assert (desk.tables.registry.find("g") is not None) is is_entered
    assert desk.tables.topics.all() == {}
    assert desk.tables.producers.members() == {"p": (1,)}


def test_pull_consumers_are_left_out_where_they_are_rejected() -> None:
    desk = Desk(rejects_pull_consumers=True)
    pulls = consumer(wants(), group="h", kind=ConsumeType.CONSUME_ACTIVELY)

    assert desk.hear(consumer(wants()), pulls)[1] == [("g", True)]


@pytest.mark.parametrize(("version", "answer"), [("4.9.7", None), ("5.1.2", None), ("5.1.3", True)])
def test_a_heartbeat_of_the_first_version_always_counts_as_changed(version: str, *, answer: bool | None) -> None:
    desk = Desk(version)

    assert [desk.hear(consumer(wants()))[0] for _ in range(2)] == [answer, answer]


def test_a_fingerprint_counts_as_changed_when_the_group_had_another() -> None:
    desk = Desk()

    answers = [desk.hear(consumer(wants()), fingerprint=number)[0] for number in (7, 7, 8, 7)]

    assert answers == [False, False, True, True]


def test_the_first_version_leaves_0_as_the_fingerprint() -> None:
    desk = Desk()
    desk.hear(consumer(wants()))

    assert desk.hear(consumer(wants()), fingerprint=7)[0] is True


def test_what_is_left_out_stays_only_where_the_second_version_is_known_and_meant() -> None:
    new, old, unmeant = Desk(), Desk("5.1.2"), Desk()
    for desk in (new, old, unmeant):
        desk.hear(consumer(wants()), fingerprint=7)

    new.hear(consumer(), fingerprint=7, without_sub=True)
    old.hear(consumer(), fingerprint=7, without_sub=True)
    unmeant.hear(consumer(), fingerprint=0, without_sub=True)

    kept = [desk.tables.registry.find_subscription("g", "orders") for desk in (new, old, unmeant)]
    assert kept == [wants(), None, None]


def test_an_order_topic_among_the_subscriptions_orders_the_retry_topic() -> None:
    desk = Desk()
    desk.hear(consumer(wants("orders")))
    config = desk.tables.topics.find("%RETRY%g")
    assert config is not None and not config.order
