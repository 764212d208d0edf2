"""The door by which facts come in."""

import pytest
from kombu.exceptions import OperationalError

from dashboard.clusters.models import Cluster, OutboxLine, Queue
from dashboard.clusters.outbox import WrongCluster
from dashboard.common.rest import Rest
from dashboard.groups.models import Group, Holding, Member, RoundCause
from dashboard.groups.operations import LeaseLost, record, start_owed
from dashboard.groups.rebalancing import due_groups
from rebalance_engine.eventlog import read
from rebalance_engine.events import Cause, MemberJoined, Origin, Source
from tests.dashboard.story import EAST, T0, held, joined, left, missed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def test_a_batch_makes_the_rows_it_speaks_of() -> None:
    outcome = told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))

    group = Group.objects.get()
    assert (outcome.facts, list(outcome.groups)) == (9, [group.pk])
    assert set(Member.objects.values_list("client_id", flat=True)) == {"A", "B"}
    assert Queue.objects.filter(gone_at=None).count() == 4
    assert Holding.objects.filter(until=None).count() == 4
    assert (group.inputs_version, group.model) == (1, "CLUSTERING")


def test_the_same_facts_twice_are_stored_once() -> None:
    facts = [route(4), *seen("A"), joined("B", 5), held("A", 10, [0, 1]), left("B", 20)]
    told(*facts)
    lines = OutboxLine.objects.count()

    again = told(*facts, at=100)

    assert (again.facts, dict(again.groups)) == (0, {})
    assert OutboxLine.objects.count() == lines == len(facts)
    assert Member.objects.get(client_id="B").left_at == T0 + 20


def test_a_look_that_repeats_what_is_known_is_no_news_but_a_newer_look() -> None:
    told(route(2), *seen("A"), held("A", 10, [0, 1]))

    again = told(held("A", 1_010, [0, 1]))

    assert again.facts == 0
    assert Member.objects.get().held_seen_at == T0 + 1_010


def test_every_line_can_be_read_again_and_names_its_cluster() -> None:
    told(joined("A", 5))

    fact = read(OutboxLine.objects.get().line)

    assert isinstance(fact, MemberJoined)
    assert fact.source.cluster == "shop"


def test_a_queue_that_comes_between_two_looks_has_both_as_its_bounds() -> None:
    told(route(4), *seen("A"), held("A", 1_000, [0]))

    told(held("A", 3_000, [1]))

    began = Holding.objects.get(queue__queue_id=1)
    ended = Holding.objects.get(queue__queue_id=0)
    assert (began.at_low, began.at, began.at_high) == (T0 + 1_000, T0 + 3_000, T0 + 3_000)
    assert (ended.until_low, ended.until, ended.until_high) == (T0 + 1_000, T0 + 3_000, T0 + 3_000)


def test_two_members_may_hold_one_queue() -> None:
    told(route(1), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 11, [0]))

    assert Holding.objects.filter(until=None, queue__queue_id=0).count() == 2


def test_a_member_that_left_holds_nothing_and_its_cause_is_kept_with_its_evidence() -> None:
    told(route(1), *seen("A"), held("A", 10, [0]))

    told(left("A", 5_000))

    cause = RoundCause.objects.get()
    assert Holding.objects.filter(until=None).count() == 0
    assert (cause.cause, cause.client_id, cause.round_id) == (Cause.MEMBER_LEFT.value, "A", None)
    assert cause.evidence == "A left: whether cleanly or lost is unknown"


def test_an_older_fact_that_arrives_late_changes_nothing() -> None:
    told(route(2), *seen("A"), joined("B", 5_000), left("B", 9_000), held("A", 9_000, [0]))

    late = told(joined("B", 6_000), held("A", 8_000, [1]))

    assert late.facts == 0
    assert Member.objects.get(client_id="B").left_at == T0 + 9_000


def test_an_answer_that_did_not_come_makes_what_is_held_unknown_not_empty() -> None:
    told(route(1), *seen("A"), held("A", 10, [0]))

    told(missed("A", 2_000))

    member = Member.objects.get()
    assert member.is_silent
    assert Holding.objects.filter(until=None).count() == 1


def test_a_route_that_grows_concerns_every_group_that_consumes_the_topic() -> None:
    told(route(2), *seen("A"), *seen("A", group="other"))

    outcome = told(route(3, 50))

    assert set(outcome.groups.values()) == {Cause.ROUTE_CHANGED}
    assert len(outcome.groups) == 2


def test_hostile_names_come_back_as_they_were() -> None:
    names = ["<script>", "x" * 1000, "\u202eabc", "nul\0", "\ud800", r"\u0041", "\U0001f600" * 300]
    told(*(joined(name, 5, group=name) for name in names))
    told(*(joined(name, 6, group=name) for name in names))

    kept = set(Member.objects.values_list("client_id", flat=True))

    assert len(kept) == len(names)
    assert {name for name in names if len(name) <= 400 and len(name.encode("utf-8", "surrogatepass")) <= 600} <= kept


def test_a_watcher_whose_lease_is_over_stores_nothing() -> None:
    Cluster.objects.update(lease_epoch=2)

    with pytest.raises(LeaseLost, match="lease 2, not 1"):
        record(cluster="shop", facts=[joined("A", 5)], now=T0, lease_epoch=1)

    assert not Member.objects.exists()


def test_a_fact_about_another_cluster_is_refused() -> None:
    source = Source(origin=Origin.ADMIN_ANSWER, cluster="other")
    fact = MemberJoined(at=T0, source=source, exactness=joined("A", 0).exactness, group="g", client="A")

    with pytest.raises(WrongCluster, match="'other'"):
        told(fact)


def test_a_rebalance_is_asked_for_once_the_facts_are_stored(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: pytest.FixtureRequest
) -> None:
    assert EAST.broker == "east"
    asked: list[tuple[int, str]] = []
    monkeypatch.setattr(
        "dashboard.groups.operations.rebalance_group.delay", lambda *, group, cause: asked.append((group, cause))
    )

    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a factory
        told(joined("A", 5))

    assert asked == [(Group.objects.get().pk, "member joined")]


def test_without_a_broker_for_tasks_facts_are_stored_and_beat_finds_the_group(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: pytest.FixtureRequest,
) -> None:
    def refuse(**_: object) -> None:
        raise OperationalError("Connection refused")

    monkeypatch.setattr("dashboard.groups.operations.rebalance_group.delay", refuse)

    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a factory
        told(joined("A", 5))

    assert due_groups(now=T0 + 20) == [Group.objects.get().pk]
    assert [(row.levelname, row.exc_info) for row in caplog.records] == [("WARNING", None)]
    assert "1 groups wait until one can: Connection refused" in caplog.text


def test_groups_that_waited_for_redis_are_sent_at_once_when_it_is_back_and_not_by_beat(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: pytest.FixtureRequest
) -> None:
    sent: list[str] = []
    is_back = False

    def send(**_: object) -> None:
        if not is_back:
            raise OperationalError("Connection refused")
        sent.append("all that are due")

    monkeypatch.setattr("dashboard.groups.operations._owed", set())
    monkeypatch.setattr("dashboard.groups.operations._redis", Rest(for_s=30))
    monkeypatch.setattr("dashboard.groups.operations.rebalance_group.delay", send)
    monkeypatch.setattr("dashboard.groups.operations.rebalance_due_groups.delay", send)
    assert start_owed()
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a factory
        told(joined("A", 5))

    assert not start_owed()
    is_back = True
    assert start_owed()
    assert start_owed()

    assert sent == ["all that are due"]


def test_whoever_stores_facts_waits_for_a_redis_that_hangs_once_and_not_with_every_batch(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: pytest.FixtureRequest
) -> None:
    lease = Cluster.objects.get().lease_epoch
    asked, clock = list[str](), [0.0]
    answers = False

    def send(**_: object) -> None:
        asked.append("task")
        if not answers:
            clock[0] += 10
            raise OperationalError("Timeout reading from socket")

    monkeypatch.setattr("dashboard.groups.operations._owed", set())
    monkeypatch.setattr("dashboard.groups.operations._redis", Rest(for_s=30, clock=lambda: clock[0]))
    monkeypatch.setattr("dashboard.groups.operations.rebalance_group.delay", send)
    monkeypatch.setattr("dashboard.groups.operations.rebalance_due_groups.delay", send)
    monkeypatch.setattr("dashboard.groups.operations.pulse_looks", lambda **_: asked.append("pulse"))

    def store(client: str, at: int) -> None:
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a factory
            record(cluster="shop", facts=[joined(client, at)], now=T0 + at, lease_epoch=lease)

    store("A", 5)
    store("B", 6)
    assert asked == ["task"]

    assert not start_owed()
    answers = True
    assert start_owed()
    store("C", 7)
    assert asked == ["task", "task", "task", "task", "pulse"]
