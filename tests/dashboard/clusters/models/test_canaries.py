from dashboard.clusters.models import Canary, Cluster
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import assert_refused, assert_unique


def test_a_cluster_has_one_that_somebody_switched_for_a_reason(cluster: Cluster) -> None:
    columns = {"cluster": cluster, "is_on": True, "reason": "to know", "changed_by": "ada", "changed_at": T0}

    assert_refused(
        Canary,
        columns,
        {"reason": ""},
        {"changed_by": ""},
        {"changed_at": -1},
        {"told_at": T0 - 1},
        {"is_on": False, "may_create": True},
    )
    other = Cluster.objects.create(name="other", namesrv="b:1", added_at=T0)
    assert_unique(Canary, columns, cluster=other)
    assert str(Canary.objects.get(cluster=cluster)) == "canary of shop: on"
