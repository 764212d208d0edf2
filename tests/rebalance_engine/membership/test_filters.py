import pytest

from rebalance_engine.membership.filters import check_filter, pulled_subscription
from rebalance_engine.remoting.bodies.clients import CheckClientRequestBody
from rebalance_engine.remoting.requests.membership import CheckClientConfig
from tests.rebalance_engine.membership.examples import pull, wants


@pytest.mark.parametrize("expression", [None, "", "*"])
def test_everything_is_a_subscription_without_tags(expression: str | None) -> None:
    subscription = pulled_subscription(pull(subscription=expression), 5)

    assert subscription is not None
    assert (subscription.sub_string, subscription.tags_set, subscription.sub_version) == ("*", (), 5)


def test_tags_are_trimmed_and_hashed() -> None:
    subscription = pulled_subscription(pull(subscription=" A ||B|| "), 0)

    assert subscription is not None
    assert subscription.tags_set == ("A", "B") and subscription.code_set == (65, 66)


@pytest.mark.parametrize("expression", ["||", "||||"])
def test_an_expression_of_nothing_but_bars_cannot_be_read(expression: str) -> None:
    assert pulled_subscription(pull(subscription=expression), 0) is None


def test_an_odd_bar_is_a_tag_as_in_java() -> None:
    subscription = pulled_subscription(pull(subscription="|||"), 0)

    assert subscription is not None and subscription.tags_set == ("|",)


def test_sql_needs_an_expression() -> None:
    assert pulled_subscription(pull(subscription="", expression_type="SQL92"), 0) is None
    subscription = pulled_subscription(pull(subscription="a > 1", expression_type="SQL92"), 0)
    assert subscription is not None and subscription.expression_type == "SQL92"


@pytest.mark.parametrize(
    ("kind", "understands_sql", "code"), [("TAG", False, 0), ("SQL92", False, 1), ("SQL92", True, 0)]
)
def test_only_tags_are_understood_unless_properties_are(kind: str, *, understands_sql: bool, code: int) -> None:
    body = CheckClientRequestBody(client_id="A", group="g", subscription_data=wants(kind=kind))

    assert check_filter(CheckClientConfig(body=body), filters_by_property=understands_sql).code == code
