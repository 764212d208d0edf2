from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import LitePullMessage, PullMessage, PullMessageResponse


def test_a_pull_that_found_nothing_is_answered_not_refused() -> None:
    assert {ResponseCode.PULL_NOT_FOUND, ResponseCode.PULL_OFFSET_MOVED} < PullMessageResponse.CODES
    assert ResponseCode.SUBSCRIPTION_NOT_LATEST not in PullMessageResponse.CODES


def test_a_lite_pull_is_a_pull_under_another_code() -> None:
    assert issubclass(LitePullMessage, PullMessage)
    assert LitePullMessage.CODE != PullMessage.CODE
