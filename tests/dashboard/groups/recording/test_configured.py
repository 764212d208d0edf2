"""A change of a group's configuration that brokers tell is a cause, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.clusters.models import OutboxLine
from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import EXACT, ConsumptionSeen, Exactness, Fact, MemberSeen, MessageModel, Origin, Source
from rebalance_engine.events import RequestModesSeen as Modes
from tests.dashboard.story import EAST, T0, held, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")

BROADCASTING, CLUSTERING = (
    "the group is broadcasting now; it was clustering",
    "the group is clustering now; it was broad",
)
WEST = Source(origin=Origin.ADMIN_ANSWER, broker="west", address="127.0.0.1:10921")


def model(client: str, at: int, value: MessageModel = MessageModel.BROADCASTING) -> MemberSeen:
    """A broker says how the group divides messages, and was asked before at 10."""
    exactness = Exactness.between(T0 + min(10, at), T0 + at)
    return MemberSeen(at=T0 + at, source=EAST, exactness=exactness, group="g", client=client, message_model=value)


def consumes(at: int, *, is_enabled: bool, low: int | None = 10, source: Source = EAST) -> ConsumptionSeen:
    exactness = Exactness.at_most(T0 + at) if low is None else Exactness.between(T0 + low, T0 + at)
    broker = source.broker or ""
    return ConsumptionSeen(
        at=T0 + at, source=source, exactness=exactness, group="g", broker=broker, is_enabled=is_enabled
    )


def modes(at: int, *topics: str, low: int | None = 10) -> Modes:
    exactness = Exactness.at_most(T0 + at) if low is None else Exactness.between(T0 + low, T0 + at)
    return Modes(at=T0 + at, source=EAST, exactness=exactness, group="g", broker="east", topics=topics)


def causes() -> list[str]:
    assert set(RoundCause.objects.values_list("cause", flat=True)) <= {"config changed"}
    return list(RoundCause.objects.order_by("at", "pk").values_list("evidence", flat=True))


def settle() -> None:
    """A and B share four queues."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)


def test_another_message_model_is_a_cause_with_its_bounds_and_opens_a_round() -> None:
    settle()

    told(model("A", 5_000))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 5_100)

    row, kept = Round.objects.get(), RoundCause.objects.get()
    assert (kept.evidence, kept.origin, kept.at_low, kept.at) == (BROADCASTING, "admin answer", T0 + 10, T0 + 5_000)
    assert (row.cause, kept.round, Group.objects.get().model) == ("config changed", row, "BROADCASTING")


def test_a_model_that_two_members_tell_or_one_tells_twice_changed_once() -> None:
    settle()

    told(model("A", 5_000), model("B", 5_000))
    told(model("B", 5_500), model("A", 6_000))

    assert causes() == [BROADCASTING]


def test_a_first_model_is_no_change_and_a_late_one_does_not_flip_it_back() -> None:
    told(model("A", 1_000))
    assert causes() == []
    told(model("A", 3_000, MessageModel.CLUSTERING))
    told(model("B", 2_000))

    assert [each[: len(CLUSTERING)] for each in causes()] == [CLUSTERING]
    assert Group.objects.get().model == "CLUSTERING"


def test_a_group_whose_members_disagree_changes_with_every_heartbeat_but_is_told_of_only_now_and_then() -> None:
    settle()
    for at in range(1_000, 61_000, 20_000):
        told(model("A", at), model("B", at + 10_000, MessageModel.CLUSTERING))
    often = len(causes())

    told(model("A", 200_000))

    assert (often, causes().count(BROADCASTING), Group.objects.get().model) == (2, 2, "BROADCASTING")


def test_that_consuming_is_disabled_or_enabled_again_is_a_cause_at_each_broker() -> None:
    settle()

    told(consumes(5_000, is_enabled=False), consumes(5_010, is_enabled=False))
    told(consumes(5_000, is_enabled=False, source=WEST))
    told(consumes(9_000, is_enabled=True, low=5_010))
    assert told(consumes(6_000, is_enabled=False)).facts == 0

    disabled = [f"consuming was disabled at {broker}" for broker in ("east", "west")]
    assert causes() == [*disabled, "consuming was enabled again at east"]
    assert Group.objects.get().closed_by == ["west"]


def test_what_is_seen_first_may_have_been_so_for_any_time_and_is_no_cause() -> None:
    told(replace(consumes(5_000, is_enabled=False), exactness=EXACT), modes(5_000, "orders"))
    told(consumes(5_000, is_enabled=False, low=None, source=WEST), *seen("A", 5_000))

    assert causes() == []
    assert (Group.objects.get().closed_by, Group.objects.get().popped_by) == (["east", "west"], {"east": ["orders"]})


def test_topics_that_a_broker_comes_to_give_by_pop_or_gives_so_no_more_are_causes() -> None:
    settle()

    told(modes(5_000, "audit", "orders"), modes(5_500, "audit", "orders"))
    told(modes(6_000, "orders", "pay", low=5_500))
    told(modes(7_000, low=None))
    assert told(modes(6_500, "orders")).facts == 0

    assert causes() == [
        "east now gives audit, orders by POP",
        "east now gives pay by POP",
        "east no longer gives audit by POP",
        "east no longer gives orders, pay by POP",
    ]
    assert Group.objects.get().popped_by == {}


def test_what_a_broker_says_first_of_a_known_group_is_no_cause() -> None:
    settle()

    told(modes(5_000, "orders", low=None), consumes(5_000, is_enabled=False, low=None))

    assert causes() == []


SETTLES = [
    [consumes(5_000, is_enabled=True), consumes(5_100, is_enabled=False)],
    [consumes(5_000, is_enabled=False), consumes(5_200, is_enabled=False), consumes(5_100, is_enabled=True)],
    [modes(5_000), modes(5_100, "orders")],
    [modes(5_000, "orders"), modes(5_200, "orders"), modes(5_100)],
]


@pytest.mark.parametrize("batch", SETTLES, ids=["disabled", "still disabled", "by POP", "still by POP"])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_batch_that_comes_twice_leaves_what_the_last_look_saw(batch: list[Fact], *, is_known: bool) -> None:
    if is_known:
        settle()

    told(*batch)
    once, kept = Group.objects.values("closed_by", "popped_by", "settings_seen_at").get(), causes()
    told(*batch)
    OutboxLine.objects.all().delete()
    told(*batch)

    assert Group.objects.values("closed_by", "popped_by", "settings_seen_at").get() == once
    assert causes() == kept
    assert once["closed_by"] == ["east"] or once["popped_by"] == {"east": ["orders"]}
