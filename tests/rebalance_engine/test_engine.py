from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.allocation.contract import UnknownStrategy
from rebalance_engine.diff import MoveCause, apply
from rebalance_engine.engine import Change, Outcome, divide, rebalance
from rebalance_engine.events import Cause
from rebalance_engine.findings import FindingKind
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageModel
from rebalance_engine.plan import Plan, target
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.generators import TOPICS, message_queues, names, owners_by_queue, owning

ORDERS = [MessageQueue("orders", "east", i) for i in range(4)]
WEST = MessageQueue("orders", "west", 0)
AVG = Plan()


def view_of(
    held: dict[str, str | None] | str, queues: list[MessageQueue] = ORDERS, **told: frozenset[str]
) -> GroupView:
    """Make a view of who holds which of ``ORDERS`` (digits; None: did not say), and who subscribes to what."""
    known = held if isinstance(held, dict) else dict.fromkeys(held)
    members = [
        Member(
            client_id=name,
            topics=told.get(name),
            held=None if digits is None else tuple(ORDERS[int(digit)] for digit in digits),
        )
        for name, digits in known.items()
    ]
    return GroupView.of("g", queues, members)


def causes(outcome: Outcome) -> list[Cause]:
    return [change.cause for change in outcome.changes]


def test_a_join_moves_half_of_the_queues() -> None:
    outcome = rebalance(view_of("A"), view_of("AB"), AVG)

    assert outcome.changes == (Change(Cause.MEMBER_JOINED, "B is a member now"),)
    assert [(move.queue.queue_id, move.from_client, move.to_client, move.cause) for move in outcome.moves] == [
        (2, "A", "B", MoveCause.OWNER_JOINED),
        (3, "A", "B", MoveCause.OWNER_JOINED),
    ]
    assert (outcome.move_count.handoffs, outcome.move_count.above_fewest) == (2, 0)
    assert outcome.skew.max_over_mean == 1.0
    assert outcome.skew_by_topic.keys() == {"orders"}
    assert outcome.plan is AVG


def test_a_leave_moves_what_was_left() -> None:
    outcome = rebalance(view_of("AB"), view_of("A"), AVG)

    assert outcome.changes == (Change(Cause.MEMBER_LEFT, "B is no member any more"),)
    assert {move.cause for move in outcome.moves} == {MoveCause.OWNER_LEFT}
    assert outcome.target.as_lists() == {"A": ORDERS}


def test_a_second_process_of_an_id_is_a_change() -> None:
    once, twice = view_of("AB"), GroupView.of("g", ORDERS, [Member(client_id=name) for name in "AAB"])

    joined, left = rebalance(once, twice, AVG), rebalance(twice, once, AVG)

    assert joined.changes == (Change(Cause.MEMBER_JOINED, "A is a member now, 2 times instead of 1"),)
    assert left.changes == (Change(Cause.MEMBER_LEFT, "A is a member still, 1 times instead of 2"),)
    assert len(joined.moves) > 0


def test_a_route_change_brings_and_takes_queues() -> None:
    outcome = rebalance(view_of("AB"), view_of("AB", queues=[*ORDERS[1:], WEST]), AVG)

    assert outcome.changes == (Change(Cause.ROUTE_CHANGED, "queues that came: 1, that went: 1, that are there: 4"),)
    assert {MoveCause.QUEUE_ADDED, MoveCause.QUEUE_REMOVED} <= {move.cause for move in outcome.moves}


def test_a_subscription_change_is_told_with_the_topics() -> None:
    both = frozenset({"orders", "payments"})

    outcome = rebalance(view_of("AB", B=both), view_of("AB", B=frozenset({"payments"})), AVG)

    assert outcome.changes == (Change(Cause.SUBSCRIPTION_CHANGED, "B subscribes to payments now"),)
    assert outcome.target.as_lists() == {"A": ORDERS[:2], "B": []}
    assert {(move.from_client, move.to_client) for move in outcome.moves} == {("B", None)}


def test_a_subscription_to_nothing_is_told() -> None:
    outcome = rebalance(view_of("A", A=frozenset({"orders"})), view_of("A", A=frozenset()), AVG)

    assert outcome.changes == (Change(Cause.SUBSCRIPTION_CHANGED, "A subscribes to nothing now"),)


def test_a_members_other_strategy_is_a_change() -> None:
    before, after = (
        GroupView.of("g", ORDERS, [Member(client_id="A", strategy=name)]) for name in ("AVG", "CONSISTENT_HASH")
    )

    outcome = rebalance(before, after, AVG)

    assert outcome.changes == (Change(Cause.STRATEGY_CHANGED, "A uses CONSISTENT_HASH now"),)


def test_a_strategy_told_for_the_first_time_is_no_change() -> None:
    before, after = (GroupView.of("g", ORDERS, [Member(client_id="A", strategy=name)]) for name in (None, "AVG"))

    assert rebalance(before, after, AVG).changes == ()


def test_another_plan_is_a_change() -> None:
    view, circle = view_of("AB"), Plan(strategy="AVG_BY_CIRCLE")

    outcome = rebalance(view, view, circle, old_plan=AVG)

    assert outcome.changes == (Change(Cause.STRATEGY_CHANGED, "the plan says AVG_BY_CIRCLE now, not AVG"),)
    assert {move.queue.queue_id for move in outcome.moves} == {1, 2}
    assert {move.cause for move in outcome.moves} == {MoveCause.RESHUFFLED}


def test_other_parameters_are_a_change() -> None:
    view, few, many = view_of("AB"), *(Plan(strategy="CONSISTENT_HASH", params={"virtual_nodes": n}) for n in (1, 50))

    assert causes(rebalance(view, view, many, old_plan=few)) == [Cause.CONFIG_CHANGED]
    assert causes(rebalance(view, view, replace(many, epoch=7), old_plan=many)) == []


def test_several_changes_are_all_told() -> None:
    outcome = rebalance(view_of("AB"), view_of("BC", queues=ORDERS[:3]), AVG, old_plan=Plan(strategy="AVG_BY_CIRCLE"))

    assert causes(outcome) == [Cause.MEMBER_JOINED, Cause.MEMBER_LEFT, Cause.ROUTE_CHANGED, Cause.STRATEGY_CHANGED]


def test_without_any_change_nothing_moves() -> None:
    view = view_of({"A": "01", "B": "23"})

    outcome = rebalance(view, view, AVG)

    assert outcome.changes == ()
    assert len(outcome.moves) == 0
    assert outcome.move_count.total == 0
    assert outcome.converged is True
    assert outcome.findings == ()
    assert outcome.held_moves is not None
    assert len(outcome.held_moves) == 0


@pytest.mark.parametrize(
    ("held", "converged"),
    [
        ({"A": "01", "B": "23"}, True),
        ({"A": "0123", "B": ""}, False),
        ({"A": "01", "B": "2"}, False),
        ({"A": "012", "B": "23"}, False),
        ({"A": "01", "B": None}, None),
        ({"A": "0123", "B": None}, None),
    ],
)
def test_whether_held_equals_target_is_told_or_unknown(held: dict[str, str | None], converged: bool | None) -> None:
    outcome = rebalance(view_of("AB"), view_of(held), AVG)

    assert outcome.converged is converged
    assert (outcome.outstanding is None) == (converged is None)


def test_a_group_without_members_has_nothing_outstanding() -> None:
    outcome = rebalance(view_of({"A": "0123"}), view_of({}), AVG)

    assert outcome.converged is True
    assert outcome.skew.max_over_mean is None
    assert len(outcome.moves) == 4


def test_where_nobody_was_asked_what_is_held_is_unknown() -> None:
    unasked = GroupView("g", QueueTable.of(ORDERS), ClientTable.of("AB"))

    outcome = rebalance(view_of({"A": "01", "B": "23"}), unasked, AVG)

    assert outcome.converged is None
    assert outcome.held_moves is None
    assert outcome.held_skew is None
    assert len(outcome.moves) == 0


@pytest.mark.parametrize(("was", "now"), [("0123", None), (None, "01")])
def test_moves_of_what_is_held_are_unknown_while_a_member_is_silent(was: str | None, now: str | None) -> None:
    outcome = rebalance(view_of({"A": was}), view_of({"A": now, "B": "23"}), AVG)

    assert outcome.held_moves is None
    assert len(outcome.moves) == 2


def test_held_moves_are_what_really_happened() -> None:
    outcome = rebalance(view_of({"A": "0123"}), view_of({"A": "012", "B": "3"}), AVG)

    assert outcome.held_moves is not None
    assert [(move.queue.queue_id, move.from_client, move.to_client) for move in outcome.held_moves] == [(3, "A", "B")]
    assert outcome.outstanding is not None
    assert [(move.queue.queue_id, move.to_client) for move in outcome.outstanding] == [(2, "B")]
    assert outcome.held_skew is not None
    assert outcome.held_skew.max_over_mean == 1.5


def test_held_skew_leaves_silent_members_out() -> None:
    outcome = rebalance(view_of("AB"), view_of({"A": "01", "B": None}), AVG)

    assert outcome.held_skew is not None
    assert (outcome.held_skew.unknown, outcome.held_skew.members) == (("B",), 1)


def test_the_target_before_may_be_given() -> None:
    outcome = rebalance(view_of("AB"), view_of("AB"), AVG, previous=owning("BBAA"))

    assert len(outcome.moves) == 4
    assert outcome.changes == ()


def test_the_target_before_may_have_other_queues_and_members() -> None:
    outcome = rebalance(view_of("AB"), view_of("AB"), AVG, previous=owning("CCA", "AC", first=2))

    assert apply(owning("CCA", "AC", first=2), outcome.moves).same_owners(outcome.target)


@pytest.mark.skipif("STICKY" not in STRATEGIES, reason="the strategy has not arrived")
def test_a_sticky_plan_starts_at_the_target_before() -> None:
    outcome = rebalance(view_of("AB"), view_of("ABC"), Plan(strategy="STICKY"), previous=owning("ABAB"))

    assert outcome.move_count.handoffs == 1
    assert {move.to_client for move in outcome.moves} == {"C"}


def test_what_is_wrong_is_found_in_the_later_view_only() -> None:
    twice = view_of({"A": "01", "B": "123"})

    assert [f.kind for f in rebalance(view_of("AB"), twice, AVG).findings] == [FindingKind.DOUBLE_OWNER]
    assert rebalance(twice, view_of({"A": "01", "B": "23"}), AVG).findings == ()


@pytest.mark.parametrize("params", [{}, {"config": None}, {"config": {"A": ORDERS}}])
@pytest.mark.parametrize("strategy", ["CONFIG", "GO_CONFIG"])
def test_a_plan_by_config_is_checked_for_gaps(strategy: str, params: dict[str, object]) -> None:
    view = view_of("AB")

    found = rebalance(view, view, Plan(strategy=strategy, params=params)).findings

    assert len(found) == (0 if params.get("config") else 4)
    assert all(fault.kind is FindingKind.BY_CONFIG_GAP for fault in found)


def test_a_broadcasting_group_has_no_gaps_and_converges_on_everything() -> None:
    members = [Member(client_id=name, held=tuple(ORDERS)) for name in "AB"]
    view = GroupView.of("g", ORDERS, members, MessageModel.BROADCASTING)

    outcome = rebalance(view, view, Plan(strategy="CONFIG"))

    assert outcome.findings == ()
    assert outcome.converged is True
    assert outcome.target.as_lists() == {"A": ORDERS, "B": ORDERS}


def test_a_plan_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(UnknownStrategy):
        rebalance(view_of("A"), view_of("A"), Plan(strategy="FAIR"))
    with pytest.raises(UnknownStrategy):
        rebalance(view_of("A"), view_of("A"), AVG, old_plan=Plan(strategy="FAIR"))


MEMBERS = st.lists(
    st.builds(
        Member,
        client_id=names,
        topics=st.none() | st.frozensets(st.sampled_from(TOPICS)),
        held=st.none() | st.lists(message_queues, max_size=4).map(tuple),
        strategy=st.sampled_from([None, "AVG"]),
    ),
    max_size=5,
)
VIEWS = st.builds(GroupView.of, st.just("g"), st.lists(message_queues, max_size=8), MEMBERS)
PLANS = st.sampled_from([Plan(strategy=name) for name in STRATEGIES if not STRATEGIES[name].needs])


def columns_of(view: GroupView) -> list[np.ndarray]:
    queues, held = view.queues, view.held
    assert held is not None
    return [queues.topic, queues.broker, queues.queue_id, view.clients.members, held.owner, held.further_client]


@given(VIEWS, VIEWS, PLANS, PLANS)
def test_an_outcome_fits_together_and_changes_nothing(
    before: GroupView, after: GroupView, plan: Plan, old_plan: Plan
) -> None:
    previous = target(before, old_plan)
    inputs = [*columns_of(before), *columns_of(after), previous.owner]
    copies = [column.copy() for column in inputs]

    outcome = rebalance(before, after, plan, previous=previous, old_plan=old_plan)

    assert all(np.array_equal(column, copy) for column, copy in zip(inputs, copies, strict=True))
    assert apply(previous, outcome.moves).same_owners(outcome.target)
    assert outcome.move_count.total == len(outcome.moves)
    assert owners_by_queue(rebalance(before, after, plan, old_plan=old_plan).target) == owners_by_queue(outcome.target)
    if outcome.converged:
        assert after.held is not None
        assert owners_by_queue(after.held) == owners_by_queue(outcome.target)
    if not outcome.changes:
        assert before.clients.ids == after.clients.ids
        assert set(before.queues) == set(after.queues)


@given(VIEWS, VIEWS, PLANS)
def test_only_a_change_moves_the_target(before: GroupView, after: GroupView, plan: Plan) -> None:
    both = set(before.clients.ids) & set(after.clients.ids)
    assume(all((name in before.topics_of) == (name in after.topics_of) for name in both))  # to get to know is no change

    outcome = rebalance(before, after, plan)

    assert outcome.changes or not len(outcome.moves)


def test_what_becomes_known_is_no_change() -> None:
    before = GroupView.of("g", ORDERS, [Member(client_id="A")])
    after = GroupView.of("g", ORDERS, [Member(client_id="A", topics=frozenset({"orders"}), strategy="AVG")])

    assert rebalance(before, after, Plan()).changes == ()
    assert rebalance(after, before, Plan()).changes == ()


def test_a_stray_queue_keeps_a_group_from_converging() -> None:
    stray = MessageQueue("orders", "gone", 0)
    view = GroupView.of("g", ORDERS, [Member(client_id="A", held=(*ORDERS, stray))])

    outcome = rebalance(view, view, Plan())

    assert outcome.strays == (("A", stray),)
    assert outcome.converged is False


def test_plans_with_equal_columns_are_one_plan() -> None:
    view = GroupView.of("g", ORDERS, [Member(client_id="A")])

    def plan() -> Plan:
        return Plan(strategy="WEIGHTED", params={"weights": np.ones(4), "subscriptions": [np.array([0])]})

    assert rebalance(view, view, plan(), old_plan=plan()).changes == ()


def test_a_list_that_was_never_set_is_a_gap_like_any_other() -> None:
    view = GroupView.of("g", ORDERS, [Member(client_id="A"), Member(client_id="B")])

    outcome = rebalance(view, view, Plan(strategy="CONFIG", params={"config": {"A": ORDERS[1:], "B": None}}))

    assert [finding.subject for finding in outcome.findings] == ["orders/east/0"]


def test_a_division_alone_is_that_of_the_whole_rebalance() -> None:
    before, after = view_of({"A": "01", "B": "23"}), view_of({"A": "01", "B": "23", "C": ""})
    whole = rebalance(before, after, AVG)

    alone = divide(after, AVG, target(before, AVG))

    assert alone.target.same_owners(whole.target)
    assert list(alone.moves) == list(whole.moves) != []
    assert (alone.move_count, alone.skew) == (whole.move_count, whole.skew)
