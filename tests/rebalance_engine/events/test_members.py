import pytest

from rebalance_engine.events import MemberListSeen, MemberSeen, PresenceSeen, Subscription, SubscriptionsSeen
from tests.rebalance_engine.facts import plain


def topic(name: str, expression: str = "*") -> Subscription:
    return Subscription(topic=name, expression=expression, expression_type="TAG", sub_version=1)


def test_a_member_list_keeps_its_order_and_its_duplicates() -> None:
    listed = plain(MemberListSeen, broker="east", clients=("B", "A", "A"))

    assert listed.clients == ("B", "A", "A")


def test_a_broker_may_know_nobody() -> None:
    assert plain(MemberListSeen, clients=()).clients == ()


def test_what_a_member_did_not_say_is_unknown() -> None:
    seen = plain(MemberSeen, language="CPP")

    assert seen.is_orderly is None and seen.message_model is None


def test_one_client_may_be_present_at_two_addresses() -> None:
    first = plain(PresenceSeen, client="A", broker="east", address="10.0.0.1:50001")
    second = plain(PresenceSeen, client="A", broker="east", address="10.0.0.1:50002")

    assert first != second


def test_a_topic_subscribed_to_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"subscribes to \['orders'\] more than once"):
        plain(SubscriptionsSeen, subscriptions=(topic("orders"), topic("orders", "paid")))


def test_a_subscription_may_be_to_nothing_but_not_of_nothing() -> None:
    assert topic("orders", "").expression == ""
    with pytest.raises(ValueError, match=r"Subscription\.topic is ''"):
        topic("")


@pytest.mark.parametrize("version", [0, 1_700_000_000_000, 1_700_000_000_000_000_000])
def test_a_version_may_be_in_nanoseconds_as_the_go_client_has_it(version: int) -> None:
    assert (
        Subscription(topic="orders", expression="*", expression_type="TAG", sub_version=version).sub_version == version
    )
