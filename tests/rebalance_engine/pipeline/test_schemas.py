from rebalance_engine.pipeline.schemas import EVENTS, FILED_HOLDS, HOLDS, LINES, SPANS


def test_holds_have_exactly_the_columns_that_others_rely_on() -> None:
    assert HOLDS.names == ["group", "topic", "broker", "queue_id", "client_id", "from_ms", "until_ms", "ended"]


def test_every_table_is_filed_by_cluster_and_day() -> None:
    for schema in (LINES, EVENTS, SPANS, FILED_HOLDS):
        assert {"cluster", "day"} <= set(schema.names)
