import pytest
from pyspark.sql import SparkSession

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.rounds import Cause
from rebalance_engine.pipeline.routes import Divided, gone, read_route, routes_of, short_of_queues, with_broker
from tests.rebalance_engine.pipeline.test_measures import frame


def test_a_route_has_the_queues_that_may_be_read() -> None:
    assert read_route(["east|4|6", "a|b|2|4", "west|4|2"]) == {"east": 4, "a|b": 2}


def test_a_queue_is_gone_while_its_route_has_it_not() -> None:
    routes = [(10, {"east": 4}), (20, {"east": 2}), (30, {"west": 4}), (40, {"east": 4})]

    assert gone(MessageQueue("orders", "east", 3), routes, 50) == [(20, 30), (30, 40)]
    assert gone(MessageQueue("orders", "west", 0), routes, 50) == [(10, 20), (20, 30), (40, 50)]
    assert gone(MessageQueue("orders", "east", 0), [], 50) == []


def test_a_changed_route_names_the_brokers_by_which_it_differs_from_the_one_before() -> None:
    """Nothing is known before the first; of another topic nothing is told; what several processes say is one change."""
    routes = {"orders": [(10, {"east": 4}), (20, {"east": 4, "west": 4}), (30, {"east": 2, "north": 1, "west": 4})]}

    def named(at: int, topic: str = "orders", what: str = "route changed") -> str | None:
        return with_broker(Cause(at, what, None, "web1", None, topic), routes).broker

    assert [named(at) for at in (5, 10, 20, 25, 30)] == [None, None, "west", "west", "east, north"]
    assert (named(20, "stock"), named(20, what="joined")) == (None, None)


EIGHT, SEVEN = {"east": 4, "west": 4}, {"east": 4, "west": 3}
# B divides 7 at 200,000, and A all at 300,000.
FEWER = [Divided(1_000, "A", 8), Divided(1_000, "B", 8), Divided(200_000, "B", 7), Divided(300_000, "A", 8)]


def test_where_results_tell_of_fewer_queues_than_before_and_no_route_does_some_are_missing() -> None:
    """From when the member may have learnt it, at most, until all must have learnt that they are back."""
    alone, again = FEWER[:3], [*FEWER, Divided(230_000, "B", 8)]
    late = [*alone, Divided(240_000, "A", 8)]  # who has not learnt it yet

    for routes in ([], [(500, EIGHT)]):
        assert short_of_queues(FEWER, routes, 900_000) == [(149_000, 300_000)]
        assert short_of_queues(again, routes, 900_000) == [(149_000, 230_000)]
        assert short_of_queues(alone, routes, 900_000) == short_of_queues(late, routes, 900_000) == [(149_000, 900_000)]
    assert short_of_queues([*FEWER[:2], Divided(190_000, "B", 8), *FEWER[2:]], [], 900_000) == [(190_000, 300_000)]


@pytest.mark.parametrize("at", [100_000, 190_000, 230_000], ids=["long before", "before", "soon after"])
def test_where_a_route_tells_of_fewer_queues_it_tells_which(at: int) -> None:
    assert short_of_queues(FEWER, [(500, EIGHT), (at, SEVEN)], 900_000) == []


def test_who_has_not_learnt_yet_that_there_are_more_queues_misses_none() -> None:
    told = [Divided(200_000, "B", 7), Divided(201_000, "A", 8)]

    assert short_of_queues(told, [(500, SEVEN), (190_000, EIGHT)], 900_000) == short_of_queues(told, [], 900_000) == []


@pytest.mark.spark
def test_what_several_say_of_one_route_is_one_change(spark: SparkSession) -> None:
    said = {"what": "route changed", "topic": "orders"}
    both = ["east|4|6", "west|4|6"]
    events = frame(
        spark,
        schemas.EVENTS,
        {**said, "at_ms": 1, "queues": both},
        {**said, "at_ms": 2, "queues": both[::-1], "process": "another"},
        {**said, "at_ms": 3, "queues": both[:1]},
        {**said, "at_ms": 4, "queues": both, "what": "route"},
        {**said, "at_ms": 4, "queues": both, "topic": "pay"},
        {**said, "at_ms": 5},
    )

    held: list[dict[str, object]] = [{"topic": topic, "broker": "east"} for topic in ("orders", "pay")]
    holds = frame(spark, schemas.SPANS, *held)

    told = sorted((row["topic"], row["at_ms"], row["queues"]) for row in routes_of(events, holds).collect())

    assert told == [("orders", 1, both), ("orders", 3, both[:1]), ("orders", 4, both), ("pay", 4, both)]


@pytest.mark.spark
def test_clusters_whose_topics_have_one_name_have_routes_of_their_own(spark: SparkSession) -> None:
    """Members of g and of h are of two clusters; whose a producer is its routes tell; one group's members tell none."""
    said = {"what": "route changed", "topic": "orders", "layout": "java5"}
    g, less, h = ["east|4|6", "west|4|6"], ["east|4|6"], ["east|8|6"]
    routes = (("g1", 1, g), ("h1", 2, h), ("sends to g", 3, less), ("g1", 4, less), ("h2", 5, h), ("sends to h", 6, h))
    events = frame(spark, schemas.EVENTS, *({**said, "process": p, "at_ms": at, "queues": q} for p, at, q in routes))
    whose = (("g", "g1", "east"), ("h", "h1", "east"), ("h", "h2", "east"), ("i", "i1", "west"), ("k", "k1", "north"))
    held: list[dict[str, object]] = [
        {"group": group, "process": process, "broker": broker, "topic": "orders"} for group, process, broker in whose
    ]
    holds = frame(spark, schemas.SPANS, *held)

    told = sorted((row["group"], row["at_ms"], row["queues"]) for row in routes_of(events, holds).collect())

    assert told == [("g", 1, g), ("g", 3, less), ("h", 2, h), ("i", 1, g), ("i", 4, less)]
