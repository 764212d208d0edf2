import asyncio
from dataclasses import dataclass, field

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.events import ReceiptAnswer
from rebalance_engine.model import MessageModel
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.probe import MOST_NAMED, NobodyNotified, Obstacle, Probe, Prober, receipt, told_of
from rebalance_engine.remoting.bodies.clients import Connection, ConsumerConnection
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, SubscriptionGroupWrapper
from rebalance_engine.remoting.requests import brokers
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.membership import UnregisterClient
from tests.rebalance_engine.network.answers import Answer, Answering
from tests.rebalance_engine.network.virtual import run

EAST, WEST, NORTH = "east:10911", "west:10911", "north:10911"


@dataclass
class Cluster:
    """What its brokers answer; ``members`` by broker."""

    members: dict[str, str]
    is_known: bool = True
    model: MessageModel = MessageModel.CLUSTERING
    group_switch: bool = True
    settings: str | None = "notifyConsumerIdsChangedEnable=true\n"
    refusing: frozenset[str] = frozenset()
    away: frozenset[str] = frozenset()
    mute: frozenset[str] = frozenset()  # where notifying is concerned
    calls: Answering = field(init=False)

    def __post_init__(self) -> None:
        self.calls = Answering(self._answer)

    def _answer(self, address: str, request: Request[Response]) -> Answer:
        trouble = self._trouble(address, request)
        return self._said(address, request) if trouble is None else trouble

    def _trouble(self, address: str, request: Request[Response]) -> NoAnswer | None:
        if address in self.away:
            return NoAnswer(Failure.NOT_CONNECTED, address)
        is_mute = address in self.mute and isinstance(request, UnregisterClient)
        return NoAnswer(Failure.TIMEOUT, address) if is_mute else None

    def _said(self, address: str, request: Request[Response]) -> Answer:
        if isinstance(request, brokers.GetAllSubscriptionGroupConfig):
            config = SubscriptionGroupConfig(group_name="G", notify_consumer_ids_changed_enable=self.group_switch)
            table = {"G": config} if self.is_known else {}
            return brokers.GetAllSubscriptionGroupConfigResponse(
                body=SubscriptionGroupWrapper(subscription_group_table=table)
            )
        if isinstance(request, brokers.GetConsumerConnectionList):
            ids = self.members.get(address, "")
            if not ids:
                return Refused(code=206)
            connections = tuple(Connection(client_id=client) for client in ids)
            body = ConsumerConnection(connection_set=connections, message_model=self.model)
            return brokers.GetConsumerConnectionListResponse(body=body)
        if isinstance(request, brokers.GetBrokerConfig):
            return Refused(code=16) if self.settings is None else brokers.GetBrokerConfigResponse(body=self.settings)
        assert isinstance(request, UnregisterClient)
        return Refused(code=1, remark="no") if address in self.refusing else Response()

    @property
    def probed(self) -> list[str]:
        return [address for address, request in self.calls.asked if isinstance(request, UnregisterClient)]


async def probe(cluster: Cluster, *brokers_: str) -> Probe:
    admin = Admin(cluster.calls, "names:9876")
    try:
        return await Prober(admin).probe("G", brokers_)
    finally:
        await admin.close()


def test_one_broker_that_knows_all_members_is_enough() -> None:
    cluster = Cluster({EAST: "AB", WEST: "ABC"})

    assert run(probe(cluster, EAST, WEST)) == Probe({WEST: frozenset("ABC")})
    assert cluster.probed == [WEST]


def test_as_many_brokers_are_probed_as_reach_everybody() -> None:
    cluster = Cluster({EAST: "ABC", WEST: "CD"})

    assert run(probe(cluster, EAST, WEST)) == Probe({EAST: frozenset("ABC"), WEST: frozenset("CD")})


def test_what_was_notified_before_a_broker_refused_is_told() -> None:
    both = {EAST: "ABC", WEST: "CD"}

    told = run(probe(Cluster(both, refusing=frozenset({WEST})), EAST, WEST))

    assert told.notified == {EAST: frozenset("ABC")}
    assert WEST in told.trouble
    with pytest.raises(NobodyNotified, match=f"{EAST} refused .*; {WEST} refused"):
        run(probe(Cluster(both, refusing=frozenset({EAST, WEST})), EAST, WEST))


def test_a_broker_that_refuses_does_not_keep_others_from_being_asked() -> None:
    told = run(probe(Cluster({EAST: "ABC", WEST: "BCD"}, refusing=frozenset({EAST})), EAST, WEST))

    assert (told.notified, told.perhaps) == ({WEST: frozenset("BCD")}, frozenset())
    assert EAST in told.trouble


def test_brokers_that_answer_are_asked_while_another_one_is_away_and_it_is_told_who_was_left_out() -> None:
    cluster = Cluster({EAST: "AB", WEST: "AB", NORTH: "AB"}, away=frozenset({WEST}))

    told = run(probe(cluster, EAST, WEST, NORTH))

    assert (told.notified, cluster.probed) == ({EAST: frozenset("AB")}, [EAST])
    assert told_of(told) == f"{EAST} notified 2 members; left out: {WEST}: the connection could not be made"


def test_who_is_nobodys_member_at_brokers_that_answer_may_be_one_at_a_broker_that_is_away() -> None:
    with pytest.raises(NobodyNotified, match=f"^{WEST}: the connection could not be made$"):
        run(probe(Cluster({WEST: "AB"}, away=frozenset({WEST})), EAST, WEST))


def test_whether_members_of_a_broker_that_did_not_answer_were_notified_is_unknown() -> None:
    told = run(probe(Cluster({EAST: "ABC", WEST: "CD"}, mute=frozenset({EAST})), EAST, WEST))

    assert (told.reached, told.perhaps) == (frozenset("CD"), frozenset("ABC"))
    assert [told.is_told_of(client) for client in "ABCD"] == [False, False, True, True]
    assert receipt(False, "12", "12", is_told=False) is ReceiptAnswer.UNKNOWN
    with pytest.raises(NoAnswer):
        run(probe(Cluster({EAST: "ABC"}, mute=frozenset({EAST})), EAST))


def test_settings_that_may_not_be_read_are_no_obstacle() -> None:
    assert run(probe(Cluster({EAST: "A"}, settings=None), EAST)) == Probe({EAST: frozenset("A")})


@pytest.mark.parametrize(
    ("cluster", "obstacle"),
    [
        (Cluster({EAST: "A"}, is_known=False), Obstacle.UNKNOWN_GROUP),
        (Cluster({}), Obstacle.NOBODY_ONLINE),
        (Cluster({EAST: "A"}, model=MessageModel.BROADCASTING), Obstacle.BROADCASTING),
        (Cluster({EAST: "A"}, group_switch=False), Obstacle.SWITCHED_OFF),
        (Cluster({EAST: "A"}, settings="notifyConsumerIdsChangedEnable=false\n"), Obstacle.SWITCHED_OFF),
    ],
)
def test_where_it_would_not_help_or_do_harm_nothing_is_sent(cluster: Cluster, obstacle: Obstacle) -> None:
    assert run(probe(cluster, EAST)) == Probe({}, obstacle)
    assert cluster.probed == []


def test_a_group_is_probed_once_in_five_seconds_whoever_asks() -> None:
    async def main() -> None:
        cluster = Cluster({EAST: "A"})
        admin = Admin(cluster.calls, "names:9876")
        prober = Prober(admin)
        probes = await asyncio.gather(*(prober.probe("G", [EAST]) for _ in range(3)))
        assert [one.obstacle for one in probes] == [None, Obstacle.TOO_SOON, Obstacle.TOO_SOON]
        await asyncio.sleep(5)
        assert (await prober.probe("G", [EAST])).obstacle is None
        assert cluster.probed == [EAST, EAST]
        await admin.close()

    run(main())


def test_what_stands_in_the_way_comes_before_that_it_is_too_soon() -> None:
    async def main() -> None:
        cluster = Cluster({EAST: "A"})
        admin = Admin(cluster.calls, "names:9876")
        prober = Prober(admin)
        await prober.probe("G", [EAST])
        cluster.model = MessageModel.BROADCASTING
        assert (await prober.probe("G", [EAST])).obstacle is Obstacle.BROADCASTING
        await admin.close()

    run(main())


@pytest.mark.parametrize(("may", "obstacle", "probed"), [(True, None, [EAST]), (False, Obstacle.TOO_SOON, [])])
def test_others_who_probe_are_asked_last_and_before_the_first_notice(
    may: bool, obstacle: Obstacle | None, probed: list[str]
) -> None:
    async def main() -> None:
        cluster, claims = Cluster({EAST: "A"}), list[tuple[int, int]]()

        def claim() -> bool:
            claims.append((len(cluster.calls.asked), len(cluster.probed)))
            return may

        admin = Admin(cluster.calls, "names:9876")
        assert (await Prober(admin).probe("G", [EAST], claim=claim)).obstacle is obstacle
        assert (claims, cluster.probed) == ([(3, 0)], probed)
        cluster.members = {}
        assert (await Prober(admin).probe("G", [EAST], claim=claim)).obstacle is Obstacle.NOBODY_ONLINE
        assert len(claims) == 1
        await admin.close()

    run(main())


@pytest.mark.parametrize(
    ("probe_", "words"),
    [
        (Probe({EAST: frozenset("A")}), "east:10911 notified 1 member"),
        (
            Probe({WEST: frozenset("CD"), EAST: frozenset("ABC")}),
            "2 brokers notified 4 members; east:10911 notified 3 members; west:10911 notified 2 members",
        ),
        (Probe({EAST: frozenset("AB")}, trouble="west refuses"), "east:10911 notified 2 members; west refuses"),
        (Probe({}, Obstacle.TOO_SOON), ""),
    ],
)
def test_it_is_told_which_broker_notified_how_many(probe_: Probe, words: str) -> None:
    assert told_of(probe_) == words


def test_of_many_brokers_some_are_named_and_all_are_counted() -> None:
    told = told_of(Probe({f"e{number:02}:1": frozenset({f"A{number}"}) for number in range(30)}))

    assert told.startswith("30 brokers notified 30 members; e00:1 notified 1 member; ")
    assert told.count("; ") == MOST_NAMED


def test_who_was_not_probed_may_be_at_once() -> None:
    async def main() -> None:
        cluster = Cluster({})
        admin = Admin(cluster.calls, "names:9876")
        prober = Prober(admin)
        await prober.probe("G", [EAST])
        cluster.members = {EAST: "A"}
        assert (await prober.probe("G", [EAST])).obstacle is None
        await admin.close()

    run(main())


@pytest.mark.parametrize(
    ("is_reached", "before", "after", "answer"),
    [
        (False, "12", "13", ReceiptAnswer.NOT_ASKED),
        (True, None, "1", ReceiptAnswer.UNKNOWN),
        (True, "1", None, ReceiptAnswer.UNKNOWN),
        (True, "12", "21", ReceiptAnswer.UNCHANGED),
        (True, "12", "13", ReceiptAnswer.CHANGED),
        (True, "", "1", ReceiptAnswer.CHANGED),
    ],
)
def test_a_receipt_says_what_can_be_known_of_a_member(
    is_reached: bool, before: str | None, after: str | None, answer: ReceiptAnswer
) -> None:
    assert receipt(is_reached, before, after) is answer
