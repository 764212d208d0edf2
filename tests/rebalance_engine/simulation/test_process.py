from rebalance_engine.effects import Cancel, Save, State, WakeAt, Woken
from rebalance_engine.simulation.clock import EPOCH
from tests.rebalance_engine.simulation.small import Parrot, network


def test_a_timer_wakes_it_once_and_at_its_last_time() -> None:
    process = Parrot(network(), "A", "a:1")

    process.carry_out([WakeAt(at=EPOCH + 10, timer="t"), WakeAt(at=EPOCH + 30, timer="t")])
    process.clock.run_until(EPOCH + 100)

    assert process.heard == [(EPOCH + 30, Woken(timer="t"))]


def test_a_cancelled_timer_is_silent() -> None:
    process = Parrot(network(), "A", "a:1")

    process.carry_out([WakeAt(at=EPOCH + 10, timer="t"), Cancel(timer="t")])
    process.clock.run_until(EPOCH + 100)

    assert process.heard == []


def test_a_paused_process_catches_up_when_it_goes_on() -> None:
    process = Parrot(network(), "A", "a:1")
    process.carry_out([WakeAt(at=EPOCH + 10, timer="t")])

    process.pause()
    process.clock.run_until(EPOCH + 50)
    before = list(process.heard)
    process.resume()

    assert (before, process.heard) == ([], [(EPOCH + 50, Woken(timer="t"))])


def test_a_process_that_is_gone_does_nothing_any_more() -> None:
    process = Parrot(network(), "A", "a:1")
    process.carry_out([WakeAt(at=EPOCH + 10, timer="t")])

    process.network.end(process)
    process.clock.run_until(EPOCH + 50)

    assert process.heard == []


def test_it_keeps_what_is_saved_tells_what_is_stated_and_is_checked_after_each_step() -> None:
    process = Parrot(network(), "A", "a:1")

    process.do(lambda: process.carry_out([Save(name="offsets", text="{}"), State(fact="joined")]))

    assert (process.saved, process.stated, process.checks) == ({"offsets": "{}"}, ["joined"], 1)
