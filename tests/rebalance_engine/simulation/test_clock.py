from rebalance_engine.simulation.clock import EPOCH, Clock


def test_things_happen_when_they_are_due_and_in_the_order_in_which_they_were_asked_for() -> None:
    clock, seen = Clock(), list[tuple[int, str]]()
    clock.after(20, lambda: seen.append((clock.now - EPOCH, "late")))
    clock.after(10, lambda: seen.append((clock.now - EPOCH, "first")))
    clock.after(10, lambda: seen.append((clock.now - EPOCH, "second")))

    clock.run_until(EPOCH + 15)

    assert seen == [(10, "first"), (10, "second")]
    assert (clock.now, clock.ticks) == (EPOCH + 15, 2)


def test_what_is_called_off_does_not_happen() -> None:
    clock, seen = Clock(), list[str]()
    alarm = clock.after(10, lambda: seen.append("called off"))

    clock.call_off(alarm)
    clock.run_until(EPOCH + 20)

    assert (seen, clock.ticks) == ([], 0)


def test_what_should_have_been_before_happens_now() -> None:
    clock, seen = Clock(), list[int]()
    clock.run_until(EPOCH + 100)

    clock.at(EPOCH, lambda: seen.append(clock.now))
    clock.run_until(EPOCH + 100)

    assert seen == [EPOCH + 100]
