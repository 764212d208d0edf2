from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from dashboard.clusters.exporting import file_name
from dashboard.clusters.models import Cluster
from dashboard.history import ordering
from dashboard.history.asked import begin
from dashboard.history.jobs import LAST, LOGS
from dashboard.history.tasks import run_history_jobs
from dashboard.people.roles import Role
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


def test_a_run_is_ordered_once_and_how_far_it_is_is_told(
    client: Client, cluster: Cluster, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REPORTS, settings.HISTORY, name = tmp_path / "reports", tmp_path / "history", file_name(cluster.name)
    (tmp_path / "history" / "2026-11-20").mkdir(parents=True)
    (tmp_path / "history" / "2026-11-20" / f"{name}.jsonl").write_text("")
    sent: list[dict[str, dict[str, str]]] = []
    monkeypatch.setattr(ordering, "spark_trouble", lambda: None)
    monkeypatch.setattr(run_history_jobs, "apply_async", lambda **told: sent.append(told))
    client.force_login(person(Role.OPERATOR))

    def ask(**wanted: str) -> tuple[int, dict[str, object]]:
        answer = client.post("/api/v1/nightly", wanted, content_type="application/json")
        return answer.status_code, answer.json()

    def under_way() -> dict[str, object]:
        told: dict[str, object] = client.get("/api/v1/nightly/under-way").json()
        return told

    assert under_way() == {"state": "nothing", "ordered": None}
    assert ask(reason=" ")[0] == 422
    assert ask(name="another", reason="to see")[0] == 422
    status, ordered = ask(name=name, reason="to see")
    assert (status, ordered["name"], ordered["author"], ordered["begun_at"]) == (202, name, "operator", None)
    assert ask(reason="to see") == (
        409,
        {"problem": "The run that operator ordered waits for the worker for jobs; one at a time."},
    )
    assert under_way() == {"state": "waiting", "ordered": ordered}
    client.force_login(person(name="bo", groups="orders-*"))
    assert under_way() == {"state": "waiting", "ordered": None}
    assert begin(settings.REPORTS, sent[0]["kwargs"]["number"], now=T0) is not None
