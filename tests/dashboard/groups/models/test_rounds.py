from __future__ import annotations

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Handoff, Round, RoundCause
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import SOURCED, WITHOUT_SOURCE, assert_refused, assert_unique, make_group, store


def a_round(cluster: Cluster) -> dict[str, object]:
    return {
        "group": make_group(cluster),
        "number": 2,
        "wave": 1,
        "cause": "member joined",
        "opened_at": T0,
        "last_cause_at": T0,
    }


def test_a_round_has_a_number_once_and_one_is_open_at_a_time(cluster: Cluster) -> None:
    columns = a_round(cluster)

    assert_unique(Round, columns, number=3, closed_at=T0, state="closed")
    assert_refused(Round, {**columns, "number": 4, "closed_at": T0, "state": "closed"}, {"number": 3}, {"number": 0})
    assert_refused(
        Round, {**columns, "number": 4, "closed_at": T0, "state": "closed"}, {"closed_at": None, "state": "open"}
    )


def test_the_state_of_a_round_and_its_end_agree(cluster: Cluster) -> None:
    assert_refused(
        Round,
        a_round(cluster),
        {"state": "closed"},
        {"closed_at": T0},
        {"state": "closed", "closed_at": T0 - 1},
        {"state": "superseded", "closed_at": T0},
        {"state": "superseded", "closed_at": T0, "superseded_by": 2},
        {"superseded_by": 3},
        {"state": "not converged"},
        {"state": "fine"},
        {"cause": "fate"},
        {"wave": 3},
        {"wave": 0},
        {"move_count": -1},
        {"last_cause_at": T0 - 1},
        {"opened_at": -1},
        {"opened_low": -1},
        {"last_cause_at": T0 * 1_000_000},
        {"state": "closed", "closed_at": T0 * 1_000_000},
        {"state": "closed", "closed_at": T0 + 5, "settled_at": T0 + 4},
        {"state": "superseded", "closed_at": T0, "superseded_by": 1},
        {"state": "not converged", "not_converged_at": T0 - 1},
    )


def test_a_cause_has_evidence_and_a_source(cluster: Cluster) -> None:
    columns = {"group": make_group(cluster), "cause": "member joined", "evidence": "A joined", **SOURCED}

    assert_refused(RoundCause, columns, {"evidence": ""}, {"cause": "fate"}, *WITHOUT_SOURCE)


def test_a_handoff_is_between_two_and_its_bounds_are_in_order(cluster: Cluster) -> None:
    columns = {
        "round": store(Round, **a_round(cluster)),
        "topic": "orders",
        "broker": "east",
        "queue_id": 0,
        "from_client": "A",
        "to_client": "B",
        "taken_low": T0,
        "taken_high": T0 + 5,
        "first_pull_at": T0 + 6,
        "unowned_low": 0,
        "unowned_high": 5,
    }

    assert_refused(
        Handoff,
        columns,
        {"to_client": "A"},
        {"from_client": "", "to_client": ""},
        {"taken_high": T0 - 1},
        {"first_pull_at": T0 - 1},
        {"unowned_high": -1},
        {"overlap_low": 5, "overlap_high": 4},
        {"dropped_low": T0, "dropped_high": T0 - 1},
        {"dropped_at": T0, "dropped_low": T0 + 1},
        {"dropped_at": T0, "dropped_high": T0 - 1},
        {"taken_at": T0 - 1},
        {"taken_at": T0 + 6},
        {"dropped_at": -1},
        {"taken_high": T0 * 1_000_000},
        {"first_pull_at": T0 * 1_000_000},
        {"unowned_low": -1},
        {"overlap_low": -2},
        {"pause_high": -1},
        {"queue_id": -2},
        {"queue_id": 2**31},
    )
    assert_unique(Handoff, columns, queue_id=1)


def test_what_all_members_left_counts_as_left_unless_another_round_took_over() -> None:
    ended = {"closed_at": T0, "move_count": 4, "members_before": ["A"], "members_after": []}

    def counts(**columns: object) -> tuple[int | None, int | None]:
        row = Round(**{**ended, **columns})
        return row.changed_count, row.left_count

    assert counts() == (0, 4)
    assert counts(move_count=None) == (0, None)
    assert counts(superseded_by=2) == counts(members_after=["B"]) == counts(members_before=[]) == (4, 0)
    assert counts(closed_at=None) == (None, None)
