from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.routes import Divided
from rebalance_engine.pipeline.sorting import sorted_out
from rebalance_engine.pipeline.unheard import Counted
from tests.rebalance_engine.pipeline.test_stories import clue

QUEUE = {"topic": "orders", "broker": "east", "queue_id": 0}


def test_clues_are_sorted_by_what_they_are_about() -> None:
    found = sorted_out(
        [
            clue("pull refused", 900),
            clue("pull refused", 300),
            clue("joined", 500, client_id="A", number=1),
            clue("first pull", 600, **QUEUE),
            clue("counted", 700, client_id="B", number=2),
            clue("divided", 700, client_id="B", topic="orders", number=8),
            *(clue("clock", at, process="web1", broker="east", number=at, number2=at + 2) for at in (7, 9)),
            clue("input ends", 9_000),
            clue("log ends", 8_000, client_id="B"),
        ]
    )

    assert [(cause.what, cause.client) for cause in found.causes] == [("joined", "A")]
    assert (found.unheard, found.counted) == ({"A"}, [Counted(700, "B", 2)])
    assert [each.at_ms for each in found.by_queue[MessageQueue("orders", "east", 0)]] == [600]
    assert found.ahead == {"web1": {"east": (7, 11)}}
    assert found.divided == {"orders": [Divided(700, "B", 8)]}
    assert (found.refusals, found.end_ms, found.log_ends) == ({"east": [300, 900]}, 9_000, {"B": 8_000})
