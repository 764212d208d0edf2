import logging
from typing import cast

import pytest

from rebalance_engine.consumer import GroupSettings, Mode
from rebalance_engine.effects import Address, Failure
from rebalance_engine.events import Fact, QueueDropped
from rebalance_engine.network import Consumer, Sql, SubscriptionRefused
from rebalance_engine.network.filters import check_filters
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.nameservers import NameServers
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.bodies.routes import BrokerData, TopicRouteData
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import CheckClientConfig
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopicResponse
from tests.rebalance_engine.network.clusters import QUICK, cluster, divided
from tests.rebalance_engine.network.loop import on_a_loop

SQL = Sql("weight > 5")
ROUTE = GetRouteInfoByTopicResponse(
    body=TopicRouteData(broker_datas=(BrokerData(broker_name="east", broker_addrs={0: "east:10911"}),))
)


class Answering:
    """A transport that answers what it is told to."""

    def __init__(self, **answers: object) -> None:
        self.asked: list[tuple[Address, type]] = []
        self._answers = answers

    async def request(self, address: Address, request: object) -> object:
        self.asked.append((address, type(request)))
        answer = self._answers[address.partition(":")[0]]
        if isinstance(answer, Exception):
            raise answer
        return answer


async def check(transport: Answering, expression: str = SQL) -> None:
    settings = GroupSettings(group="G", topics={"orders": expression}, mode=Mode.PUSH)
    await check_filters(cast("Transport", transport), NameServers("names:1;more:1"), "A", settings)


@on_a_loop
async def test_tags_are_understood_by_all_and_nobody_is_asked() -> None:
    transport = Answering()
    await check(transport, "a || b")

    assert transport.asked == []


@on_a_loop
async def test_a_broker_of_the_topic_is_asked_and_refuses_in_its_words() -> None:
    transport = Answering(
        names=NoAnswer(Failure.TIMEOUT, "names:1"), more=ROUTE, east=Refused(code=1, remark="no property filters")
    )
    with pytest.raises(SubscriptionRefused, match=r"east:10911 refused .*'weight > 5' of 'orders': no property"):
        await check(transport)

    assert transport.asked[-1] == ("east:10911", CheckClientConfig)


@pytest.mark.parametrize(
    "answers",
    [
        {"names": ROUTE, "east": Response()},
        {"names": ROUTE, "east": NoAnswer(Failure.TIMEOUT, "east:10911")},
        {"names": ROUTE, "east": BrokenContent("nonsense")},
        {"names": Refused(code=17)},
        {"names": GetRouteInfoByTopicResponse(body=TopicRouteData())},
        {"names": NoAnswer(Failure.TIMEOUT, "names:1"), "more": NoAnswer(Failure.TIMEOUT, "more:1")},
    ],
)
def test_whoever_cannot_be_asked_refuses_nothing(answers: dict[str, object], caplog: pytest.LogCaptureFixture) -> None:
    @on_a_loop
    async def main() -> None:
        await check(Answering(**answers))

    with caplog.at_level(logging.WARNING):
        main()
    is_unknown = any(isinstance(answer, Exception) for answer in answers.values())
    assert ("is understood is not known" in caplog.text) is is_unknown


@on_a_loop
async def test_who_is_refused_never_joins_the_group() -> None:
    told: list[Fact] = []
    async with (
        cluster() as east,
        Consumer(east.namesrv, "G", "orders", version=QUICK, on_fact=told.append) as member,
    ):
        await divided(4, member)
        with pytest.raises(SubscriptionRefused, match="'weight > 5' of 'orders'"):
            await Consumer(east.namesrv, "G", {"orders": SQL}, version=QUICK, instance="other").start()

        assert east.broker("broker-a").machine.membership.registry.clients("G") == (member.client_id,)
        assert not any(isinstance(fact, QueueDropped) for fact in told)
