from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.allocation import allocate
from rebalance_engine.assignment import EVERY_QUEUE, answer, assignment
from rebalance_engine.effects import Opened, Received
from rebalance_engine.membership.machine import Broker
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData
from rebalance_engine.remoting.bodies.queues import QueryAssignmentRequestBody
from rebalance_engine.remoting.bodies.settings import MessageRequestMode, SetMessageRequestModeRequestBody
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.changes import SetMessageRequestMode
from rebalance_engine.remoting.requests.consuming import QueryAssignment, QueryAssignmentResponse
from rebalance_engine.remoting.requests.membership import HeartBeat

PULL, POP = MessageRequestMode.PULL, MessageRequestMode.POP
FOUR = [MessageQueue("orders", "east", number) for number in range(4)]
MEMBERS = ("D", "A", "C", "B")


def question(
    client: str = "A", strategy: str = "AVG", model: MessageModel = MessageModel.CLUSTERING
) -> QueryAssignmentRequestBody:
    return QueryAssignmentRequestBody(
        topic="orders", consumer_group="G", client_id=client, strategy_name=strategy, message_model=model
    )


def by(mode: MessageRequestMode, share: int = 0) -> SetMessageRequestModeRequestBody:
    return SetMessageRequestModeRequestBody(topic="orders", consumer_group="G", mode=mode, pop_share_queue_num=share)


def pops(client: str, share: int, queues: Iterable[MessageQueue] = FOUR, clients: Iterable[str] = MEMBERS) -> list[int]:
    given = assignment(question(client), by(POP, share), queues=queues, clients=clients)
    assert given is not None
    assert {each.mode for each in given} <= {POP}
    return [each.message_queue.queue_id for each in given]


def test_by_pull_a_client_gets_its_own_share_of_sorted_lists() -> None:
    given = assignment(question("B"), by(PULL), queues=reversed(FOUR), clients=("B", "A"))

    assert given is not None
    assert [(each.message_queue, each.mode) for each in given] == [(FOUR[2], PULL), (FOUR[3], PULL)]


def test_the_strategy_is_the_clients() -> None:
    given = assignment(question("B", "AVG_BY_CIRCLE"), by(PULL), queues=FOUR, clients=("B", "A"))

    assert given is not None and [each.message_queue for each in given] == [FOUR[1], FOUR[3]]


def test_by_pop_a_client_shares_the_queues_of_the_next_ones() -> None:
    assert {client: pops(client, 1) for client in "ABCD"} == {"A": [0, 1], "B": [1, 2], "C": [2, 3], "D": [0, 3]}
    assert pops("C", 2) == [0, 2, 3]


@pytest.mark.parametrize("share", [-1, 0, 3, 4])
def test_who_shares_with_all_others_pops_every_broker(share: int) -> None:
    two_brokers = [*FOUR, MessageQueue("orders", "west", 0)]

    given = assignment(question(), by(POP, share), queues=two_brokers, clients=MEMBERS)

    assert given is not None
    assert [each.message_queue for each in given] == [
        MessageQueue("orders", "east", EVERY_QUEUE),
        MessageQueue("orders", "west", EVERY_QUEUE),
    ]


def test_of_more_clients_than_queues_each_gets_one() -> None:
    assert {client: pops(client, 1, FOUR[:2]) for client in "ABCD"} == {"A": [0], "B": [1], "C": [0], "D": [1]}


def test_a_stranger_gets_nothing() -> None:
    assert pops("Z", 1) == []
    assert pops("Z", 1, FOUR[:2]) == []
    assert pops("Z", 0) == [EVERY_QUEUE]
    assert assignment(question("Z"), by(PULL), queues=FOUR, clients=MEMBERS) == ()


@pytest.mark.parametrize("strategy", ["CONSISTENT_HASH", "CONFIG", "MACHINE_ROOM", "CPP_AVG", ""])
def test_brokers_know_two_strategies(strategy: str) -> None:
    assert assignment(question("A", strategy), by(PULL), queues=FOUR, clients=MEMBERS) is None


@pytest.mark.parametrize("mode", [by(PULL), by(POP, 1)])
def test_what_the_broker_does_not_know_is_no_valid_answer(mode: SetMessageRequestModeRequestBody) -> None:
    assert assignment(question(), mode, queues=None, clients=MEMBERS) is None
    assert assignment(question(), mode, queues=FOUR, clients=None) is None
    assert assignment(question(), mode, queues=(), clients=MEMBERS) is None  # the strategy throws
    assert assignment(question(""), mode, queues=FOUR, clients=MEMBERS) is None


def test_broadcasting_and_a_broker_that_does_not_divide_give_everything_to_everybody() -> None:
    broadcast = assignment(question("Z", "?", MessageModel.BROADCASTING), by(PULL), queues=FOUR, clients=None)
    undivided = assignment(question("Z", "?"), by(POP, 1), queues=FOUR, clients=None, divides=False)

    assert broadcast is not None and undivided is not None
    assert [each.message_queue for each in broadcast] == FOUR
    assert [(each.message_queue, each.mode) for each in undivided] == [(mq, POP) for mq in FOUR]


@given(st.integers(1, 12), st.integers(2, 12), st.integers(1, 12), st.sampled_from(["AVG", "AVG_BY_CIRCLE"]))
def test_every_queue_is_popped_by_as_many_as_share_it(queues: int, clients: int, share: int, strategy: str) -> None:
    mqs = [MessageQueue("orders", "east", number) for number in range(queues)]
    names = [f"c{number:02}" for number in range(clients)]
    popped: Counter[MessageQueue] = Counter()
    for name in names:
        given = assignment(question(name, strategy), by(POP, share), queues=mqs, clients=names)
        assert given is not None
        popped.update(each.message_queue for each in given)

    if share >= clients - 1:
        assert popped == {MessageQueue("orders", "east", EVERY_QUEUE): clients}
    elif clients <= queues:
        assert popped == dict.fromkeys(mqs, share + 1)
    else:
        assert popped.keys() == set(mqs) and popped.total() == clients


@given(st.integers(1, 12), st.integers(1, 12), st.sampled_from(["AVG", "AVG_BY_CIRCLE"]))
def test_by_pull_all_together_hold_what_they_would_by_themselves(queues: int, clients: int, strategy: str) -> None:
    mqs = [MessageQueue("orders", "east", number) for number in range(queues)]
    names = [f"c{number:02}" for number in range(clients)]

    for name, share in allocate(strategy, mqs, names).items():
        given = assignment(question(name, strategy), by(PULL), queues=mqs, clients=names)
        assert given is not None and [each.message_queue for each in given] == share


# ---- of a broker ----


def broker_with(*clients: str, **settings: object) -> Broker:
    broker = Broker(BrokerSettings(**settings))  # type: ignore[arg-type] # each by its name
    broker.start(0)
    for channel, client in enumerate(clients):
        broker.handle(Opened(channel=channel, address=f"10.0.0.{channel}:1"), 0)
        data = HeartbeatData(client_id=client, consumer_data_set=(ConsumerData(group_name="G"),))
        broker.handle(Received(channel=channel, request=HeartBeat(body=data), token=1), 0)
    return broker


def test_a_broker_answers_from_its_members_and_its_modes() -> None:
    broker = broker_with("B", "A", "C")
    broker.handle(Opened(channel=9, address="10.0.0.9:1"), 0)
    body = SetMessageRequestModeRequestBody(topic="%RETRY%x", consumer_group="G", mode=POP)
    broker.handle(Received(channel=9, request=SetMessageRequestMode(body=body), token=1), 0)

    response = answer(broker, QueryAssignment(body=question("C")), FOUR)

    assert isinstance(response, QueryAssignmentResponse)
    assert response.body.message_queue_assignments is not None
    assert [each.message_queue for each in response.body.message_queue_assignments] == [FOUR[3]]


def test_a_broker_gives_no_valid_answer_to_a_group_that_it_does_not_know() -> None:
    response = answer(broker_with(), QueryAssignment(body=question()), FOUR)

    assert isinstance(response, QueryAssignmentResponse) and response.body.message_queue_assignments is None


def test_a_broker_uses_its_own_default() -> None:
    broker = broker_with("A", "B", default_request_mode=POP)

    response = answer(broker, QueryAssignment(body=question()), FOUR)

    assert isinstance(response, QueryAssignmentResponse) and response.body.message_queue_assignments
    assert [each.message_queue.queue_id for each in response.body.message_queue_assignments] == [EVERY_QUEUE]


def test_before_5_0_no_broker_divides() -> None:
    response = answer(broker_with("A", version="4.9.7"), QueryAssignment(body=question()), FOUR)

    assert response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
