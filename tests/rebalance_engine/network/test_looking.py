import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar, cast

from rebalance_engine.effects import Address, Failure
from rebalance_engine.embedded.cluster import Cluster, ClusterSettings
from rebalance_engine.events import AnswerMissed, HeldSeen, MemberListSeen, Missing, RouteSeen
from rebalance_engine.findings import find_faults
from rebalance_engine.model import MessageQueue
from rebalance_engine.network import Consumer, Producer
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.looking import look_at_group
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.acl import Credentials
from rebalance_engine.remoting.bodies.clients import Connection, ConsumerConnection, SubscriptionData
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo, ProcessQueueInfo
from rebalance_engine.remoting.bodies.routes import BrokerData, ClusterInfo
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.requests.brokers import (
    GetConsumerConnectionList,
    GetConsumerConnectionListResponse,
    GetConsumeStats,
)
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo, GetConsumerRunningInfoResponse
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.nameserver import GetBrokerClusterInfo, GetBrokerClusterInfoResponse
from tests.rebalance_engine.network.clusters import QUICK, cluster, divided, put, until
from tests.rebalance_engine.network.ghosts import ghost
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.virtual import run

R = TypeVar("R", bound=Response)
IDLE = ConsumerRunningInfo(subscription_set=(SubscriptionData(topic="orders"),))
SHORT_S = 1.0  # a silent client is given up after it


@asynccontextmanager
async def admin_of(names: str, settings: NetworkSettings | None = None) -> AsyncIterator[Admin]:
    async with Transport(settings) as transport:
        admin = Admin(transport, names)
        try:
            yield admin
        finally:
            await admin.close()


def consumer(east: Cluster, name: str, strategy: str = "AVG") -> Consumer:
    return Consumer(east.namesrv, "G", ["orders"], instance=name, version=QUICK, strategy=strategy)


@on_a_loop
async def test_a_look_shows_who_holds_what_and_what_waits() -> None:
    async with cluster(2, orders=2) as east, AsyncExitStack() as stack, admin_of(east.namesrv) as admin:
        first, second = [await stack.enter_async_context(consumer(east, name)) for name in "AB"]
        await divided(4, first, second)
        producer = await stack.enter_async_context(Producer(east.namesrv))
        await put(producer, range(8))

        look = await look_at_group(admin, "G")

    assert [member.client_id for member in look.members] == ["127.0.0.1@A", "127.0.0.1@B"]
    assert [member.held for member in look.members] == [first_held(look, 0), first_held(look, 1)]
    assert look.view.held is not None
    assert not len(look.view.held.unowned())
    assert look.view.everybody_answered
    assert find_faults(look.view) == ()
    assert [member.strategy for member in look.members] == ["AVG", "AVG"]
    assert set(look.members[0].connections) == {"broker-a", "broker-b"}
    assert not list(look.disagreements())
    assert not list(look.troubles())
    assert look.config is not None
    assert look.cluster == "DefaultCluster"
    kinds = [type(fact) for fact in look.facts()]
    assert (kinds.count(HeldSeen), kinds.count(MemberListSeen), kinds.count(RouteSeen)) == (2, 2, 2)


def first_held(look: object, number: int) -> tuple[MessageQueue, ...]:
    name = ("broker-a", "broker-b")[number]
    assert look is not None
    return tuple(MessageQueue(topic, name, n) for topic, size in (("%RETRY%G", 1), ("orders", 2)) for n in range(size))


@on_a_loop
async def test_what_waits_is_unknown_where_nothing_was_ever_committed() -> None:
    async with (
        cluster(orders=1) as east,
        admin_of(east.namesrv) as admin,
        Producer(east.namesrv) as producer,
        ghost(east.broker("broker-a").address),
    ):
        await put(producer, range(3))
        look = await look_at_group(admin, "G", deadline_s=SHORT_S)

    assert look.lag[MessageQueue("orders", "broker-a", 0)] is None
    assert look.never_stored == {MessageQueue(topic, "broker-a", 0) for topic in ("orders", "%RETRY%G")}


@on_a_loop
async def test_brokers_that_do_not_say_how_far_a_group_is_are_named() -> None:
    class Deaf(Transport):
        async def request(self, address: Address, request: Request[R], *rest: int, **more: int) -> R | Refused:
            if isinstance(request, GetConsumeStats):
                raise NoAnswer(Failure.TIMEOUT, address)
            return await super().request(address, request, *rest, **more)

    async with cluster(orders=1) as east, Deaf() as deaf:
        broker = east.broker("broker-a").address
        look = await look_at_group(Admin(deaf, east.namesrv), "G", deadline_s=SHORT_S)

    assert [(one.by.code, one.by.broker, one.why) for one in look.troubles()] == [
        (RequestCode.GET_CONSUME_STATS, "broker-a", f"{broker}: no answer in time")
    ]
    assert look.never_stored == frozenset()


@on_a_loop
async def test_what_a_silent_member_holds_is_unknown_and_no_queue_is_called_an_orphan() -> None:
    async with (
        cluster(orders=4) as east,
        admin_of(east.namesrv) as admin,
        consumer(east, "A") as first,
        ghost(east.broker("broker-a").address, client="127.0.0.1@silent"),
    ):
        await until(lambda: len(first.held) == 2)  # it gives up what the silent one should have
        look = await look_at_group(admin, "G", deadline_s=SHORT_S)
        again = await look_at_group(admin, "G", deadline_s=SHORT_S)

    silent = look.members[1]
    assert silent.held is None
    assert look.view.silent == {"127.0.0.1@silent"}
    assert find_faults(look.view) == ()
    [missed] = [fact for fact in look.facts() if isinstance(fact, AnswerMissed)]
    assert (missed.missing, missed.client) == (Missing.TIMEOUT, "127.0.0.1@silent")
    assert again.members[0].held is not None
    assert again.members[1].held is None


@on_a_loop
async def test_a_member_that_died_is_gone_and_its_queues_are_held_again() -> None:
    async with cluster(orders=4) as east, admin_of(east.namesrv) as admin, consumer(east, "A") as first:
        async with ghost(east.broker("broker-a").address, client="127.0.0.1@dies"):
            await until(lambda: len(first.held) == 2)
        await until(lambda: len(first.held) == 4)

        look = await look_at_group(admin, "G")

    assert [member.client_id for member in look.members] == ["127.0.0.1@A"]
    assert look.view.everybody_answered


@on_a_loop
async def test_a_broker_that_cannot_be_reached_is_missing_not_empty() -> None:
    async with cluster(2, orders=2) as east, admin_of(east.namesrv) as admin, consumer(east, "A") as first:
        await until(lambda: len(first.held) == 4)
        await east.broker("broker-b").kill(keeps_route=True)
        look = await look_at_group(admin, "G", deadline_s=SHORT_S)

    assert look.lists["broker-b"].trouble is not None
    assert look.members[0].held is not None  # asked by the other broker
    assert list(look.disagreements()) == []
    missed = [fact.broker for fact in look.facts() if isinstance(fact, AnswerMissed)]
    assert set(missed) == {"broker-b"}


@on_a_loop
async def test_members_that_one_broker_lacks_are_told() -> None:
    async with cluster(2) as east, admin_of(east.namesrv) as admin, ghost(east.broker("broker-b").address):
        look = await look_at_group(admin, "G", deadline_s=SHORT_S)

    assert list(look.disagreements()) == ["ghost is known to broker-b and not to broker-a"]


@on_a_loop
async def test_a_group_that_nobody_has_is_told_from_one_that_nobody_could_answer_for() -> None:
    async with cluster() as east, admin_of(east.namesrv) as admin:
        nowhere = await look_at_group(admin, "nope")
        await east.broker("broker-a").kill(keeps_route=True)
        unknown = await look_at_group(admin, "nope", deadline_s=SHORT_S)
    async with admin_of("127.0.0.1:1") as admin:
        nobody = await look_at_group(admin, "nope", deadline_s=SHORT_S)

    assert [look.is_known for look in (nowhere, unknown, nobody)] == [False, None, None]
    assert nobody.cluster is None


@on_a_loop
async def test_a_refusal_by_acl_is_told_as_one() -> None:
    keys = Credentials(access_key="shop", secret_key="12345678")  # noqa: S106  # of a test
    async with Cluster(ClusterSettings(acl=keys)) as east:
        async with admin_of(east.namesrv) as admin:
            refused = await look_at_group(admin, "G")
        async with admin_of(east.namesrv, NetworkSettings(acl=keys)) as admin:
            granted = await look_at_group(admin, "G")

    assert {fact.missing for fact in refused.facts() if isinstance(fact, AnswerMissed)} == {Missing.NO_PERMISSION}
    assert granted.is_known is False


class Shop:
    """One broker and eight members, who answer 307 at once; for the first two the broker waits 10 s, as it does."""

    names = "ABCDEFGH"

    async def request(self, _address: Address, request: Request[R], _timeout_ms: int, /) -> R | Refused:
        return cast("R | Refused", await self._answer(request))

    async def _answer(self, request: object) -> Response:
        if isinstance(request, GetBrokerClusterInfo):
            brokers = {"east": BrokerData(cluster="shop", broker_name="east", broker_addrs={0: "east:1"})}
            return GetBrokerClusterInfoResponse(body=ClusterInfo(broker_addr_table=brokers))
        if isinstance(request, GetConsumerConnectionList):
            members = tuple(Connection(client_id=name, client_addr="10.0.0.9:1") for name in self.names)
            return GetConsumerConnectionListResponse(body=ConsumerConnection(connection_set=members))
        if isinstance(request, GetConsumerRunningInfo) and request.client_id in self.names[:2]:
            await asyncio.sleep(10)
            return Refused(code=ResponseCode.CONSUME_MSG_TIMEOUT)
        if isinstance(request, GetConsumerRunningInfo):
            return GetConsumerRunningInfoResponse(body=IDLE)
        return Refused(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED)


def test_a_first_look_has_time_for_the_others_after_two_who_hang_and_the_next_one_knows_who_does() -> None:
    async def main() -> None:
        admin = Admin(Shop(), "names:9876")
        first, second = await look_at_group(admin, "G", lag=False), await look_at_group(admin, "G", lag=False)
        await admin.close()

        for look in (first, second):
            assert [member.client_id for member in look.members if member.held is None] == ["A", "B"]
        assert second.ended_at - second.began_at < 10_000  # virtual

    run(main())


@on_a_loop
async def test_queues_that_no_route_has_and_answers_that_make_no_sense_do_no_harm() -> None:
    stray, odd = MessageQueue("gone", "broker-a", 0), MessageQueue("orders", "broker-a", -9)
    said = iter([stray, odd])

    def says() -> ConsumerRunningInfo:
        return ConsumerRunningInfo(mq_table={next(said): ProcessQueueInfo()})

    async with (
        cluster() as east,
        admin_of(east.namesrv) as admin,
        ghost(east.broker("broker-a").address, says=says),
    ):
        first = await look_at_group(admin, "G")
        second = await look_at_group(admin, "G")

    assert first.view.strays == (("ghost", stray),)
    assert second.members[0].held is None
    assert "which no queue can be" in second.members[0].running.why
    assert {fact.missing for fact in second.facts() if isinstance(fact, AnswerMissed)} == {Missing.ERROR}


@on_a_loop
async def test_an_id_that_is_registered_twice_counts_twice() -> None:
    async with cluster() as east, admin_of(east.namesrv) as admin, AsyncExitStack() as stack:
        address = east.broker("broker-a").address
        for _ in range(2):
            await stack.enter_async_context(ghost(address, says=lambda: IDLE))
        await asyncio.sleep(0)
        look = await look_at_group(admin, "G")

    assert look.members[0].registrations == 2
    assert len(look.view.clients) == 2
    assert look.view.silent == {"ghost"}  # a broker asks one of them
    assert find_faults(look.view) == ()
