import pytest

from dashboard.clusters.exporting import file_name
from dashboard.history.jobs import LOGS
from dashboard.history.present import Run, runs_of
from dashboard.people.roles import Access, Role, Scope

KEPT: dict[str, dict[str, object]] = {
    LOGS: {"status": 0, "said": "", "at": 1, "finished_at": 1, "summary": "2 groups."},
    "shop": {"status": 3, "said": "Spark is off: no java\n", "at": 9, "finished_at": None, "summary": None},
    "gone": {"status": 1, "said": "x", "at": 8, "finished_at": 8},
}
EVERYTHING = Access("ada", (Scope(Role.VIEWER),))


def names(access: Access) -> list[str]:
    return [run.name for run in runs_of(KEPT, clusters=["shop"], access=access, pages=[])]


def test_each_run_has_its_name_its_end_and_whether_there_is_a_page() -> None:
    gone, shop, logs = runs_of(KEPT, clusters=["shop"], access=EVERYTHING, pages=[LOGS])

    assert shop == Run("shop", "shop", "off", 9, None, None, "Spark is off: no java", has_page=False)
    assert logs == Run(LOGS, "", "done", 1, 1, "2 groups.", "", has_page=True)
    assert (gone.title, gone.end, gone.summary) == ("gone", "missed", None)


@pytest.mark.parametrize("status", [130, -15, 2, -9])
def test_what_did_not_come_to_its_end_has_failed(status: int) -> None:
    (run,) = runs_of({"a": {"status": status}}, clusters=["a"], access=EVERYTHING, pages=[])

    assert (run.end, run.at, run.said) == ("failed", None, "")


def test_one_that_ends_with_1_has_missed_something_only_where_it_finished() -> None:
    kept: dict[str, dict[str, object]] = {
        "a": {"status": 1, "at": 8, "finished_at": 8},
        "b": {"status": 1, "at": 8, "finished_at": 5},
        "c": {"status": 1, "at": 8, "finished_at": None},
    }

    runs = runs_of(kept, clusters=[], access=EVERYTHING, pages=[])

    assert [(run.end, run.finished_at) for run in runs] == [("missed", 8), ("failed", 5), ("failed", None)]


def test_a_status_that_is_not_there_is_no_success() -> None:
    (run,) = runs_of({"a": {}}, clusters=["a"], access=EVERYTHING, pages=[])

    assert run.end == "failed"


def test_who_sees_a_whole_cluster_sees_its_report_and_nobody_else_does() -> None:
    assert names(EVERYTHING) == ["gone", "shop", LOGS]
    assert names(Access("bo", (Scope(Role.VIEWER, clusters="shop"),))) == ["shop"]
    assert names(Access("cy", (Scope(Role.ADMIN, clusters="shop", groups="orders-*"),))) == []
    assert names(Access("di", (Scope(Role.VIEWER, clusters="go*"),))) == []


def test_a_cluster_whose_name_is_no_files_name_is_called_by_its_own() -> None:
    (run,) = runs_of({file_name("shop (1)"): {}}, clusters=["shop (1)"], access=EVERYTHING, pages=[])

    assert run.name != run.title == "shop (1)"
