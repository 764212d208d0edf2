from typing import get_args

import pytest

from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.requests import REQUESTS
from rebalance_engine.remoting.requests.contract import Refused, Request, Response


def test_an_answer_that_says_nothing_else_is_a_success() -> None:
    assert Response() == Response(code=ResponseCode.SUCCESS, remark=None)


def test_a_refusal_needs_its_code() -> None:
    with pytest.raises(TypeError, match="code"):
        Refused()  # type: ignore[call-arg]  # that is the point


@pytest.mark.parametrize(("code", "kind"), REQUESTS.items())
def test_a_request_stands_under_its_code_and_name(code: RequestCode, kind: type[Request[Response]]) -> None:
    assert kind.CODE is code
    assert kind.__name__.upper() == code.name.replace("_", "")


@pytest.mark.parametrize("kind", REQUESTS.values())
def test_a_request_names_its_response_twice_alike(kind: type[Request[Response]]) -> None:
    stated = [get_args(base) for parent in kind.__mro__ for base in getattr(parent, "__orig_bases__", ())]

    assert next(response for response in stated if response) == (kind.RESPONSE,)


def test_every_code_has_its_class() -> None:
    assert REQUESTS.keys() == set(RequestCode)
