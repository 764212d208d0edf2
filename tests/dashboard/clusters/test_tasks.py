import logging
from pathlib import Path

import pytest
from django.db import OperationalError
from django.test import override_settings

from dashboard.clusters.tasks import export_history, forget_old_days
from tests.dashboard.story import joined, told


@pytest.mark.usefixtures("cluster")
def test_the_task_exports_to_the_home(tmp_path: Path) -> None:
    told(joined("A", 1))

    with override_settings(HISTORY=tmp_path):
        assert export_history() == 1

    assert (tmp_path / "2023-11-14" / "shop.jsonl").is_file()


@pytest.mark.usefixtures("cluster")
def test_the_task_deletes_old_days_and_leaves_all_where_none_are_old(tmp_path: Path) -> None:
    told(joined("A", 1))

    with override_settings(HISTORY=tmp_path):
        export_history()
        with override_settings(HISTORY_DAYS=0):
            assert forget_old_days() == 0
        with override_settings(HISTORY_DAYS=90):
            assert forget_old_days() == 1

    assert not (tmp_path / "2023-11-14").exists()


@pytest.mark.usefixtures("cluster")
def test_a_locked_database_is_one_warning_and_the_next_export_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(**_given: object) -> int:
        raise OperationalError("database is locked")

    told(joined("A", 1))
    with override_settings(HISTORY=tmp_path):
        with monkeypatch.context() as others:
            others.setattr("dashboard.clusters.tasks.export", refuse)
            assert export_history() == 0
        assert export_history() == 1

    [warned] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert warned.getMessage().startswith("the export of history is done later")
    assert warned.exc_info is None
