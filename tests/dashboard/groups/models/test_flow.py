from dashboard.clusters.models import Cluster
from dashboard.groups.models import Flow
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import assert_refused, assert_unique, make_group


def test_flow_is_there_once_for_a_broker(cluster: Cluster) -> None:
    right = {"group": make_group(cluster), "broker": "east", "at": T0}

    assert_refused(Flow, right, {"broker": ""}, {"at": -1})
    assert_unique(Flow, right, broker="west")
    assert str(Flow.objects.get(broker="east")) == "g at east"
