import pytest

from rebalance_engine.membership.answers import SUPPORTED_SINCE, Answers, refuse_unsupported
from rebalance_engine.membership.configs import GroupConfigs, TopicConfigs
from rebalance_engine.membership.heartbeats import Tables
from rebalance_engine.membership.modes import RequestModes
from rebalance_engine.membership.offsets import OffsetTable
from rebalance_engine.membership.producers import ProducerTable
from rebalance_engine.membership.registry import Registry
from rebalance_engine.remoting.bodies.clients import CheckClientRequestBody, Connection, ConsumerConnection
from rebalance_engine.remoting.requests.brokers import (
    GetAllConsumerOffset,
    GetAllProducerInfo,
    GetAllSubscriptionGroupConfig,
    GetConsumerConnectionList,
    GetProducerConnectionList,
    GetSubscriptionGroupConfig,
    QueryTopicConsumeByWho,
    QueryTopicsByConsumer,
)
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.membership import CheckClientConfig, GetConsumerListByGroup
from tests.rebalance_engine.membership.examples import consumer, policy, presence, wants


class Desk:
    """A broker whose group g has members A and B, and whose producer group p has A."""

    def __init__(self, version: str = "5.5.0", **settings: object) -> None:
        rules = policy(version, **settings)
        self.tables = Tables(
            GroupConfigs(rules), TopicConfigs(rules), Registry(), ProducerTable(forgets_empty_groups=True)
        )
        self.offsets = OffsetTable(rules)
        self._answers = Answers(rules, self.tables, self.offsets, RequestModes(rules))
        self.tables.registry.register(presence(1, "A"), consumer(wants()), 0)
        self.tables.registry.register(presence(2, "B"), consumer(wants()), 0)
        self.tables.producers.register("p", presence(1, "A"), 0)

    def ask(self, request: Request) -> Response:
        assert self._answers.knows(request)
        return self._answers.answer(request)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_the_client_list_has_every_channels_id(desk: Desk) -> None:
    response = desk.ask(GetConsumerListByGroup(consumer_group="g"))

    assert response.body.consumer_id_list == ("A", "B")  # type: ignore[attr-defined]  # the answer to 38


@pytest.mark.parametrize(
    ("request_", "code", "remark"),
    [
        (GetConsumerListByGroup(consumer_group="none"), 1, "no consumer for this group, none"),
        (GetConsumerConnectionList(consumer_group="none"), 206, "the consumer group[none] not online"),
        (GetProducerConnectionList(producer_group="none"), 1, "the producer group[none] not exist"),
        (GetSubscriptionGroupConfig(group="bad!"), 26, "No group in this broker"),
    ],
)
def test_whom_nobody_knows_is_refused(desk: Desk, request_: Request, code: int, remark: str) -> None:
    assert desk.ask(request_) == Refused(code=code, remark=remark)


def test_the_connection_list_has_members_subscriptions_and_attributes(desk: Desk) -> None:
    body = desk.ask(GetConsumerConnectionList(consumer_group="g")).body  # type: ignore[attr-defined]  # 203

    assert isinstance(body, ConsumerConnection)
    assert body.connection_set[0] == Connection(client_id="A", client_addr="10.0.0.1:5000")
    assert body.subscription_table == {"orders": wants()}
    assert body.message_model is not None and body.consume_from_where is not None


def test_producers_are_listed_by_group_and_all_together(desk: Desk) -> None:
    one = desk.ask(GetProducerConnectionList(producer_group="p")).body  # type: ignore[attr-defined]  # 204
    every = desk.ask(GetAllProducerInfo()).body  # type: ignore[attr-defined]  # 328

    assert [connection.client_id for connection in one.connection_set] == ["A"]
    assert [(group, [info.client_id for info in infos]) for group, infos in every.data.items()] == [("p", ["A"])]


def test_who_consumes_is_who_is_online_and_who_ever_committed(desk: Desk) -> None:
    desk.offsets.commit("h", "orders", 0, 1)
    desk.offsets.commit("g", "orders", 0, 1)

    groups = desk.ask(QueryTopicConsumeByWho(topic="orders")).body.group_list  # type: ignore[attr-defined]  # 300
    topics = desk.ask(QueryTopicsByConsumer(group="h")).body.topic_list  # type: ignore[attr-defined]  # 343

    assert (groups, topics) == (("g", "h"), ("orders",))


def test_offsets_and_groups_are_listed(desk: Desk) -> None:
    desk.offsets.commit("g", "orders", 0, 7)
    desk.tables.groups.find_or_create("g")
    desk.tables.groups.forbid("g", "pay", is_forbidden=True)

    offsets = desk.ask(GetAllConsumerOffset()).body  # type: ignore[attr-defined]  # 43
    groups = desk.ask(GetAllSubscriptionGroupConfig()).body  # type: ignore[attr-defined]  # 201

    assert offsets.offset_table == {"orders@g": {0: 7}}
    assert "g" in groups.subscription_group_table and groups.forbidden_table == {"g": {"pay": 4}}


def test_to_ask_after_a_group_creates_it(desk: Desk) -> None:
    desk.ask(GetSubscriptionGroupConfig(group="new"))

    assert desk.tables.groups.find("new") is not None


def test_filters_are_checked(desk: Desk) -> None:
    body = CheckClientRequestBody(client_id="A", group="g", subscription_data=wants(kind="SQL92"))

    assert desk.ask(CheckClientConfig(body=body)).code == 1


@pytest.mark.parametrize("kind", SUPPORTED_SINCE)
def test_a_request_is_not_supported_before_its_release(kind: type[Request]) -> None:
    request = object.__new__(kind)  # whatever it asks
    code = int(kind.CODE)

    assert refuse_unsupported(request, policy("4.9.3")) == Refused(code=3, remark=f" request type {code} not supported")
    assert refuse_unsupported(request, policy("5.5.0")) is None
