from rebalance_engine.remoting.calls import Calls
from rebalance_engine.remoting.command import MAX_OPAQUE


def test_an_answer_finds_its_call_once() -> None:
    calls = Calls[str]()
    first, second = calls.begin("first"), calls.begin("second")

    assert calls.finish(second) == "second"
    assert calls.finish(second) is None
    assert calls.finish(first) == "first"
    assert len(calls) == 0


def test_a_number_that_still_waits_is_not_given_again() -> None:
    calls = Calls[str](first=MAX_OPAQUE)
    waits = calls.begin("waits")
    calls.finish(calls.begin("done"))

    calls._next = MAX_OPAQUE  # all the way around

    assert waits == MAX_OPAQUE
    assert calls.number_oneway() == 0
    assert calls.begin("next") == 1


def test_numbers_stay_within_31_bits() -> None:
    calls = Calls[str](first=MAX_OPAQUE)

    assert [calls.number_oneway(), calls.number_oneway()] == [MAX_OPAQUE, 0]


def test_a_connection_that_is_gone_gives_back_all_calls() -> None:
    calls = Calls[str]()
    calls.begin("first")
    calls.begin("second")

    assert calls.finish_all() == ("first", "second")
    assert calls.finish_all() == ()
