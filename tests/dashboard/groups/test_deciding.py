from dashboard.groups.deciding import choose_rule
from rebalance_engine.group import GroupView, Member


def view(*strategies: str | None) -> GroupView:
    return GroupView.of("g", [], [Member(client_id=f"{n}", strategy=name) for n, name in enumerate(strategies)])


def test_what_all_members_say_is_the_rule() -> None:
    rule = choose_rule(view("AVG_BY_CIRCLE", None))

    assert rule.plan is not None
    assert (rule.plan.strategy, rule.is_assumed) == ("AVG_BY_CIRCLE", False)


def test_where_nobody_tells_averaging_is_assumed_and_said_to_be() -> None:
    rule = choose_rule(view(None))

    assert rule.plan is not None
    assert (rule.plan.strategy, rule.is_assumed) == ("AVG", True)


def test_members_that_differ_or_use_their_own_class_have_no_rule_that_can_be_known() -> None:
    assert choose_rule(view("AVG", "CONFIG")).why == "members divide by 2 strategies: AVG, CONFIG"
    assert choose_rule(view("com.shop.Mine")).why == "the strategy com.shop.Mine is not known here"
