from pathlib import Path

import pytest

from rebalance_engine.effects import Received
from rebalance_engine.embedded.faults import MOST_DELAYED, SENDS, Faults, code_of
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.requests.brokers import GetBrokerRuntimeInfo
from rebalance_engine.remoting.requests.contract import UnknownRequest
from tests.rebalance_engine.embedded.desk import Desk, sending


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.put_topic("orders")
    return made


def slow(desk: Desk, delay_ms: int) -> None:
    desk._carry_out(desk.broker.be_slow(delay_ms, desk.now))


def test_a_slow_broker_lets_requests_wait(desk: Desk) -> None:
    channel = desk.connect()
    slow(desk, 700)

    token = desk.begin(channel, sending("orders", "x"))
    desk.wait(699)
    early = (channel, token) in desk.answers
    desk.wait(1)

    assert (early, desk.answers[channel, token].code) == (False, 0)


def test_requests_stay_in_order_when_a_broker_gets_quicker(desk: Desk) -> None:
    channel = desk.connect()
    slow(desk, 700)
    desk.begin(channel, sending("orders", "first"))
    slow(desk, 10)

    desk.begin(channel, sending("orders", "second"))
    desk.wait(10)
    early = dict(desk.answers)
    desk.wait(690)

    assert (early, list(desk.answers)) == ({}, [(channel, 1), (channel, 2)])


def test_a_broker_that_is_well_again_answers_what_waits(desk: Desk) -> None:
    channel = desk.connect()
    slow(desk, 60_000)
    token = desk.begin(channel, sending("orders", "x"))

    slow(desk, 0)

    assert desk.answers[channel, token].code == 0


def test_what_a_closed_channel_asked_is_forgotten(desk: Desk) -> None:
    channel = desk.connect()
    slow(desk, 100)
    desk.begin(channel, sending("orders", "x"))

    desk.disconnect(channel)
    desk.wait(1_000)

    assert (desk.answers, desk.broker.core.store.end("orders", 0)) == ({}, 0)


def test_a_busy_broker_refuses_what_it_is_busy_for(desk: Desk) -> None:
    channel = desk.connect()
    desk.broker.faults.busy_for = SENDS

    refused = desk.refused(channel, sending("orders", "x"))

    assert (refused.code, (refused.remark or "").startswith("[REJECTREQUEST]")) == (ResponseCode.SYSTEM_BUSY, True)
    assert desk.get(channel, GetBrokerRuntimeInfo()).code == 0


def test_not_more_than_so_many_wait() -> None:
    faults = Faults(delay_ms=1)
    received = Received(channel=1, request=GetBrokerRuntimeInfo(), token=1)
    for _ in range(MOST_DELAYED):
        faults.delay(received, 0)

    refused = faults.refuse(received.request)

    assert refused is not None
    assert (faults.waiting(), refused.code) == (MOST_DELAYED, ResponseCode.SYSTEM_BUSY)


def test_every_request_has_a_code() -> None:
    assert code_of(GetBrokerRuntimeInfo()) == RequestCode.GET_BROKER_RUNTIME_INFO
    assert code_of(UnknownRequest(code=9999)) == 9999
