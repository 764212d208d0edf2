"""Each kind of fault has a group in which it is found, and in which nothing else is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.events import Cause
from rebalance_engine.findings import (
    Change,
    Division,
    Finding,
    FindingKind,
    PullRefusal,
    Refusal,
    Restless,
    Returned,
    Sights,
    Standing,
    by_config_gaps,
    find_faults,
    find_in_sights,
    refused,
)
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageModel

NOW = 10_000_000
ORDERS = [MessageQueue("orders", "east", 0), MessageQueue("orders", "east", 1), MessageQueue("orders", "west", 0)]
RETRY = MessageQueue("%RETRY%g", "east", 0)
TOPICS = frozenset({"orders", "%RETRY%g"})
MINUTE = 60_000


def member(client_id: str, *held: MessageQueue, strategy: str = "AVG") -> Member:
    return Member(client_id=client_id, topics=TOPICS, held=held, strategy=strategy)


def view_of(*members: Member) -> GroupView:
    return GroupView.of("g", [*ORDERS, RETRY], members)


A, B = member("A", *ORDERS[:2]), member("B", ORDERS[2], RETRY)
HEALTHY = view_of(A, B)
ROUTE = {"east": Division(2, 6, True), "west": Division(1, 6, True)}
SANE = Sights(
    lists={"east": ("A", "B"), "west": ("B", "A")},
    addresses={client: {"east": (f"10.0.0.{n}:1",), "west": (f"10.0.0.{n}:2",)} for n, client in enumerate("AB")},
    subscriptions={client: {"orders": "TAG *", "%RETRY%g": "TAG *"} for client in "AB"},
    routes={"orders": {"n1:9876": ROUTE, "n2:9876": ROUTE}, "%RETRY%g": {"n1:9876": {"east": Division(1, 6, True)}}},
    standings=(Standing(ORDERS[0], 100, 3, NOW - MINUTE + 1, NOW), Standing(ORDERS[2], 100, 0, NOW - MINUTE, NOW)),
    held_since=dict.fromkeys(("orders/east/0", "orders/west/0"), NOW - 5 * MINUTE),
    retried={"east": (Returned(NOW - MINUTE, 5, 1_000), Returned(NOW, 25, 5_000))},
    dead={"east": (Returned(NOW - MINUTE, 5), Returned(NOW, 5)), "west": (Returned(NOW, 7),)},
    closed=("north",),
    changes=tuple(
        Change(NOW - MINUTE + n * 10_000, cause, "A")
        for n, cause in enumerate([Cause.MEMBER_LEFT, Cause.MEMBER_JOINED] * 2)
    ),
)
CHAIN = tuple(
    Restless(7 + n, NOW - MINUTE + n * 10_000, Cause.MEMBER_JOINED, NOW - MINUTE + n * 10_000 + 1_000) for n in range(5)
)


@dataclass(frozen=True)
class Fixture:
    """A group, what is seen of it, and the rounds of its open wave."""

    view: GroupView = HEALTHY
    sights: Sights = SANE
    chain: tuple[Restless, ...] = CHAIN[:4]
    config: dict[str, list[MessageQueue]] = field(default_factory=lambda: {"A": ORDERS[:2], "B": [ORDERS[2], RETRY]})

    def found(self) -> list[Finding]:
        return [
            *find_faults(self.view),
            *by_config_gaps(self.view, self.config),
            *find_in_sights(self.view, self.sights, NOW, self.chain),
        ]


def seeing(**changes: object) -> Fixture:
    return Fixture(sights=replace(SANE, **changes))  # type: ignore[arg-type]  # the names of its own attributes


def flaps(*clients: str) -> tuple[Change, ...]:
    lives = enumerate(clients)
    return tuple(
        Change(NOW - 5 * MINUTE + n * MINUTE + shift, cause, client)
        for n, client in lives
        for shift, cause in ((0, Cause.MEMBER_JOINED), (30_000, Cause.MEMBER_LEFT))
    )


NOBODY = replace(SANE, is_deserted=True, lists={"east": (), "west": ()}, addresses={}, subscriptions={}, held_since={})
WAITS = Standing(ORDERS[0], 100, 9, NOW - MINUTE, NOW, waited=3)

FIXTURES = {
    FindingKind.NOBODY_CONSUMES: [Fixture(view_of(), replace(NOBODY, standings=(WAITS,)), config={})],
    FindingKind.DUPLICATE_CLIENT_ID: [
        Fixture(view_of(A, A, B), replace(SANE, lists={"east": ("A", "A", "B"), "west": ("A", "B")})),
        seeing(addresses={**SANE.addresses, "A": {"east": ("10.0.0.1:1", "10.0.0.9:1")}}),
    ],
    FindingKind.ORPHAN_QUEUE: [Fixture(view_of(member("A", ORDERS[0]), B))],
    FindingKind.RETRY_UNOWNED: [Fixture(view_of(A, member("B", ORDERS[2])))],
    FindingKind.DOUBLE_OWNER: [Fixture(view_of(A, member("B", *ORDERS[1:], RETRY)))],
    FindingKind.IDLE_CONSUMER: [Fixture(view_of(member("A", *ORDERS, RETRY), member("B")))],
    FindingKind.STRATEGY_MISMATCH: [Fixture(view_of(A, member("B", ORDERS[2], RETRY, strategy="AVG_BY_CIRCLE")))],
    FindingKind.BY_CONFIG_GAP: [Fixture(config={"A": ORDERS[:2], "B": [ORDERS[2]]})],
    FindingKind.LOCK_REFUSED: [seeing(locks=(Refusal("B", ORDERS[2], NOW - 1_000, 2, "A", NOW - 5_000),))],
    FindingKind.PULL_REFUSED: [seeing(pulls=(PullRefusal("B", ORDERS[2], 24, NOW - 9_000, NOW - 1_000, 4),))],
    FindingKind.SUBSCRIPTION_MISMATCH: [
        seeing(subscriptions={"A": {"orders": "TAG *"}, "B": {"orders": "TAG blue"}}),
        seeing(subscriptions={"A": {"orders": "TAG *"}, "B": {"orders": "TAG *", "payments": "TAG *"}}),
    ],
    FindingKind.DIFFERENT_MEMBER_LISTS: [
        seeing(lists={"east": ("A", "B"), "west": ("B",)}),
        seeing(lists={"east": (), "west": ("A", "B")}),
    ],
    FindingKind.DIFFERENT_ROUTES: [
        seeing(routes={"orders": {"n1:9876": ROUTE, "n2:9876": {"east": Division(2, 6, True)}}}),
        seeing(routes={"orders": {"n1:9876": ROUTE, "n2:9876": {}}}),
        seeing(routes={"orders": {"n1:9876": ROUTE, "n2:9876": {**ROUTE, "east": Division(2, 2, True)}}}),
    ],
    FindingKind.STUCK_LISTENER: [seeing(standings=(Standing(ORDERS[0], 100, 3, NOW - MINUTE, NOW),))],
    FindingKind.RETRY_GROWING: [
        seeing(retried={"east": (Returned(NOW - MINUTE, 5, 1_000), Returned(NOW, 55, 5_000))}),
        seeing(retried={"east": (Returned(NOW - MINUTE, 5), Returned(NOW, 15))}),
    ],
    FindingKind.DEAD_LETTERS: [seeing(dead={"east": (Returned(NOW - MINUTE, 5), Returned(NOW, 6))})],
    FindingKind.STORM: [Fixture(chain=CHAIN)],
    FindingKind.FLAPPING: [
        seeing(changes=flaps("A", "A", "A")),
        seeing(changes=flaps("10.0.0.1@11#1", "10.0.0.1@12#2", "10.0.0.1@13#3")),
    ],
    FindingKind.ON_PURPOSE: [
        seeing(
            routes={"orders": {"n1:9876": ROUTE, "n2:9876": ROUTE}, "old": {"n1:9876": {"east": Division(4, 2, True)}}}
        )
    ],
    FindingKind.DISABLED: [
        seeing(closed=("west",)),
        seeing(
            closed=("east",),
            standings=(Standing(ORDERS[0], 100, 3, NOW - MINUTE, NOW),),
            pulls=(PullRefusal("A", ORDERS[0], 16, NOW - 9_000, NOW - 1_000, 4),),
        ),
    ],
}


def test_every_kind_has_its_group() -> None:
    assert list(FIXTURES) == list(FindingKind)


@pytest.mark.parametrize(
    ("kind", "fixture"),
    [
        pytest.param(kind, each, id=f"{kind.value} {n}")
        for kind, every in FIXTURES.items()
        for n, each in enumerate(every)
    ],
)
def test_each_fault_is_found_in_its_group_and_no_other(kind: FindingKind, fixture: Fixture) -> None:
    found = fixture.found()

    assert [each.kind for each in found] == [kind]
    assert found[0].group == "g"
    assert found[0].subject
    assert found[0].sentence.endswith(".")
    assert all(found[0].proof)
    assert found[0].proof


def test_nothing_is_found_in_a_healthy_group() -> None:
    assert Fixture().found() == []


def test_a_group_without_members_for_which_nothing_comes_or_that_consumes_all_the_same_misses_nothing() -> None:
    rests = replace(WAITS, waited=9)
    commits = replace(WAITS, since=NOW - MINUTE + 1)

    for standing in (rests, commits, replace(WAITS, waited=None)):
        assert find_in_sights(view_of(), replace(NOBODY, standings=(standing,)), NOW) == ()
    assert find_in_sights(view_of(), replace(NOBODY, standings=(WAITS,), closed=("east",)), NOW) == tuple(
        refused.disabled(view_of(), ("east",))
    )


def test_nothing_is_found_where_nothing_is_seen() -> None:
    assert find_in_sights(HEALTHY, Sights(), NOW) == ()


def test_who_has_all_queues_divides_nothing() -> None:
    broadcasting = replace(HEALTHY, model=MessageModel.BROADCASTING)
    dividing = (
        FindingKind.NOBODY_CONSUMES,
        FindingKind.DIFFERENT_MEMBER_LISTS,
        FindingKind.DIFFERENT_ROUTES,
        FindingKind.STUCK_LISTENER,
        FindingKind.RETRY_GROWING,
        FindingKind.DEAD_LETTERS,
        FindingKind.STORM,
    )

    for kind in dividing:
        for fixture in FIXTURES[kind]:
            assert find_in_sights(broadcasting, fixture.sights, NOW, fixture.chain) == ()


def test_findings_come_in_the_order_of_their_kinds() -> None:
    every = {name: getattr(each.sights, name) for each in _of_sights() for name in _different(each.sights)}

    found = [each.kind for each in find_in_sights(HEALTHY, replace(SANE, **every), NOW, CHAIN)]

    assert found == sorted(found, key=list(FindingKind).index)
    assert len(set(found)) >= 8


def _of_sights() -> list[Fixture]:
    return [each for every in FIXTURES.values() for each in every]


def _different(sights: Sights) -> list[str]:
    return [name for name in Sights.__dataclass_fields__ if getattr(sights, name) != getattr(SANE, name)]
