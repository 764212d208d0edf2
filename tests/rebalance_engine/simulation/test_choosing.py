import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.choosing import chosen


def test_a_strategy_alone() -> None:
    assert chosen("AVG") == ("AVG", ())


def test_a_list_of_queues() -> None:
    queues = (MessageQueue("orders", "east", 0), MessageQueue("orders", "west", 11))

    assert chosen("CONFIG:orders/east/0,orders/west/11") == ("CONFIG", queues)


@pytest.mark.parametrize("word", ["CONFIG", "CONFIG:", "AVG:orders/east/0"])
def test_config_needs_queues_and_no_other_strategy_has_them(word: str) -> None:
    with pytest.raises(ValueError, match="CONFIG needs queues behind a colon, and no other one has them"):
        chosen(word)


@pytest.mark.parametrize("name", ["orders", "orders/east", "orders/east/x", "orders//0", "orders/east/0/1"])
def test_a_queue_that_is_none(name: str) -> None:
    with pytest.raises(ValueError, match=f"the queue is '{name}'; it needs to be like orders/east/0"):
        chosen(f"CONFIG:{name}")
