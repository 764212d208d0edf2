import signal
import sys
from threading import Event

import pytest

from rebalance_engine.pipeline.interrupts import stoppable

WAITS_S = 30


class Last:
    """Is stopped while it goes."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_breaks_off_what_runs(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), stoppable():
        signal.raise_signal(number)


def test_a_signal_that_a_destructor_swallows_comes_again() -> None:
    def go_on() -> None:
        Last()
        Event().wait(WAITS_S)

    with pytest.raises(KeyboardInterrupt), stoppable():
        go_on()


def test_what_else_is_swallowed_is_reported_and_all_is_as_it_was_afterwards() -> None:
    class Broken:
        def __del__(self) -> None:
            raise ValueError

    reported: list[type[BaseException]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda it: reported.append(it.exc_type))
        hook, handler = sys.unraisablehook, signal.getsignal(signal.SIGTERM)
        with stoppable():
            Broken()

        assert reported == [ValueError]
        assert sys.unraisablehook is hook
        assert signal.getsignal(signal.SIGTERM) is handler
