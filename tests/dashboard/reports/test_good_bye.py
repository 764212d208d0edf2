"""A consumer's own report that it left cleanly, through the door: before the watcher sees that, or after."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import cast

import pytest
from django.http import HttpResponse
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group, Handoff, Holding, Member, Round, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.roles import Role
from rebalance_engine.events import EXACT, Departure, Exactness, Fact, MemberLeft, Origin
from tests.dashboard.persons import person
from tests.dashboard.reports.facts import body, own, token_of
from tests.dashboard.story import EAST, T0, held, joined, left, listed, route, seen, told

CLEANLY = "A left cleanly, as it reported"
UNKNOWN = "A left: whether cleanly or lost is unknown"


def good_bye(
    at: int, departure: Departure = Departure.UNREGISTERED, *, client: str = "A", by: str = "A", group: str = "g"
) -> MemberLeft:
    return MemberLeft(at=T0 + at, source=own(by), exactness=EXACT, group=group, client=client, departure=departure)


class Room:
    """A group of A and B that share two queues; times are ms after ``start``, a minute ago."""

    def __init__(self, cluster: Cluster) -> None:
        self.start = now_ms() - T0 - 60_000
        self.token = token_of(cluster)[0]
        self.reports = 0
        at = self.start
        told(route(2, at), *seen("A", at), *seen("B", at), listed(at, "A", "B"))
        told(held("A", at + 10, [0]), held("B", at + 10, [1]))
        self.turn(20)

    def turn(self, at: int) -> None:
        rebalance_once(group=Group.objects.get().pk, now=T0 + self.start + at)

    def sees_that_it_is_gone(self, at: int, low: int) -> None:
        """The watcher saw A last at ``low``, and at ``at`` no more; how it went it cannot tell."""
        bounds = Exactness.between(T0 + self.start + low, T0 + self.start + at)
        told(replace(left("A", self.start + at), exactness=bounds), listed(self.start + at, "B"))
        self.turn(at + 1)

    def hands_over(self, at: int) -> None:
        told(held("B", self.start + at, [0, 1]))
        self.turn(at + 1)
        self.turn(at + 2)

    def report(self, *facts: Fact) -> HttpResponse:
        self.reports += 1
        text, headers = body(*facts, report=f"r{self.reports}"), {"Authorization": f"Bearer {self.token}"}
        answer = Client().post("/api/v1/reports", text, content_type="application/json", headers=headers)
        return cast("HttpResponse", answer)

    def says_good_bye(self, at: int) -> dict[str, object]:
        answer = self.report(good_bye(self.start + at))
        assert answer.status_code == 201, answer.content
        return json.loads(answer.content)


@pytest.fixture
def room(cluster: Cluster) -> Room:
    return Room(cluster)


def assert_left_cleanly(room: Room, at: int) -> None:
    """One departure, one round, exactly then; and A has held nothing since."""
    when = T0 + room.start + at
    [cause], member = RoundCause.objects.all(), Member.objects.get(client_id="A")
    assert (cause.cause, cause.evidence, cause.origin) == ("member left", CLEANLY, "agent report")
    assert (cause.at_low, cause.at, cause.at_high) == (when, when, when)
    assert (member.left_at, member.departure) == (when, "unregistered")
    row, span = Round.objects.get(), Holding.objects.get(member=member)
    assert (row.cause, row.opened_low, row.opened_at) == ("member left", when, when)
    assert (span.until, span.until_high, span.reason) == (when, when, "stopped")


def test_a_report_before_the_watcher_s_word_tells_how_who_is_gone_then_went(room: Room, client: Client) -> None:
    assert room.says_good_bye(1_000)["stored"] == 1
    assert Member.objects.get(client_id="A").left_at is None, "brokers say who is a member"
    assert room.says_good_bye(1_000)["stored"] == 0
    room.turn(1_010)
    assert not Round.objects.exists()

    room.sees_that_it_is_gone(1_020, low=900)
    assert_left_cleanly(room, 1_000)
    assert room.says_good_bye(1_000)["stored"] == 0
    room.hands_over(2_000)

    assert_left_cleanly(room, 1_000)
    handoff = Handoff.objects.get()
    assert (handoff.from_client, handoff.to_client, handoff.dropped_high) == ("A", "B", T0 + room.start + 1_000)
    client.force_login(person(Role.VIEWER))
    assert CLEANLY in client.get(f"/groups/{Group.objects.get().pk}/rounds/1/").content.decode()


def test_a_report_after_the_round_has_ended_corrects_it_and_its_handoffs(room: Room) -> None:
    room.sees_that_it_is_gone(1_020, low=900)
    room.hands_over(2_000)
    assert (RoundCause.objects.get().evidence, Handoff.objects.get().dropped_high) == (UNKNOWN, None)

    assert room.says_good_bye(1_000)["stored"] == 1
    assert room.says_good_bye(1_000)["stored"] == 0
    room.turn(2_100)

    assert_left_cleanly(room, 1_000)
    assert Handoff.objects.get().dropped_high == T0 + room.start + 1_000


@pytest.mark.parametrize(("says", "kept"), [(1_500, 1_020), (700, 900)], ids=["ahead", "behind"])
@pytest.mark.parametrize("is_first", [True, False])
def test_clocks_that_differ_a_little_are_held_to_what_looks_saw(
    room: Room, says: int, kept: int, is_first: bool
) -> None:
    if is_first:
        room.says_good_bye(says)
    room.sees_that_it_is_gone(1_020, low=900)
    if not is_first:
        room.says_good_bye(says)

    assert_left_cleanly(room, kept)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_good_bye_of_an_earlier_life_says_nothing_of_a_later_departure(room: Room, is_first: bool) -> None:
    if is_first:
        room.says_good_bye(1_000)
    room.sees_that_it_is_gone(30_000, low=29_000)
    if not is_first:
        room.says_good_bye(1_000)

    assert (RoundCause.objects.get().evidence, Member.objects.get(client_id="A").departure) == (UNKNOWN, "unknown")
    assert Holding.objects.get(member__client_id="A").until_high is None


def test_who_comes_back_and_is_lost_has_not_left_cleanly_twice(room: Room) -> None:
    room.says_good_bye(1_000)
    room.sees_that_it_is_gone(1_020, low=900)
    told(joined("A", room.start + 1_100, low=room.start + 1_020))
    assert Member.objects.get(client_id="A").good_bye_at is None

    room.sees_that_it_is_gone(1_300, low=1_200)

    assert list(RoundCause.objects.order_by("at").values_list("evidence", flat=True)) == [CLEANLY, "A joined", UNKNOWN]


@pytest.mark.parametrize(
    ("forged", "status", "words"),
    [
        ({"client": "B"}, 403, "a client reports of itself alone"),
        ({"group": "other"}, 403, "this token is of group 'g'"),
        ({"departure": Departure.HEARTBEAT_EXPIRED}, 422, "the departure 'heartbeat expired'"),
        ({"departure": Departure.CONNECTION_CLOSED}, 422, "the departure 'connection closed'"),
        ({"departure": Departure.UNKNOWN}, 422, "reports of itself 'unregistered' alone"),
        ({"client": "Z", "by": "Z"}, 503, "no broker lists client 'Z'"),
    ],
    ids=str,
)
def test_what_is_no_good_bye_of_its_own_is_refused(room: Room, forged: dict, status: int, words: str) -> None:
    answer = room.report(good_bye(room.start + 1_000, **forged))

    assert (answer.status_code, words in json.loads(answer.content)["problem"]) == (status, True)
    assert not Member.objects.exclude(good_bye_at=None).exists()


def test_who_says_good_bye_knows_when_and_says_so_itself(room: Room) -> None:
    fact = good_bye(room.start + 1_000)
    about = replace(fact, exactness=Exactness.between(fact.at - 10, fact.at))
    seen_by_broker = replace(fact, source=replace(EAST, client="A"))

    assert b"needed is when it unregistered, exactly" in room.report(about).content
    assert (room.report(seen_by_broker).status_code, seen_by_broker.source.origin) == (422, Origin.ADMIN_ANSWER)
