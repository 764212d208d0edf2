from __future__ import annotations

import pytest
from django.utils import translation

from dashboard.common.sayings import in_words
from dashboard.groups.models import Group, Member, Round, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.recording.exactly import UNKNOWN_HOW
from dashboard.groups.vanished import PROOF, SETTLED_MS, Quiet, departures, quiet_members
from rebalance_engine.events import EXACT, PresenceSeen, QueueTaken
from tests.dashboard.story import EAST, REPORT, T0, held, joined, left, listed, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def quiet(at: int) -> list[Quiet]:
    return quiet_members(cluster="shop", lists_at=T0 + at)


def test_who_reported_and_is_connected_nowhere_is_quiet_since_the_last_word() -> None:
    took = QueueTaken(at=T0 + 900, source=REPORT, exactness=EXACT, group="g", client="A", queue=queue(0))
    told(route(1), joined("A", 100), took)

    assert quiet(900 + SETTLED_MS) == []
    assert quiet(901 + SETTLED_MS) == [Quiet("g", "A", T0 + 900)]


def test_who_is_connected_or_left_or_came_since_is_not_quiet() -> None:
    there = PresenceSeen(
        at=T0, source=EAST, exactness=EXACT, group="g", client="A", broker="east", address="10.0.0.1:5"
    )
    told(*seen("A"), there, *seen("B"), left("B", 5), joined("C", 50_000))

    assert quiet(50_000) == []


def test_a_round_ends_of_which_the_newcomer_is_gone_already() -> None:
    told(route(2), *seen("A"), listed(0, "A"), held("A", 10, [0, 1]))
    group = Group.objects.get().pk
    rebalance_once(group=group, now=T0 + 20)
    told(joined("ghost", 1_000))
    rebalance_once(group=group, now=T0 + 1_100)
    before = Round.objects.get().closed_at

    told(*departures([Quiet("g", "ghost", T0 + 1_000)], cluster="shop", now=T0 + 9_000))
    told(held("A", 9_050, [0, 1]), at=9_050)
    rebalance_once(group=group, now=T0 + 9_100)

    ghost, last = Member.objects.get(client_id="ghost"), Round.objects.order_by("number").last()
    assert before is None
    assert ghost.left_at == T0 + 9_000
    assert last is not None
    assert last.closed_at is not None
    assert last.causes.get(cause="member left").at_low == T0 + 1_000


@pytest.mark.usefixtures("catalogues")
def test_what_proves_it_stands_in_the_cause_in_the_readers_language() -> None:
    told(route(2), *seen("A"), listed(0, "A"), joined("ghost", 1_000))
    told(*departures([Quiet("g", "ghost", T0 + 1_000)], cluster="shop", now=T0 + 9_000))

    evidence = RoundCause.objects.get(cause="member left").evidence
    with translation.override("zh-hans"):
        turned = in_words(evidence)

    assert evidence == f"ghost left: {UNKNOWN_HOW}; {PROOF}"
    assert turned.startswith("ghost")
    assert PROOF not in turned
    assert "Broker" in turned
