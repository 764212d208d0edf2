from __future__ import annotations

from dashboard.clusters.models import Cluster
from dashboard.reports.models import Report, ReportToken
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import assert_refused, assert_unique


def test_a_token_has_a_group_a_maker_and_at_most_one_end(cluster: Cluster) -> None:
    right = {
        "cluster": cluster,
        "group_name": "g",
        "digest": "d",
        "hint": "ekr_123456",
        "made_by": "ada",
        "made_at": T0,
    }

    ended = {"revoked_at": T0 - 1, "revoked_by": "bo"}
    wrong: list[dict[str, object]] = [{"group_name": ""}, {"made_by": ""}, {"made_at": -1}, {"revoked_at": T0}, ended]
    assert_refused(ReportToken, right, *wrong)
    assert_unique(ReportToken, right, digest="e")
    assert str(ReportToken.objects.first()) == "ekr_123456… of g"


def test_a_report_is_taken_once_and_counts_its_facts(cluster: Cluster) -> None:
    right = {"cluster": cluster, "group_name": "g", "report_id": "r", "digest": "d", "facts": 2, "stored": 1, "at": T0}

    assert_refused(
        Report, right, {"report_id": ""}, {"facts": 0, "stored": 0}, {"stored": 3}, {"stored": -1}, {"at": -1}
    )
    assert_unique(Report, right, group_name="other")
    assert str(Report.objects.first()) == "r of g"
