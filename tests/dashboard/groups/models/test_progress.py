from dashboard.clusters.models import Cluster
from dashboard.groups.models import Progress
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import SOURCED, WITHOUT_SOURCE, assert_refused, assert_unique, make_group


def test_progress_is_there_once_for_a_broker_with_its_source_and_missing_for_a_reason(cluster: Cluster) -> None:
    right = {"group": make_group(cluster), "broker": "east", "queues": [], **SOURCED}

    assert_refused(
        Progress, right, *WITHOUT_SOURCE, {"broker": ""}, {"missing": "timeout"}, {"missing": "lazy", "missing_at": T0}
    )
    assert_unique(Progress, right, broker="west")
    assert str(Progress.objects.get(broker="east")) == "g at east"
