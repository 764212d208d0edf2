import pytest

from rebalance_engine.remoting.binding import read_value
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import (
    BoundaryType,
    LitePullMessage,
    PullMessage,
    PullMessageResponse,
)


def test_a_pull_that_found_nothing_is_answered_not_refused() -> None:
    assert {ResponseCode.PULL_NOT_FOUND, ResponseCode.PULL_OFFSET_MOVED} < PullMessageResponse.CODES
    assert ResponseCode.SUBSCRIPTION_NOT_LATEST not in PullMessageResponse.CODES


def test_a_lite_pull_is_a_pull_under_another_code() -> None:
    assert issubclass(LitePullMessage, PullMessage)
    assert LitePullMessage.CODE != PullMessage.CODE


@pytest.mark.parametrize("written", ["upper", "UPPER"])
def test_a_boundary_is_read_as_java_clients_write_it_and_as_servers_name_it(written: str) -> None:
    assert read_value(BoundaryType, written) is BoundaryType.UPPER
