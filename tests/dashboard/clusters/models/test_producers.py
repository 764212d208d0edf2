from dashboard.clusters.models import Cluster, ProducerBroker
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import SOURCED, WITHOUT_SOURCE, assert_refused, assert_unique


def test_a_producer_has_one_view_of_a_broker_and_a_figure_is_whole(cluster: Cluster) -> None:
    columns = {
        "cluster": cluster,
        "client_id": "A",
        "broker": "east",
        "latency_ms": 3,
        "latency_at": T0,
        "outcome": "ok",
        "backoff_ms": 30_000,
        "backoff_until": T0 + 30_000,
        "is_isolated": True,
        **SOURCED,
    }

    assert_refused(
        ProducerBroker,
        columns,
        {"latency_ms": -1},
        {"latency_at": None},
        {"outcome": None},
        {"outcome": "fine"},
        {"backoff_until": None},
        {"backoff_ms": None},
        {"is_isolated": None},
        {"client_id": ""},
        {"broker": ""},
        *WITHOUT_SOURCE,
    )
    assert_unique(ProducerBroker, columns, broker="west")
