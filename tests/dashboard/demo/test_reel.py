import asyncio

from dashboard.demo.reel import MOST_KEPT, Reel
from rebalance_engine.eventlog import read
from rebalance_engine.events import EXACT, Origin, QueueTaken, Source
from rebalance_engine.model import MessageQueue

SOURCE = Source(origin=Origin.AGENT_REPORT, client="A")


def taken(number: int) -> QueueTaken:
    queue = MessageQueue("orders", "east", number)
    return QueueTaken(at=1_700_000_000_000, source=SOURCE, exactness=EXACT, group="g", client="A", queue=queue)


def test_facts_are_given_once_each_in_their_order() -> None:
    reel = Reel()
    for number in range(5):
        reel.put(taken(number))

    first = reel.after(0, 3)
    rest = reel.after(first[-1][0], 3)

    assert [number for number, _ in first + rest] == [1, 2, 3, 4, 5]
    assert [read(line) for _, line in first + rest] == [taken(number) for number in range(5)]
    assert reel.after(5, 3) == []


def test_the_oldest_go_when_there_are_too_many() -> None:
    reel = Reel()
    for number in range(MOST_KEPT + 2):
        reel.put(taken(number % 4))

    assert reel.after(0, 1)[0][0] == 3
    assert reel.last == MOST_KEPT + 2


def test_who_waits_is_woken_by_the_next_fact() -> None:
    async def wait() -> int:
        reel = Reel()
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(reel.wait())
            await asyncio.sleep(0)
            assert not waiting.done()
            reel.put(taken(1))
        return reel.last

    assert asyncio.run(wait()) == 1
