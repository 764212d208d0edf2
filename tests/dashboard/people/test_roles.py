from __future__ import annotations

import pytest

from dashboard.people.roles import Access, Role, Scope, fits, scopes_of

ORDERS = Access("o", (Scope(Role.OPERATOR, "shop", "orders-*"), Scope(Role.VIEWER, "shop", "*")))


def test_a_role_includes_those_below_it() -> None:
    assert [[one.includes(other) for other in Role] for one in Role] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_a_grant_holds_where_its_patterns_fit() -> None:
    assert ORDERS.may(Role.OPERATOR, cluster="shop", group="orders-eu")
    assert not ORDERS.may(Role.OPERATOR, cluster="shop", group="pay")
    assert ORDERS.may(Role.VIEWER, cluster="shop", group="pay")
    assert not ORDERS.may(Role.VIEWER, cluster="other", group="orders-eu")
    assert not ORDERS.may(Role.ADMIN, cluster="shop", group="orders-eu")


def test_what_somebody_may_everywhere_is_told_apart() -> None:
    assert ORDERS.may_everywhere(Role.VIEWER, cluster="shop")
    assert not ORDERS.may_everywhere(Role.OPERATOR, cluster="shop")
    assert not ORDERS.may_see_everything()
    assert Access("a", (Scope(Role.VIEWER),)).may_see_everything()
    assert ORDERS.may_see_cluster("shop")
    assert not ORDERS.may_see_cluster("other")


def test_the_highest_role_counts_and_nobody_has_none() -> None:
    assert ORDERS.highest() is Role.OPERATOR
    assert Access("n", ()).highest() is None


@pytest.mark.parametrize(
    ("name", "pattern", "is_fitting"),
    [
        ("orders", "*", True),
        ("orders", "order?", True),
        ("Orders", "orders", False),
        ("[a]", "[a]", True),
        ("a", "[a]", False),
    ],
)
def test_patterns_know_a_star_and_a_question_mark(name: str, pattern: str, is_fitting: bool) -> None:
    assert fits(name, pattern) is is_fitting


def test_scopes_come_from_rows() -> None:
    assert scopes_of([("admin", "*", "g")]) == (Scope(Role.ADMIN, "*", "g"),)
