from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from dashboard.clusters.exporting import file_name
from dashboard.clusters.models import Cluster
from dashboard.history.jobs import LAST, LOGS
from tests.dashboard.api.conftest import Get
from tests.dashboard.persons import person
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


def test_how_each_run_ended_is_told_to_who_may_see_its_cluster(
    get: Get, client: Client, cluster: Cluster, tmp_path: Path, settings: Settings
) -> None:
    settings.REPORTS = tmp_path
    assert get("/nightly")["rows"] == []
    done = {"status": 0, "at": T0, "finished_at": T0, "summary": "1 group", "said": "holds: 1.0 s"}
    off = {"status": 3, "at": T0, "finished_at": None, "summary": None, "said": "Spark is off"}
    (tmp_path / LAST).write_text(json.dumps({file_name(cluster.name): done, LOGS: off}))
    (tmp_path / file_name(cluster.name)).mkdir()
    (tmp_path / file_name(cluster.name) / "report.html").write_text("charts")

    of_cluster, of_logs = get("/nightly")["rows"]

    assert of_cluster == {
        "name": file_name(cluster.name),
        "cluster": cluster.name,
        "end": "done",
        "at": T0,
        "finished_at": T0,
        "summary": "1 group",
        "said": "holds: 1.0 s",
        "unknown": {},
        "page": f"/nightly/{file_name(cluster.name)}/",
    }
    assert client.get(of_cluster["page"]).content == b"charts"
    assert (of_logs["cluster"], of_logs["end"], of_logs["page"]) == (None, "off", None)
    assert of_logs["finished_at"] is None
    assert get("/nightly", format="csv").startswith("name,cluster,end")
    client.force_login(person(groups="orders-*"))
    assert client.get("/api/v1/nightly").json()["rows"] == []
