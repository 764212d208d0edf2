from rebalance_engine.network.watcher.known import Known


def test_nothing_is_known_before_anybody_watched() -> None:
    assert (Known().at, Known().brokers, Known().members) == (None, {}, {})
