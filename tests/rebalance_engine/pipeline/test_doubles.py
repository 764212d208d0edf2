import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.doubles import doubles_of
from tests.rebalance_engine.pipeline.test_measures import frame

pytestmark = pytest.mark.spark


def stretch(begin: int, end: int, *clients: str, queue: int = 0) -> dict[str, object]:
    place = {"topic": "orders", "broker": "east", "queue_id": queue}
    return {**place, "at_ms": begin, "until_ms": end, "clients": list(clients)}


def hold(begin: int, end: int, client: str, process: str) -> dict[str, object]:
    return {"client_id": client, "process": process, "from_ms": begin, "first_seen_ms": begin, "until_ms": end}


def test_an_id_under_which_two_processes_hold_the_same_queues_is_named_with_both(spark: SparkSession) -> None:
    """B held a queue beside A, who is one process; C came back before a broker saw that it was gone."""
    stretches = frame(
        spark,
        schemas.STRETCHES,
        stretch(10_000, 70_000, "A", "A"),
        stretch(12_000, 70_000, "A", "A", "B", queue=1),
        stretch(80_000, 90_000, "A", "B"),
        stretch(80_000, 81_000, "C", "C", queue=2),
        stretch(95_000, 99_000),
    )
    spans = frame(
        spark,
        schemas.SPANS,
        hold(0, 90_000, "A", "web1/7"),
        hold(10_000, 70_000, "A", "web2/7"),
        hold(200_000, 210_000, "A", "web3/7"),
        hold(0, 70_000, "B", "web4/7"),
    )

    (row,) = doubles_of(stretches, spans).collect()

    assert (row["group"], row["client"], row["day"], row["processes"]) == ("g", "A", "1970-01-01", ["web1/7", "web2/7"])
    assert (row["at_ms"], row["until_ms"], row["queues"], row["twice_ms"]) == (10_000, 70_000, 2, 118_000)
