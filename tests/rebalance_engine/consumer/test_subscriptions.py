from rebalance_engine.consumer.subscriptions import Subscriptions


def test_a_subscription_has_its_tags_and_its_version() -> None:
    subscriptions = Subscriptions()
    subscriptions.add("orders", "A || B", 17)

    data = subscriptions.get("orders")

    assert data is not None and (data.tags_set, data.sub_version) == (("A", "B"), 17)


def test_a_bump_makes_a_subscription_newer() -> None:
    subscriptions = Subscriptions()
    subscriptions.add("orders", "*", 17)
    subscriptions.bump("orders", 18)
    subscriptions.bump("bills", 18)

    assert [data.sub_version for data in subscriptions.all] == [18]
    assert "orders" in subscriptions and "bills" not in subscriptions


def test_topics_keep_the_order_in_which_they_came() -> None:
    subscriptions = Subscriptions()
    for topic in ("orders", "bills", "%RETRY%G"):
        subscriptions.add(topic, "*", 17)
    subscriptions.add("orders", "A", 18)
    subscriptions.remove("bills")

    assert list(subscriptions) == ["orders", "%RETRY%G"]
