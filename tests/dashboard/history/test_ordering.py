from __future__ import annotations

import json
from pathlib import Path

import pytest
from kombu.exceptions import OperationalError

from dashboard.audit.models import AuditEntry
from dashboard.history import ordering, tasks
from dashboard.history.asked import GOOD_FOR_S, Asked, begin, standing
from dashboard.history.jobs import LOGS
from dashboard.history.ordering import ALL, Choice, Refused, Sources, Wish, choices, order
from dashboard.history.tasks import run_history_jobs
from dashboard.people.roles import Access, Role, Scope
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db
ADA = Access("ada", (Scope(Role.OPERATOR),))
OF_EAST = Access("eve", (Scope(Role.OPERATOR, clusters="east"), Scope(Role.VIEWER)))
OF_SOME = Access("bo", (Scope(Role.OPERATOR, groups="orders-*"),))
CLUSTERS = ["east", "west"]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Take the queue's place, on a machine with Java."""
    sent: list[dict[str, object]] = []
    monkeypatch.setattr(ordering, "spark_trouble", lambda: None)
    monkeypatch.setattr(run_history_jobs, "apply_async", lambda **told: sent.append(told))
    return sent


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    (tmp_path / "history" / "2026-11-20").mkdir(parents=True)
    for cluster in CLUSTERS:
        (tmp_path / "history" / "2026-11-20" / f"{cluster}.jsonl").write_text("")
    return Sources(history=tmp_path / "history", reports=tmp_path / "reports", has_logs=True)


def ask(sources: Sources, name: str = "east", access: Access = ADA, reason: str = "to see") -> Asked:
    return order(wish=Wish(name=name, reason=reason), access=access, clusters=CLUSTERS, sources=sources, now=T0)


def test_an_order_goes_into_the_queue_once_and_into_the_audit_log(
    sources: Sources, sent: list[dict[str, object]]
) -> None:
    asked = ask(sources)

    assert sent == [{"kwargs": {"number": asked.number}, "expires": GOOD_FOR_S, "retry": False}]
    entry = AuditEntry.objects.get()
    assert (entry.author, entry.verb, entry.subject) == ("ada", "order a report", "east")
    assert json.loads(entry.detail) == {"reason": "to see"}
    with pytest.raises(Refused, match="ada ordered waits"):
        ask(sources, "west")
    begin(sources.reports, asked.number, now=T0)
    assert (len(sent), AuditEntry.objects.count()) == (1, 1)


def test_a_person_orders_reports_of_clusters_of_which_they_are_operators_as_a_whole(
    sources: Sources, sent: list[dict[str, object]]
) -> None:
    every = [Choice(ALL, ""), Choice("east", "east"), Choice("west", "west"), Choice(LOGS, "")]
    assert choices(access=ADA, clusters=CLUSTERS, sources=sources) == every
    assert choices(access=OF_EAST, clusters=CLUSTERS, sources=sources) == [Choice("east", "east")]

    for name in ("west", LOGS, ALL):
        with pytest.raises(Refused, match="there is: east") as refused:
            ask(sources, name, OF_EAST)
        assert refused.value.status == 422
    with pytest.raises(Refused, match="needs the role operator for all groups of a cluster; you have operator") as why:
        ask(sources, access=OF_SOME)
    assert (why.value.status, sent) == (403, [])
    assert ask(sources, access=OF_EAST).only == "east"


@pytest.mark.parametrize("reason", ["", " \n", "x" * 501], ids=["none", "blank", "long"])
def test_it_needs_a_reason(sources: Sources, sent: list[dict[str, object]], reason: str) -> None:
    with pytest.raises(Refused) as refused:
        ask(sources, reason=reason)

    assert (refused.value.status, sent) == (422, [])


def test_without_java_spark_is_off(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "spark_trouble", lambda: "there is no java on the PATH")

    with pytest.raises(Refused, match="Spark is off: there is no java"):
        ask(sources)


@pytest.mark.usefixtures("sent")
def test_without_anything_to_read_nothing_is_ordered(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="nothing to read yet"):
        ask(Sources(history=tmp_path, reports=tmp_path / "r", has_logs=False))


def test_where_the_queue_does_not_answer_nothing_was_ordered(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_told: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(ordering, "spark_trouble", lambda: None)
    monkeypatch.setattr(run_history_jobs, "apply_async", fail)

    with pytest.raises(Refused, match="does not answer; nothing was ordered"):
        ask(sources)

    assert not AuditEntry.objects.exists()
    assert standing(sources.reports, now=T0).is_idle


def test_the_worker_runs_what_was_asked_for_once_and_then_the_next_may_be_ordered(
    sources: Sources, sent: list[dict[str, object]], settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "REPORTS", sources.reports)
    ran: list[object] = []

    def run_jobs(**told: object) -> dict[str, dict[str, object]]:
        ran.append(told["only"])
        return {}

    monkeypatch.setattr(tasks, "run_jobs", run_jobs)
    asked = ask(sources, LOGS)
    monkeypatch.setattr(tasks, "now_ms", lambda: T0 + 1)

    for _ in range(2):
        assert run_history_jobs(asked.number) == {}

    assert ran == [LOGS]
    assert ask(sources, ALL).only is None
    assert len(sent) == 2
