from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from dashboard.audit.operations import append
from dashboard.auditing import views
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def log(tmp_path: Path, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Path:
    settings.AUDIT_ANCHOR = tmp_path / "anchor"
    with django_capture_on_commit_callbacks(execute=True):
        append(at=T0, author="ada", verb="group.recompute", subject="shop <billing>", detail={"reason": "lag"})
        append(at=T0 + 1, author="bo", verb="grant a role", subject="eve\u202e")
    return tmp_path / "anchor"


def page(client: Client, query: str = "") -> str:
    client.force_login(person(Role.ADMIN))
    answer = client.get(f"/audit/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_admin_reads_who_did_what_and_that_nobody_touched_it(client: Client) -> None:
    shown = page(client)

    assert "shop &lt;billing&gt;" in shown and "eve⟨U+202E⟩" in shown and "lag" in shown
    assert 'data-verdict="whole"' in shown


def test_actions_and_details_are_in_the_readers_language(client: Client) -> None:
    append(at=T0 + 2, author="ada", verb="by-config.publish", subject="shop g", detail={"version": 2, "sha256": "ab"})
    client.cookies["evenkeel-language"] = "zh-hans"

    shown = page(client)

    assert "保存按配置分配的版本</td>" in shown and ">保存按配置分配的版本</option>" in shown
    assert "<dt>版本</dt> <dd>2</dd>" in shown and "<dt>理由</dt> <dd>lag</dd>" in shown


def test_what_somebody_looks_for_is_kept_in_the_form(client: Client) -> None:
    shown = page(client, "?person=ada&since=never&page=x")

    assert "Recompute now</td>" in shown and "grant a role</td>" not in shown
    assert 'value="ada"' in shown
    assert "never is no day" in shown


def test_a_log_that_is_not_what_was_written_says_so_on_top(client: Client, log: Path) -> None:
    log.write_text(f"9 {'a' * 64}\n")

    shown = page(client)

    assert 'data-verdict="broken"' in shown
    alarm = shown[shown.index('role="alert"') :]
    assert '<li class="finding" data-kind="broken log">' in alarm and '<svg class="sign"' in alarm
    assert "entries 3 to 9 are missing" in alarm


def test_a_long_log_is_verified_when_somebody_asks(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "AT_ONCE", 1)

    assert 'data-verdict="unknown"' in page(client)
    assert 'data-verdict="whole"' in client.get("/audit/?verify=yes").content.decode()


def test_an_admin_of_some_groups_is_told_why_not(client: Client) -> None:
    client.force_login(person(Role.ADMIN, groups="orders-*"))

    answer = client.get("/audit/")

    assert answer.status_code == 403
    assert "admins of all of them" in answer.content.decode()
    assert 'href="/audit/"' not in client.get("/").content.decode(), "no page leads to what is refused"
