import pytest

from rebalance_engine.events import CommandOrdered, PlanPublished, Share, TargetPublished
from rebalance_engine.model import MessageQueue
from tests.rebalance_engine.facts import AT, plain

FIRST, SECOND = MessageQueue("orders", "east", 0), MessageQueue("orders", "east", 1)


def test_a_target_gives_each_queue_to_one_client() -> None:
    shares = (Share(client="A", queues=(FIRST,)), Share(client="B", queues=(SECOND,)))

    assert plain(TargetPublished, topic="orders", shares=shares).shares == shares


@pytest.mark.parametrize("unowned", [(), (FIRST,)])
def test_a_queue_that_a_target_names_twice_is_refused(unowned: tuple[MessageQueue, ...]) -> None:
    shares = (Share(client="A", queues=(FIRST,)), Share(client="B", queues=(SECOND,) if unowned else (FIRST,)))

    with pytest.raises(ValueError, match="more than once; a target names each queue once"):
        plain(TargetPublished, topic="orders", shares=shares, unowned=unowned)


def test_a_queue_of_another_topic_is_refused() -> None:
    with pytest.raises(ValueError, match="it needs queues of topic 'payments'"):
        plain(TargetPublished, topic="payments", unowned=(FIRST,))


def test_two_shares_of_one_client_are_refused() -> None:
    shares = (Share(client="A", queues=(FIRST,)), Share(client="A", queues=(SECOND,)))

    with pytest.raises(ValueError, match=r"two shares for \['A'\]; each client has one"):
        plain(TargetPublished, topic="orders", shares=shares)


def test_epochs_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match=r"PlanPublished\.epoch is 0; it needs int from 1"):
        plain(PlanPublished, epoch=0)


def test_a_deadline_before_the_order_is_refused() -> None:
    assert plain(CommandOrdered, deadline=AT).deadline == AT
    with pytest.raises(ValueError, match=f"ordered at {AT}, its deadline is {AT - 1}"):
        plain(CommandOrdered, deadline=AT - 1)
