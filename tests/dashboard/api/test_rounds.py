from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client
from prometheus_client.registry import CollectorRegistry
from pytest_django import DjangoAssertNumQueries

from dashboard.clusters.models import Queue
from dashboard.groups.beyond import OLDER, UNHELD
from dashboard.groups.ending import tell_ended
from dashboard.groups.models import Finding, Group, Handoff, Member, Round
from dashboard.groups.rebalancing import rebalance_once
from dashboard.health.figures import Figures
from dashboard.pauses.queries import pauses_of
from rebalance_engine.events import Exactness
from rebalance_engine.findings import FindingKind
from tests.dashboard.api.conftest import Get
from tests.dashboard.story import T0, held, joined, left, listed, missed, route, seen, told


def test_rounds_are_listed_newest_first_and_by_time(get: Get, group: Group) -> None:
    told(joined("D", 60_000, low=59_000), *seen("D", 60_000)[1:], held("D", 60_100, []))
    rebalance_once(group=group.pk, now=T0 + 60_200)

    page = get(f"/groups/{group.pk}/rounds")

    assert [(row["number"], row["state"]) for row in page["rows"]] == [(2, "open"), (1, "closed")]
    assert page["rows"][0]["unknown"]["closed_at"] == "it has not ended yet"
    first = page["rows"][1]
    assert (first["opened_low"], first["opened_at"], first["took_low"]) == (T0 + 4_000, T0 + 5_000, 100)
    assert [row["number"] for row in get(f"/groups/{group.pk}/rounds", until=T0 + 30_000)["rows"]] == [1]
    assert [row["number"] for row in get(f"/groups/{group.pk}/rounds", since=T0 + 30_000)["rows"]] == [2]


def test_a_round_has_its_sentence_its_proof_and_its_loads(get: Get, group: Group) -> None:
    row = get(f"/groups/{group.pk}/rounds/1")

    assert row["sentence"].startswith("C joined")
    assert row["causes"][0]["client_id"] == "C"
    assert row["causes"][0]["at"] == {"at": T0 + 5_000, "low": T0 + 4_000, "high": T0 + 5_000}
    assert [(load["client_id"], load["before"], load["after"]) for load in row["loads"]] == [
        ("A", 2, 2),
        ("B", 2, 1),
        ("C", None, 1),
    ]
    assert (row["unowned_queues"], row["unowned_perhaps_queues"], row["longest_unowned"]) == (0, 1, None)
    assert (row["is_unowned_lasting"], row["is_overlap_lasting"]) == (False, False)
    assert (row["previous"], row["next"]) == (None, None)


def test_a_round_that_is_not_there_is_said(get: Get, client: Client, group: Group) -> None:
    assert get("/clusters")

    answer = client.get(f"/api/v1/groups/{group.pk}/rounds/9")

    assert (answer.status_code, answer.json()["problem"][:20]) == (404, "there is no round 9 ")


def test_moves_and_handoffs_have_bounds_and_say_what_nobody_saw(get: Get, group: Group) -> None:
    tell_ended(group=group.pk, now=T0 + 7_000)

    [move] = get(f"/groups/{group.pk}/rounds/1/moves")["rows"]
    [handoff] = get(f"/groups/{group.pk}/handoffs")["rows"]

    for row in (move, handoff):
        assert (row["queue_id"], row["from_client"], row["to_client"]) == (3, "B", "C")
        assert (row["first_pull_at"], row["pause_high"]) == (None, None)
        assert "members report it" in row["unknown"]["pause_high"]
        assert row["unowned_high"] is not None
    assert handoff["dropped_low"] <= handoff["dropped_at"] <= handoff["dropped_high"]
    assert get(f"/groups/{group.pk}/handoffs", since=T0 + 60_000)["rows"] == []


def test_a_queue_that_nobody_has_taken_yet_waits(get: Get, group: Group) -> None:
    told(joined("D", 60_000, low=59_000), *seen("D", 60_000)[1:], held("D", 60_100, []), held("A", 60_500, [0]))
    rebalance_once(group=group.pk, now=T0 + 60_600)

    [move] = [row for row in get(f"/groups/{group.pk}/rounds/2/moves")["rows"] if row["from_client"] == "A"]

    assert (move["is_waiting"], move["to_client"]) == (True, None)
    assert move["unknown"]["taken_at"] == "it is waited for still"


def test_what_left_its_route_is_told_alike_of_the_round_and_of_all_handoffs(get: Get, group: Group) -> None:
    told(held("C", 59_000, [3]), replace(route(3, 60_000), exactness=Exactness.between(T0 + 59_500, T0 + 60_000)))
    rebalance_once(group=group.pk, now=T0 + 60_100)
    told(held("A", 61_000, [0]), held("B", 61_000, [1]), held("C", 61_000, [2]))
    rebalance_once(group=group.pk, now=T0 + 61_100)
    tell_ended(group=group.pk, now=T0 + 61_200)
    number = Round.objects.filter(group=group).latest("number").number

    [move] = [row for row in get(f"/groups/{group.pk}/rounds/{number}/moves")["rows"] if row["queue_id"] == 3]
    [handoff] = [
        row for row in get(f"/groups/{group.pk}/handoffs")["rows"] if (row["round"], row["queue_id"]) == (number, 3)
    ]

    names = ("is_gone", "gone_at", "unowned_low", "unowned_high")
    assert [move[name] for name in names] == [handoff[name] for name in names]
    assert (move["is_gone"], move["gone_at"]) == (True, T0 + 60_000)
    assert handoff["unknown"]["taken_at"] == move["unknown"]["taken_at"]
    assert handoff["unknown"]["taken_at"].startswith("it left the route")
    assert move["unknown"]["twice"] == "it did not go from one member to another"


def test_where_nothing_went_from_one_member_to_another_nobody_is_to_blame_for_what_is_unknown(
    get: Get, group: Group
) -> None:
    told(left("A", 60_000), left("B", 60_000), left("C", 60_000), listed(60_000))
    rebalance_once(group=group.pk, now=T0 + 60_100)

    row = get(f"/groups/{group.pk}/rounds/2")

    assert (row["twice"], row["unknown"]["twice"]) == (None, "no queue went from one member to another")


@pytest.mark.parametrize("where", ["rounds", "rounds/1/moves", "handoffs"])
def test_tables_come_as_csv(get: Get, group: Group, where: str) -> None:
    tell_ended(group=group.pk, now=T0 + 7_000)

    rows = list(csv.DictReader(io.StringIO(get(f"/groups/{group.pk}/{where}", format="csv"))))

    assert len(rows) == 1
    assert "unknown" not in rows[0]


@pytest.mark.parametrize("where", ["rounds", "rounds/1", "rounds/1/moves", "handoffs"])
def test_questions_do_not_grow_with_the_rounds(
    get: Get, client: Client, group: Group, where: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(1, 5):
        at = 60_000 * number
        told(joined(f"D{number}", at, low=at - 500), *seen(f"D{number}", at)[1:], held(f"D{number}", at + 100, []))
        rebalance_once(group=group.pk, now=T0 + at + 200)
    tell_ended(group=group.pk, now=T0 + 500_000)
    assert get("/clusters")

    with django_assert_max_num_queries(33):
        assert client.get(f"/api/v1/groups/{group.pk}/{where}").status_code == 200


def paused(get: Get, group: Group, now: int) -> tuple[object, object, object]:
    """Give the longest pause of the latest round: by the API, by what rounds cost, and by the metrics in ms."""
    number = Round.objects.filter(group=group).latest("number").number
    row = get(f"/groups/{group.pk}/rounds/{number}")
    assert (row["longest_pause"] is None) is ("longest_pause" in row["unknown"])
    assert row["handoffs"] == get(f"/groups/{group.pk}/rounds/{number}/moves")["count"]
    read = pauses_of(group=group, since=0, now=now).rounds[-1]
    assert read.cost is not None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(now=now))
    labels = {"cluster": "shop", "group": "g"}
    found = [registry.get_sample_value("queue_pause_seconds", {**labels, "bound": bound}) for bound in ("low", "high")]
    metrics = tuple(None if each is None else round(each * 1_000) for each in found)
    api = (None, None) if row["longest_pause"] is None else tuple(row["longest_pause"].values())
    return api, (read.cost.longest.low, read.cost.longest.high), metrics


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("dashboard.api.rounds.now_ms", lambda: T0 + 99_000)
    return T0 + 99_000


def test_a_pause_of_which_nothing_is_known_is_unknown_wherever_it_is_told(get: Get, group: Group, now: int) -> None:
    Round.objects.update(told_at=None)
    row = get(f"/groups/{group.pk}/rounds/1")
    assert row["unknown"]["longest_pause"] == "it has just ended, and its handoffs are not told yet"

    tell_ended(group=group.pk, now=T0 + 7_000)

    assert paused(get, group, now) == ((None, None),) * 3
    row = get(f"/groups/{group.pk}/rounds/1")
    assert row["unknown"]["longest_pause"].startswith("of 1 handoffs the first pull is not known: members report it")
    assert (row["pause_queues"], row["pause_unknown"]) == (0, 1)


def test_a_pause_lasts_at_least_as_long_as_nobody_had_the_queue_wherever_it_is_told(
    get: Get, group: Group, now: int
) -> None:
    told(held("B", 20_000, []), held("B", 24_000, []), held("C", 20_000, [3]), held("C", 28_000, [2, 3]))
    rebalance_once(group=group.pk, now=T0 + 28_100)
    told(held("A", 29_000, [0, 1]), held("C", 30_000, [3]), held("B", 31_000, [2]))
    rebalance_once(group=group.pk, now=T0 + 31_100)
    tell_ended(group=group.pk, now=T0 + 62_000)
    Handoff.objects.update(unowned_low=1_500)

    assert paused(get, group, now) == ((1_500, None),) * 3


def test_a_pause_that_is_reported_is_the_same_wherever_it_is_told(get: Get, group: Group, now: int) -> None:
    tell_ended(group=group.pk, now=T0 + 7_000)
    Handoff.objects.update(pause_low=400, pause_high=900, first_pull_at=T0 + 7_000)

    assert paused(get, group, now) == ((400, 900),) * 3


def test_that_nothing_paused_is_told_as_that_wherever_it_is_told(get: Get, group: Group, now: int) -> None:
    tell_ended(group=group.pk, now=T0 + 7_000)
    Handoff.objects.all().delete()

    assert paused(get, group, now) == ((0, 0),) * 3


@pytest.fixture
def leave(group: Group) -> Callable[[int | None], Round]:
    """Let C's queue be taken by nobody until its round closed, let go at 60 s, until ``high`` at most."""

    def leave_until(high: int | None) -> Round:
        told(left("C", 60_000))
        rebalance_once(group=group.pk, now=T0 + 60_100)
        tell_ended(group=group.pk, now=T0 + 62_000)
        Round.objects.update(state="closed", closed_at=T0 + 61_000, settled_at=T0 + 61_000, told_at=T0 + 62_000)
        row = Round.objects.latest("number")
        Handoff.objects.create(
            round=row, topic="orders", broker="east", queue_id=3, from_client="C", to_client="",
            nth=0, dropped_at=T0 + 60_000, dropped_low=T0 + 59_000, dropped_high=None if high is None else T0 + high,
        )  # fmt: skip
        return row

    return leave_until


def test_a_pause_that_lasts_is_as_long_wherever_it_is_told(
    get: Get, group: Group, now: int, leave: Callable[[int | None], Round]
) -> None:
    leave(60_500)
    told(held("A", 80_000, [0, 1]), held("B", 99_000, [2]))
    assert paused(get, group, now) == ((19_500, None),) * 3, "A may have taken it since"

    told(held("A", 99_000, [0, 1]))
    assert paused(get, group, now) == ((38_500, None),) * 3


def test_who_was_lost_may_have_his_queues_still_wherever_it_is_told(
    get: Get, group: Group, now: int, leave: Callable[[int | None], Round]
) -> None:
    leave(None)

    assert paused(get, group, now) == ((None, None),) * 3
    told(held("A", 70_000, [0, 1, 3]))
    assert paused(get, group, now) == ((None, None),) * 3


def test_a_pause_ends_when_somebody_may_have_had_the_queue_also_where_it_left_the_route_then(
    get: Get, group: Group, now: int, leave: Callable[[int | None], Round]
) -> None:
    leave(60_000)
    told(held("A", 70_000, [0, 1]), held("A", 71_000, [0, 1, 3]))
    assert paused(get, group, now) == ((10_000, None),) * 3

    Queue.objects.filter(queue_id=3).update(gone_at=T0 + 80_000)
    assert paused(get, group, now) == ((10_000, None),) * 3


@pytest.mark.parametrize("columns", [{"gone_at": T0 + 65_000}, {"since": T0 + 65_000, "came_at": None}])
def test_nobody_waits_for_a_queue_that_left_the_route_or_came_back_to_it(
    get: Get, group: Group, now: int, leave: Callable[[int | None], Round], columns: dict[str, int | None]
) -> None:
    leave(60_000)
    Queue.objects.filter(queue_id=3).update(**columns)

    assert paused(get, group, now) == ((0, 0),) * 3


def test_who_does_not_answer_may_have_taken_it_since_wherever_it_is_told(
    get: Get, group: Group, now: int, leave: Callable[[int | None], Round]
) -> None:
    leave(60_500)
    told(missed("A", 75_000), held("B", 99_000, [2]))
    Member.objects.filter(client_id="A").update(held_seen_at=T0 + 70_000)

    assert paused(get, group, now) == ((9_500, None),) * 3


def test_a_queue_that_passed_several_hands_moved_once_and_has_a_handoff_for_each(get: Get, group: Group) -> None:
    row = Round.objects.get()
    Handoff.objects.create(
        round=row, topic="orders", broker="east", queue_id=3, from_client="C", to_client="A", nth=0, taken_at=T0 + 6_600
    )

    found = get(f"/groups/{group.pk}/rounds/1")

    assert (found["moves"], found["handoffs"]) == (1, 2)
    assert get(f"/groups/{group.pk}/rounds/1/moves")["count"] == 2


def test_a_round_that_was_superseded_waits_for_nothing(get: Get, group: Group) -> None:
    Round.objects.update(waits_for="members have not been looked at since the last change")

    assert get(f"/groups/{group.pk}/rounds/1")["waits_for"] is None


def test_a_queue_without_owner_that_nobody_handed_over_is_told_apart(get: Get, group: Group) -> None:
    tell_ended(group=group.pk, now=T0 + 7_000)
    queue = {
        "subject": "%RETRY%g/east/0",
        "subject_key": "%RETRY%g/east/0",
        "kind": FindingKind.RETRY_UNOWNED.value,
        "proof": ["x"],
        "sentence": "x",
    }
    told(route(1, topic="%RETRY%g"))
    Finding.objects.create(
        cluster=group.cluster, group=group, suspected_at=T0 + 100, confirmed_at=T0 + 100, origin="derived", **queue
    )

    row = get(f"/groups/{group.pk}/rounds/1")

    assert (row["unowned_queues"], row["unowned_unmoved_queues"]) == (1, 1)
    assert "It has no handoff in this round." in row["sentence"]
    assert row["beyond_count"] == len(row["beyond"]) == 1
    assert row["beyond"][0]["why"] in ([OLDER], [UNHELD])
    assert {move["topic"] for move in get(f"/groups/{group.pk}/rounds/1/moves")["rows"]} == {"orders"}
