from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from dashboard.clusters.exporting import file_name
from dashboard.clusters.models import Cluster
from dashboard.history import ordering
from dashboard.history.jobs import LAST, LOGS
from dashboard.history.tasks import run_history_jobs
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db
NAME = "shop (east)"


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, settings: Settings) -> Path:
    settings.REPORTS = tmp_path
    Cluster.objects.create(name=NAME, namesrv="127.0.0.1:9876", added_at=T0)
    return tmp_path


def keep(reports: Path, **runs: Mapping[str, object]) -> None:
    named = {{"east": file_name(NAME), "logs": LOGS}.get(name, name): one for name, one in runs.items()}
    (reports / LAST).write_text(json.dumps(named))


def page(client: Client, role: Role = Role.VIEWER) -> str:
    client.force_login(person(role))
    answer = client.get("/nightly/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_before_the_first_night_it_says_so_and_that_no_logs_are_read(client: Client) -> None:
    shown = page(client)

    assert "No run has ended yet" in shown and "EVENKEEL_LOGS names no folder" in shown


def test_each_report_says_how_it_ended_and_what_it_came_to(client: Client, reports: Path, settings: Settings) -> None:
    settings.LOGS = reports / "logs"
    done = {"status": 0, "at": T0, "finished_at": T0, "summary": "1 group, <7> rounds.", "said": "holds: 1.0 s"}
    off = {"status": 3, "at": T0, "finished_at": None, "summary": None, "said": "Spark is off: no java"}
    keep(reports, east=off, logs=done)

    shown = page(client)

    assert NAME in shown and 'data-end="off"' in shown and "never finished yet" in shown
    assert "Spark is off: no java" in shown
    assert 'data-end="done"' in shown and "1 group, &lt;7&gt; rounds." in shown
    assert "logs are read too" in shown
    assert "open the report" not in shown


def test_a_report_runs_as_a_page_of_nobody(client: Client, reports: Path) -> None:
    keep(reports, logs={"status": 0, "at": T0, "finished_at": T0, "summary": "", "said": ""})
    (reports / LOGS).mkdir()
    (reports / LOGS / "report.html").write_text("<script>1</script>")
    shown = page(client)

    answer = client.get(f"/nightly/{LOGS}/")

    assert f'href="/nightly/{LOGS}/"' in shown
    assert answer.content == b"<script>1</script>"
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'") and "allow-same-origin" not in policy


def test_a_report_is_for_who_may_see_all_of_its_cluster(client: Client, reports: Path) -> None:
    keep(reports, east={"status": 0, "at": T0, "finished_at": T0, "summary": "secret", "said": ""})
    (reports / file_name(NAME)).mkdir()
    (reports / file_name(NAME) / "report.html").write_text("secret")
    client.force_login(person(Role.VIEWER, name="bo", groups="orders-*"))

    assert "secret" not in client.get("/nightly/").content.decode()
    for name in (file_name(NAME), "nothing", "..", LAST):
        assert client.get(f"/nightly/{name}/").status_code == 404


def test_an_operator_orders_a_run_from_the_page_which_then_says_who_waits(
    client: Client, reports: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HISTORY = reports / "history"
    (settings.HISTORY / "2026-11-20").mkdir(parents=True)
    (settings.HISTORY / "2026-11-20" / f"{file_name(NAME)}.jsonl").write_text("")
    monkeypatch.setattr(ordering, "spark_trouble", lambda: None)
    sent: list[object] = []
    monkeypatch.setattr(run_history_jobs, "apply_async", lambda **told: sent.append(told))
    shown = page(client, Role.OPERATOR)
    assert f'<option value="{file_name(NAME)}">' in shown and 'action="/nightly/order"' in shown

    refused = client.post("/nightly/order", {"name": file_name(NAME)}, follow=True).content.decode()
    ordered = client.post("/nightly/order", {"name": file_name(NAME), "reason": "to see"}, follow=True).content.decode()
    again = client.post("/nightly/order", {"name": file_name(NAME), "reason": "to see"}, follow=True).content.decode()

    assert "It needs a reason" in refused
    assert 'data-state="waiting"' in ordered and 'action="/nightly/order"' not in ordered
    assert "operator ordered waits" in again
    assert len(sent) == 1
    client.force_login(person(Role.OPERATOR, name="bo", groups="orders-*"))
    assert "This needs the role operator" in client.get("/nightly/").content.decode()
    assert client.post("/nightly/order", {"reason": "to see"}).status_code == 403


def test_without_java_the_page_says_that_spark_is_off(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "spark_trouble", lambda: "there is no java on the PATH")

    assert "Spark is off: there is no java on the PATH." in page(client, Role.OPERATOR)
