"""What a function comes to, and how much work it is: counted calls, so that *linear* can be tested without a clock."""

import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from rebalance_engine.remoting.errors import RemoteProtocolError, RemotingError

LONG = 500  # characters; an error must not carry what a hostile peer sent into the log


def attempt(function: Callable[[], object]) -> object:
    """Give the value, or the error if the peer is to blame; anything else passes through."""
    try:
        return function()
    except RemoteProtocolError as broken:
        error = broken
    assert len(str(error)) < LONG
    return error


def calls(function: Callable[[], object]) -> int:
    """Count the calls, of Python and of C functions, that ``function`` makes; an error of ours ends it too."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        with suppress(RemotingError):
            function()
    finally:
        sys.setprofile(None)
    return count


def is_linear(work: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Ask whether four times the size makes at most about four times the calls."""
    return calls(work(4 * size)) <= 4.4 * calls(work(size)) + 200
