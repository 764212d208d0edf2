from collections.abc import Sequence

import pytest

from rebalance_engine.allocation.contract import IllegalArgument, MemberFailure, Strategy
from rebalance_engine.allocation.own import OwnStrategyFailed, own
from rebalance_engine.model import MessageQueue

QUEUES = [MessageQueue("orders", "east", number) for number in range(4)]


def every_second(client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> list[MessageQueue]:
    return [queue for queue in queues if queue.queue_id % len(client_ids) == client_ids.index(client_id)]


def ask(strategy: Strategy, client_id: str = "B") -> list[MessageQueue] | None:
    assert strategy.member is not None
    return strategy.member(client_id, QUEUES, ["A", "B"])


def test_a_function_divides_the_queues() -> None:
    strategy = own(every_second)

    assert strategy.name == "every_second"
    assert ask(strategy) == [QUEUES[1], QUEUES[3]]


def test_a_function_that_answers_nothing_has_an_empty_share() -> None:
    assert ask(own(lambda *_: None)) == []


def test_what_a_function_raises_is_reported_and_a_failure_of_the_member() -> None:
    heard: list[Exception] = []

    with pytest.raises(MemberFailure, match="every_second raised ValueError"):
        ask(own(every_second, report=heard.append), "C")
    assert isinstance(heard[0], ValueError)


def test_queues_that_were_not_given_are_a_failure() -> None:
    with pytest.raises(OwnStrategyFailed, match="none of the 4 given queues"):
        ask(own(lambda *_: [MessageQueue("bills", "east", 0)]))


def test_a_failure_that_a_function_raises_on_purpose_stays_what_it_is() -> None:
    def refuse(*_: object) -> list[MessageQueue]:
        raise IllegalArgument("no")

    with pytest.raises(IllegalArgument):
        ask(own(refuse))


def test_a_function_cannot_change_what_the_member_holds() -> None:
    def take_all(_: str, queues: Sequence[MessageQueue], __: Sequence[str]) -> Sequence[MessageQueue]:
        queues.clear()  # type: ignore[attr-defined]  # what a careless function might do
        return queues

    assert ask(own(take_all)) == []
    assert len(QUEUES) == 4
