import pytest

from rebalance_engine.remoting.codec import decode_response, encode_response
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.popping import AckMessage, PopMessage, PopMessageResponse


@pytest.mark.parametrize("code", sorted(PopMessageResponse.CODES))
def test_a_pop_that_found_nothing_is_answered_not_refused(code: int) -> None:
    response = PopMessageResponse(code=code, pop_time=1, invisible_time=2, revive_qid=3, rest_num=0)

    assert decode_response(PopMessage, encode_response(response, opaque=7)) == response


def test_a_pop_that_failed_is_refused() -> None:
    failed = Command(code=ResponseCode.FLOW_CONTROL, opaque=7, flag=1, remark="busy")

    assert decode_response(PopMessage, failed) == Refused(code=ResponseCode.FLOW_CONTROL, remark="busy")


def test_the_codes_do_not_fit_into_a_binary_header() -> None:
    assert int(PopMessage.CODE) == 200050 and int(AckMessage.CODE) > 2**15 - 1
