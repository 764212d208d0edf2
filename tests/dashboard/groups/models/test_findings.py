from __future__ import annotations

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Finding
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import assert_refused, assert_unique, make_group, store


def test_a_finding_has_proof_and_is_suspected_confirmed_and_cleared_in_this_order(cluster: Cluster) -> None:
    columns = {
        "cluster": cluster,
        "group": make_group(cluster),
        "kind": "orphan queue",
        "subject": "orders/east/0",
        "subject_key": "orders/east/0",
        "sentence": "Nobody consumes it.",
        "proof": ["A answered, and does not hold it"],
        "origin": "derived",
        "suspected_at": T0,
        "confirmed_at": T0 + 2,
    }

    assert_refused(
        Finding,
        columns,
        {"proof": []},
        {"kind": ""},
        {"sentence": ""},
        {"subject_key": ""},
        {"origin": "hearsay"},
        {"confirmed_at": T0 - 1},
        {"cleared_at": T0 + 1},
        {"suspected_at": -1},
    )
    assert_unique(Finding, columns, subject_key="orders/east/1")
    assert_unique(Finding, {**columns, "group": None}, subject_key="orders/east/1")
    store(Finding, **{**columns, "cleared_at": T0 + 3})
