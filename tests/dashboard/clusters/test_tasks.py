from pathlib import Path

import pytest
from django.test import override_settings

from dashboard.clusters.tasks import export_history
from tests.dashboard.story import joined, told


@pytest.mark.usefixtures("cluster")
def test_the_task_exports_to_the_home(tmp_path: Path) -> None:
    told(joined("A", 1))

    with override_settings(HISTORY=tmp_path):
        assert export_history() == 1

    assert (tmp_path / "2023-11-14" / "shop.jsonl").is_file()
