import pytest

from rebalance_engine.effects import Address, Failure
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.asked import Deadline
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.progress import Progress, ask_progress
from rebalance_engine.remoting.bodies.queues import ConsumerOffsetSerializeWrapper, ConsumeStats, OffsetWrapper
from rebalance_engine.remoting.requests import brokers
from tests.rebalance_engine.network.answers import Answer, Answering
from tests.rebalance_engine.network.virtual import run

EAST = "east:10911"
FAR, ZERO, NEW = (MessageQueue("orders", "broker-a", number) for number in range(3))
ABSENT, ELSEWHERE = MessageQueue("%RETRY%G", "broker-a", 0), MessageQueue("%RETRY%G", "broker-b", 0)
STATS = brokers.GetConsumeStatsResponse(
    body=ConsumeStats(
        offset_table={
            FAR: OffsetWrapper(broker_offset=9, consumer_offset=5),
            ZERO: OffsetWrapper(broker_offset=3),
            NEW: OffsetWrapper(broker_offset=3),
        }
    )
)
OFFSETS = brokers.GetAllConsumerOffsetResponse(
    body=ConsumerOffsetSerializeWrapper(offset_table={"orders@G": {0: 5, 1: 0}})
)
SILENCE = NoAnswer(Failure.TIMEOUT, EAST)


def progress(of_208: Answer, of_43: Answer = OFFSETS) -> Progress:
    def answer(_: Address, request: object) -> Answer:
        return of_208 if isinstance(request, brokers.GetConsumeStats) else of_43

    async def ask() -> Progress:
        return await ask_progress(Admin(Answering(answer), "names:9876"), "G", Deadline(5), "broker-a", EAST)

    return run(ask())


def none_stored(seen: Progress) -> set[MessageQueue]:
    return {queue for queue in (FAR, ZERO, NEW, ABSENT, ELSEWHERE) if seen.has_none(queue)}


def test_a_queue_never_committed_is_told_from_one_that_is_at_its_start() -> None:
    seen = progress(STATS)

    assert seen.lag == {FAR: 4, ZERO: 3, NEW: None}
    assert none_stored(seen) == {NEW, ABSENT}
    assert [one.why for one in seen.heard] == ["", ""]


def test_it_is_unknown_where_the_table_of_all_offsets_did_not_come() -> None:
    seen = progress(STATS, SILENCE)

    assert seen.lag == {FAR: 4, ZERO: None, NEW: None}
    assert none_stored(seen) == {ABSENT}
    assert [one.why for one in seen.heard] == ["", f"{EAST}: no answer in time"]


def test_all_is_unknown_where_nothing_came() -> None:
    seen = progress(SILENCE)

    assert seen.lag == {}
    assert none_stored(seen) == set()
    assert [one.why for one in seen.heard] == [f"{EAST}: no answer in time"]


@pytest.mark.parametrize("consumed", [1, 5])
def test_the_table_of_all_offsets_is_asked_for_only_where_something_is_unclear(consumed: int) -> None:
    clear = ConsumeStats(offset_table={FAR: OffsetWrapper(broker_offset=9, consumer_offset=consumed)})

    seen = progress(brokers.GetConsumeStatsResponse(body=clear), SILENCE)

    assert seen.lag == {FAR: 9 - consumed}
    assert len(seen.heard) == 1
