from rebalance_engine.effects import (
    Answered,
    Close,
    Closed,
    Failure,
    Heard,
    Opened,
    Push,
    Received,
    Respond,
    Send,
    SendOneway,
    Unanswered,
)
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.network import CONNECT_TIMEOUT, Network
from tests.rebalance_engine.simulation.small import Parrot, network


def pair(latency: tuple[int, int] = (5, 5)) -> tuple[Network, Parrot, Parrot]:
    between = network(latency)
    client, server = Parrot(between, "A", "a:1"), Parrot(between, "east", "east:1")
    between.listen(server)
    return between, client, server


def ask(client: Parrot, timeout_ms: int = 1_000) -> None:
    client.carry_out([Send(to="east:1", request="who?", token=7, timeout_ms=timeout_ms)])


def kinds(process: Parrot) -> list[type[Heard]]:
    return [type(heard) for _, heard in process.heard]


def run(between: Network, ms: int) -> None:
    between.clock.run_until(between.clock.now + ms)


def test_a_request_opens_a_connection_and_its_answer_comes_back() -> None:
    between, client, server = pair()

    ask(client)
    run(between, 20)
    received = server.heard[-1][1]
    assert isinstance(received, Received) and received.token is not None
    server.carry_out([Respond(channel=received.channel, token=received.token, response="A")])
    run(between, 20)

    assert kinds(server) == [Opened, Received]
    assert client.heard[-1] == (EPOCH + 25, Answered(token=7, response="A"))


def test_an_answer_that_does_not_come_is_a_timeout_and_a_late_one_is_nobodys() -> None:
    between, client, server = pair()

    ask(client, timeout_ms=100)
    run(between, 200)
    received = server.heard[-1][1]
    assert isinstance(received, Received) and received.token is not None
    server.carry_out([Respond(channel=received.channel, token=received.token, response="A")])
    run(between, 20)

    assert client.heard[-1] == (EPOCH + 100, Unanswered(token=7, failure=Failure.TIMEOUT))


def test_what_is_sent_first_arrives_first() -> None:
    between, client, server = pair(latency=(1, 50))

    client.carry_out([SendOneway(to="east:1", request=number) for number in range(30)])
    run(between, 500)

    assert [heard.request for _, heard in server.heard if isinstance(heard, Received)] == list(range(30))


def test_a_killed_process_closes_its_connections() -> None:
    between, client, server = pair()
    ask(client, timeout_ms=10_000)
    run(between, 20)

    between.end(server)
    run(between, 20)

    assert [heard for _, heard in client.heard[1:]] == [
        Unanswered(token=7, failure=Failure.CLOSED),
        Closed(channel=1),
    ]


def test_nobody_listens_where_a_process_was_killed() -> None:
    between, client, server = pair()
    between.end(server)

    ask(client)
    run(between, 20)

    assert client.heard == [(EPOCH + 10, Unanswered(token=7, failure=Failure.NOT_CONNECTED))]


def test_a_machine_that_vanished_tells_nobody() -> None:
    between, client, server = pair()
    ask(client)
    run(between, 20)

    between.vanish(client)
    server.carry_out([Push(channel=1, request="changed")])
    run(between, 1_000)

    assert kinds(server) == [Opened, Received]


def test_a_machine_that_vanished_cannot_be_called() -> None:
    between, client, server = pair()
    between.vanish(server)

    ask(client, timeout_ms=60_000)
    run(between, 60_000)

    assert client.heard == [(EPOCH + CONNECT_TIMEOUT, Unanswered(token=7, failure=Failure.NOT_CONNECTED))]


def test_a_connection_to_the_process_before_is_reset() -> None:
    between, client, server = pair()
    ask(client)
    run(between, 20)
    between.vanish(server)
    between.listen(Parrot(between, "east", "east:1"))

    client.carry_out([SendOneway(to="east:1", request="still there?")])
    run(between, 10)

    assert client.heard[-1][1] == Closed(channel=1)


def test_a_partition_holds_messages_back_until_it_heals() -> None:
    between, client, server = pair()
    client.carry_out([SendOneway(to="east:1", request="before")])
    run(between, 20)

    between.cut("A", "east")
    client.carry_out([SendOneway(to="east:1", request="meanwhile")])
    run(between, 1_000)
    before = len(server.heard)
    between.heal("A", "east")
    run(between, 20)

    assert (before, len(server.heard)) == (2, 3)
    assert server.heard[-1] == (EPOCH + 1_025, Received(channel=1, request="meanwhile"))


def test_a_partition_can_be_lost_against_a_close() -> None:
    between, client, server = pair()
    client.carry_out([SendOneway(to="east:1", request="before")])
    run(between, 20)

    between.cut("A", "east")
    server.carry_out([Close(channel=1)])
    client.carry_out([SendOneway(to="east:1", request="meanwhile")])
    run(between, 100)
    between.heal("A", "east")
    run(between, 100)

    assert kinds(server) == [Opened, Received, Closed]
    assert kinds(client) == [Opened, Closed]


def test_a_slow_process_is_slow_both_ways() -> None:
    between, client, server = pair()
    between.extra["east"] = 100

    client.carry_out([SendOneway(to="east:1", request="slowly")])
    run(between, 1_000)

    assert server.heard[-1][0] == EPOCH + 3 * 105


def test_one_way_requests_can_be_lost_and_others_not() -> None:
    between, client, server = pair()
    between.loses = lambda _from, _to, request: request == "lost"

    client.carry_out([SendOneway(to="east:1", request="lost"), SendOneway(to="east:1", request="kept")])
    run(between, 100)
    server.carry_out([Push(channel=1, request="lost"), Push(channel=1, request="kept")])
    run(between, 100)

    assert [heard.request for _, heard in server.heard if isinstance(heard, Received)] == ["kept"]
    assert [heard.request for _, heard in client.heard if isinstance(heard, Received)] == ["kept"]
