from rebalance_engine.pipeline.named import merged, without_named
from rebalance_engine.pipeline.unheard import Counted

TOLD = [Counted(at, "A", members) for at, members in ((0, 1), (12_000, 2), (23_000, 3), (46_000, 2), (80_000, 3))]
MORE = {"1 more": [(5_000, 46_000), (75_000, 90_000)]}


def test_who_is_counted_beside_those_that_a_broker_names_was_there_before_its_log_began() -> None:
    """Two results of the log's time say nothing of the second one: it would have come under it, and been named."""
    assert without_named(MORE, TOLD, []) == MORE
    assert without_named(MORE, TOLD, [(40_000, 100_000)]) == {"1 more": [(5_000, 46_000)]}
    assert without_named(MORE, TOLD, [(50_000, 100_000)]) == MORE
    assert without_named(MORE, TOLD, [(-1_000, 100_000)]) == {}


def test_after_the_end_of_a_brokers_log_nobody_names_who_comes() -> None:
    assert without_named(MORE, TOLD, [(-1_000, 30_000), (40_000, 80_000)]) == {
        "1 more": [(30_000, 46_000), (80_000, 90_000)]
    }
    assert merged([(40, 60), (0, 10), (5, 20), (55, 58)]) == [(0, 20), (40, 60)]
