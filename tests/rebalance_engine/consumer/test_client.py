import pytest

from rebalance_engine.consumer import Consumed, GroupSettings, Start, Stop
from rebalance_engine.effects import Answered, Closed, Failure, Unanswered, Woken
from rebalance_engine.remoting.requests.contract import Response
from tests.rebalance_engine.consumer.running import EAST, running


def test_a_group_that_is_not_here_cannot_be_ordered_about() -> None:
    world, _ = running()

    with pytest.raises(ValueError, match="no consumer of group 'H'; it has G"):
        world.hear("A", Stop("H"))


def test_a_group_that_is_here_cannot_be_started_again() -> None:
    world, _ = running()

    with pytest.raises(ValueError, match="has a consumer of group 'G' already"):
        world.hear("A", Start(settings=GroupSettings(group="G", topics={"orders": "*"})))


def test_it_states_what_it_holds() -> None:
    world, member = running(queues=2)
    member.table[EAST].is_dropped = True

    held = world.machines["A"].client.held("G")

    assert [mq.queue_id for mq in held.queues] == [0, 1] and held.queues[0].topic == "%RETRY%G"
    assert held.dropped == (EAST,)


def test_what_is_heard_too_late_or_from_nowhere_changes_nothing() -> None:
    world, _ = running()
    client = world.machines["A"].client

    for heard in (
        Answered(token=999_999, response=Response(code=0)),
        Unanswered(token=999_999, failure=Failure.CLOSED),
        Consumed(token=999_999),
        Closed(channel=5),
    ):
        assert client.handle(heard, world.at) == []
    assert len(client.handle(Woken(timer="next"), world.at)) == 1  # asks to be woken for what still is to come
