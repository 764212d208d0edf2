import pytest

from rebalance_engine.consumer.messages import Message
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Breach, Weather
from rebalance_engine.simulation.clock import EPOCH, Clock
from rebalance_engine.simulation.returning import Returns
from rebalance_engine.simulation.store import Returned, Store
from rebalance_engine.simulation.timers import ON_THE_WAY

PLACE = MessageQueue("orders", "east", 0)
RETRY = MessageQueue("%RETRY%g", "east", 0)


class Stage:
    """A message that was sent back at the beginning."""

    def __init__(self) -> None:
        self.clock, self.weather, self.store = Clock(), Weather(), Store("east")
        self.returns = Returns(self.clock, self.weather)
        self.store.append(PLACE, EPOCH)
        self.number, self.returned = self.take_back()
        self.returns.expect(self.returned)

    def take_back(self) -> tuple[int, Returned]:
        return self.store.take_back("g", 0, 0, 16, EPOCH)

    def comes(self, at: int) -> None:
        self.clock.run_until(EPOCH + at)
        self.store.release(self.number, self.clock.now)
        [message] = self.store.read(RETRY.topic, 0, 0, 1)
        self.returns.stored(RETRY, message)


def test_a_message_that_comes_back_in_time() -> None:
    stage = Stage()

    stage.comes(10_000)
    stage.clock.run_until(EPOCH + 99_000)

    stage.returns.check_all_back()
    assert stage.returns.last_due == 0


def test_a_message_that_does_not_come_back() -> None:
    stage = Stage()

    with pytest.raises(Breach, match="orders/east/0 0 was sent back and does not come again"):
        stage.clock.run_until(EPOCH + 10_000 + ON_THE_WAY)


def test_a_message_that_does_not_come_back_from_a_broker_that_was_down() -> None:
    stage = Stage()
    stage.weather.turns_foul(EPOCH, EPOCH + 20_000, "east")
    stage.clock.run_until(EPOCH + 10_000 + ON_THE_WAY)
    stage.returns.check_all_back()
    stage.clock.run_until(EPOCH + 99_000)

    with pytest.raises(Breach, match="does not come again"):
        stage.returns.check_all_back()


def test_a_message_that_comes_back_too_soon() -> None:
    stage = Stage()

    with pytest.raises(Breach, match="too soon"):
        stage.comes(9_999)


def test_a_message_that_nobody_sent_back() -> None:
    stage = Stage()

    with pytest.raises(Breach, match="nobody sent back"):
        stage.returns.stored(RETRY, Message(offset=0, topic="orders", reconsume_times=1, content="7"))


def test_a_dead_letter_does_not_wait() -> None:
    stage = Stage()
    _, dead = stage.store.take_back("g", 0, -1, 16, EPOCH)

    stage.returns.expect(dead)

    stage.returns.stored(PLACE, Message(offset=0, topic="orders", reconsume_times=1, content=dead.name))
