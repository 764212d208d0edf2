from dashboard.demo.shop import BROKERS, CASTS, MOST_MEMBERS, SENDERS, TOPICS, cast_of
from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.model import MessageQueue


def test_every_group_is_one_that_can_play() -> None:
    for cast in CASTS:
        assert set(cast.topics) <= set(TOPICS), cast.group
        assert set(cast.strategies) <= set(STRATEGIES), cast.group
        assert 1 <= cast.least <= cast.first <= cast.most <= MOST_MEMBERS, cast.group


def test_every_topic_has_messages() -> None:
    assert {sender.topic for sender in SENDERS} == set(TOPICS)


def test_the_configured_group_has_a_gap_of_one_queue() -> None:
    cast = cast_of("invoices")
    assert cast is not None and cast.config is not None
    told = [queue for queues in cast.config.values() for queue in queues]
    queues = {MessageQueue("payments", broker, number) for broker in BROKERS for number in range(TOPICS["payments"])}

    assert len(told) == len(set(told)) == len(queues) - 1
    assert set(told) < queues
    assert set(cast.config) == {cast.member(number + 1) for number in range(cast.first)}


def test_the_members_of_one_group_disagree_on_the_strategy() -> None:
    cast = cast_of("fraud-check")
    assert cast is not None

    assert {cast.strategy(number) for number in (1, 2, 3)} == {"AVG", "AVG_BY_CIRCLE"}


def test_a_group_that_does_not_play_is_not_found() -> None:
    assert cast_of("nobody") is None
