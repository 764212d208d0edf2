"""The page of the nightly reports, and a report itself, which runs as a page of nobody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings

from dashboard.history import ordering
from dashboard.history.jobs import LAST, LOGS
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from rebalance_engine.pipeline.page import page as written
from rebalance_engine.pipeline.reports import read_report
from rebalance_engine.pipeline.summary import summary
from tests.dashboard.story import T0
from tests.rebalance_engine.pipeline.test_reports import COST, note, put

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Of every figure the longest words that there are for it.
TALKATIVE = {
    "rounds": 1_234, "handoffs": 12_345, "returns": 1_234, "pause_ms": 8_640_000, "pause_restart_ms": 7_300_000,
    "pause_locked_ms": 240_000, "unowned_ms": 600_000, "unowned_most_ms": 7_300_000, "unowned_open_ms": 9_000,
    "deserted_ms": 8_640_000, "overlap_ms": 500_000, "overlap_stopping_ms": 2_500, "refused_pulls": 12_345,
    "duplicates_least": 1_234, "duplicates_most": 56_789, "duplicates_unbounded": 456, "above_fewest": 12_345,
    "flaps": 1_234, "idle_ms": 123_456, "present_ms": 999_999, "silence_most_ms": 12_000, "silence_unbounded": 123,
    "unheard": 3, "lock_lost_ms": 50_000,
}  # fmt: skip
TOO_WIDE = """() => [...document.querySelectorAll('[role=region]')]
    .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"""
LINES_OF_NAMES = """() => [...document.querySelectorAll('td[data-name=group]')].map((cell) => {
    const text = document.createRange();
    text.selectNodeContents(cell);
    return text.getClientRects().length;
})"""
STORED = "() => { try { return document.cookie } catch { return 'out of reach' } }"


def test_a_report_draws_its_charts_and_reaches_nothing_of_ours(page: Page, tmp_path: Path, settings: Settings) -> None:
    settings.REPORTS, folder = tmp_path, tmp_path / LOGS
    note(folder)
    put(folder, "costs", {**COST, **TALKATIVE, "group": "orders-with-a-rather-long-name" * 3})
    report = read_report(folder)
    (folder / "report.html").write_text(written(report))
    done = {"status": 0, "at": T0, "finished_at": T0, "summary": summary(report), "said": "holds: 1.0 s\n" * 3}
    off = {"status": 3, "at": T0, "finished_at": None, "summary": None, "said": "Spark is off: there is no java"}
    (tmp_path / LAST).write_text(json.dumps({LOGS: done, "east": off}))

    page.goto("/")
    page.get_by_role("link", name="Reports").click()

    expect(page.get_by_role("heading", name="RocketMQ's own logs")).to_be_visible()
    expect(page.locator("[data-report=east] details")).to_have_attribute("open", "")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("link", name="open the report").click()
    expect(page.locator(".main-svg").first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(page.get_by_role("region", name="Groups", exact=True)).to_be_visible()
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate(STORED) == "out of reach"


def test_a_group_is_named_in_one_line_and_a_name_without_end_widens_nothing(chromium: Browser, tmp_path: Path) -> None:
    note(tmp_path)
    named = chromium.new_page(viewport={"width": 1280, "height": 900})
    put(tmp_path, "costs", *({**COST, **TALKATIVE, "group": name} for name in ("g_orderly_ord", "g_orders_cut")))
    named.set_content(written(read_report(tmp_path)))

    assert named.evaluate(LINES_OF_NAMES) == [1] * 4
    assert named.evaluate(TOO_WIDE) == []

    put(tmp_path, "costs", {**COST, "group": "g" * 255, "pause_ms": 9_999_999}, day="2026-11-22")
    for width in (1280, 390):
        named.set_viewport_size({"width": width, "height": 900})
        named.set_content(written(read_report(tmp_path)))
        assert named.evaluate("document.documentElement.scrollWidth") <= width
    named.close()


def test_the_form_that_orders_a_run_fits_on_a_phone(
    page: Page, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REPORTS, settings.HISTORY = tmp_path / "reports", tmp_path / "history"
    for name in ("east", "a-cluster-of-a-rather-long-name"):
        (tmp_path / "history" / "2026-11-20").mkdir(parents=True, exist_ok=True)
        (tmp_path / "history" / "2026-11-20" / f"{name}.jsonl").write_text("")
    monkeypatch.setattr(ordering, "spark_trouble", lambda: None)

    Grant.objects.update(role=Role.OPERATOR.value)
    page.goto("/nightly/")
    page.locator("summary").filter(has_text="Bring up to date now").click()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
