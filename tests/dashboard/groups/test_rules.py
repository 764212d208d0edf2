from dataclasses import replace

import pytest

from dashboard.groups.rules import MOST_QUESTIONS, choose_rule, end_up, variant_of
from dashboard.groups.told import Told
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageModel
from tests.dashboard.story import queue


def view(*strategies: str | None, queues: int = 4, model: MessageModel = MessageModel.CLUSTERING) -> GroupView:
    members = [Member(client_id="ABCDEF"[n], strategy=name) for n, name in enumerate(strategies)]
    return GroupView.of("g", [queue(n) for n in range(queues)], members, model)


def test_what_all_members_say_is_the_rule() -> None:
    rule = choose_rule(view("AVG_BY_CIRCLE", None), {})

    assert (rule.name, rule.is_assumed) == ("AVG_BY_CIRCLE", False)


def test_where_nobody_tells_averaging_is_assumed_and_said_to_be() -> None:
    rule = choose_rule(view(None), {})

    assert (rule.name, rule.is_assumed) == ("AVG", True)


def test_a_strategy_of_ones_own_or_one_that_is_told_by_hand_has_no_rule_that_can_be_known() -> None:
    assert choose_rule(view("com.shop.Mine"), {}).why == "the strategy com.shop.Mine is not known here"
    assert (
        choose_rule(view("CONFIG"), {}).why == "the strategy CONFIG divides by what members' programs say, unknown here"
    )


def test_members_that_do_as_they_were_told_have_that_as_their_target_where_it_is_known() -> None:
    told = Told(3, {"A": (queue(0),)}, "ada", "more room")

    rule = choose_rule(view("CONFIG", "CONFIG"), {}, told)

    assert rule.plan is not None
    assert (rule.plan.strategy, rule.plan.epoch, rule.plan.author) == ("CONFIG", 3, "ada")
    assert rule.plan.params == {"config": told.lists}
    assert choose_rule(view("GO_CONFIG"), {}, told).name == "GO_CONFIG"
    assert choose_rule(view("AVG"), {}, told).name == "AVG"
    assert choose_rule(view("CONFIG", "AVG"), {}, told).plan is None


@pytest.mark.parametrize(
    ("strategy", "language", "variant"),
    [
        ("AVG", "JAVA", "AVG"),
        ("AVG", "CPP", "CPP_AVG"),
        ("AVG", "GO", "GO_AVG"),
        ("AVG_BY_CIRCLE", "GO", "GO_AVG_BY_CIRCLE"),
        ("AVG_BY_CIRCLE", "CPP", "AVG_BY_CIRCLE"),
        ("AVG", "", "AVG"),
        ("STICKY", "GO", "STICKY"),
    ],
)
def test_a_strategy_is_computed_in_the_way_of_the_members_language(strategy: str, language: str, variant: str) -> None:
    assert variant_of(strategy, language) == variant


def test_members_of_one_language_have_one_rule_and_those_of_two_a_mixed_one() -> None:
    both = view("AVG", None)

    assert choose_rule(both, {"A": "GO", "B": "GO"}).name == "GO_AVG"
    assert choose_rule(both, {"A": "GO", "B": "JAVA"}).name == "mixed: AVG, GO_AVG"


def test_members_that_differ_end_up_with_queues_that_nobody_has_and_that_two_have() -> None:
    mixed = view("AVG", "AVG_BY_CIRCLE")
    rule = choose_rule(mixed, {})
    assert (rule.plan, rule.name, rule.is_assumed) == (None, "mixed: AVG, AVG_BY_CIRCLE", False)

    assert rule.variants is not None
    ownership = end_up(mixed, rule.variants)

    assert ownership is not None
    assert ownership.owner.tolist() == [0, 0, -1, 1]
    assert ownership.owned_twice().tolist() == [1]


def test_who_says_nothing_beside_members_that_differ_is_taken_to_average() -> None:
    rule = choose_rule(view("AVG_BY_CIRCLE", "CONSISTENT_HASH", None), {})

    assert rule.is_assumed
    assert rule.variants == {"A": "AVG_BY_CIRCLE", "B": "CONSISTENT_HASH", "C": "AVG"}


def test_a_member_that_cannot_compute_alone_leaves_the_target_unknown() -> None:
    mixed = view("AVG", "STICKY")

    assert end_up(mixed, {"A": "AVG", "B": "STICKY"}) is None


def test_a_broadcasting_group_needs_no_agreement() -> None:
    assert choose_rule(view("AVG", "AVG_BY_CIRCLE", model=MessageModel.BROADCASTING), {}).plan is not None


def test_too_many_members_that_differ_are_not_asked_one_by_one() -> None:
    rule = choose_rule(view("AVG", "AVG_BY_CIRCLE", queues=MOST_QUESTIONS // 2 + 1), {})

    assert (rule.name, rule.variants) == ("", None)
    assert "too many" in rule.why


def test_a_group_whose_members_all_come_through_a_proxy_has_no_target() -> None:
    grpc = Member(client_id="host@12@0@1abcdefgh")
    java = Member(client_id="10.0.0.1@4711")

    def rule_of(*members: Member) -> tuple[str, str]:
        rule = choose_rule(GroupView.of("g", [queue(0)], members, MessageModel.CLUSTERING), {})
        return rule.name, rule.why

    assert rule_of(grpc) == ("", "its members come through a proxy: they own no queues")
    assert rule_of(grpc, java)[0] == "AVG"  # who divides by itself counts everybody that the broker lists
    assert rule_of(replace(grpc, strategy="AVG"))[0] == "AVG"
