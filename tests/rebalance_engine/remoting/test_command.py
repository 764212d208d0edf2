import pytest

from rebalance_engine.remoting.command import Command


@pytest.mark.parametrize(
    ("flag", "is_response", "is_oneway"), [(0, False, False), (1, True, False), (2, False, True), (3, True, True)]
)
def test_two_bits_tell_requests_responses_and_one_way_requests_apart(
    flag: int, is_response: bool, is_oneway: bool
) -> None:
    command = Command(code=38, opaque=7, flag=flag)

    assert (command.is_response, command.is_oneway) == (is_response, is_oneway)
