from dashboard.clusters.models import Cluster, OutboxLine
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import assert_refused, assert_unique


def test_a_line_is_stored_once(cluster: Cluster) -> None:
    columns = {"cluster": cluster, "digest": b"1", "at": T0, "stored_at": T0, "line": "{}"}

    assert_refused(OutboxLine, columns, {"line": ""}, {"at": -1}, {"digest": None})
    assert_unique(OutboxLine, columns, digest=b"2")
