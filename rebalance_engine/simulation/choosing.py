"""What a scenario says that a member divides the queues by: a strategy, and for ``CONFIG`` the queues that it is told.

AVG
CONFIG:orders/east/0,orders/west/1
"""

from __future__ import annotations

from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.codes import Language
from rebalance_engine.simulation.whole_numbers import whole_number

STRATEGIES = {  # which clients have them
    "AVG": {Language.JAVA, Language.GO, Language.CPP},
    "AVG_BY_CIRCLE": {Language.JAVA, Language.GO},
    "CONSISTENT_HASH": {Language.JAVA},
    "CONFIG": {Language.JAVA},
}
DEFAULT = "AVG"
BY_LIST = "CONFIG"
LAST_QUEUE = 2**31 - 1


def chosen(word: str) -> tuple[str, tuple[MessageQueue, ...]]:
    """Give the strategy and the queues that it is told.

    Raises:
        ValueError: a queue is none, or the strategy takes none, or needs some.
    """
    strategy, _, told = word.partition(":")
    queues = tuple(_queue(name) for name in told.split(",") if name)
    if bool(queues) != (strategy == BY_LIST):
        raise ValueError(f"the strategy is {word!r}; {BY_LIST} needs queues behind a colon, and no other one has them")
    return strategy, queues


def _queue(name: str) -> MessageQueue:
    topic, broker, number = ([*name.split("/"), "", ""])[:3]
    queue_id = whole_number(number, 0, LAST_QUEUE)
    if not (topic and broker) or queue_id is None or name.count("/") != 2:
        raise ValueError(f"the queue is {name!r}; it needs to be like orders/east/0")
    return MessageQueue(topic, broker, queue_id)
