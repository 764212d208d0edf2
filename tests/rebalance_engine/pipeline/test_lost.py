"""Lines that a client's asynchronous appender dropped: what the others still prove."""

import pytest
from pyspark.sql import SparkSession

from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    java5,
    persisted,
    read_holds,
    removed,
    result,
)

pytestmark = pytest.mark.spark
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("west", 1)
START = "the consumer [g] start beginning. messageModel=CLUSTERING, isUnitMode=false"
STOPPED, LOCKED = "the consumer [g] shutdown OK", f"message queue lock OK, g {Q1}"
LET_GO = f"RebalanceLockManager#unlockBatch: unlock mq, group=g, clientId=A, mqs={Q1}"  # a broker's line
UNLOCKED = f"unlock messageQueue. group:g, clientId:A, mq:{Q1}"
REFUSED = f"doRebalance, g, add a new mq failed, {Q1}, because lock failed"
Line = tuple[float, str]


def both(*lines: Line) -> list[Line]:
    """Give a log in which Q0 is held throughout."""
    return sorted([(0, START), (1, added("g", Q0)), (90, persisted("g", "A", Q0, 1)), *lines])


def of(at: float, *queues: str) -> Line:
    return at, result("g", "A", [Q0, *queues])


def kept(*times: float) -> list[Line]:
    return [(at, persisted("g", "A", Q1, 1)) for at in times]


def beside(*times: float) -> list[Line]:
    """Persist another queue of the same broker."""
    return [(at, persisted("g", "A", QUEUE.format("west", 2), 1)) for at in times]


TAKEN, DROPPED = (2, added("g", Q1)), (20, removed("g", Q1))
CASES: dict[str, tuple[list[Line], list[tuple[float | None, float | None, float | None, float, str]]]] = {
    # from_after, from, until_after, until, ended
    "nothing lost": (both(TAKEN, of(2.1, Q1), *kept(5, 10, 15), DROPPED, of(20.1)), [(None, 2, None, 20, "released")]),
    "a removal": (both(TAKEN, of(2.1, Q1), *kept(5, 10, 15), of(20.1)), [(None, 2, 15, 20.1, "released")]),
    "a removal before the next take": (
        both(TAKEN, of(2.1, Q1), *kept(5, 10), of(20.1), (60, added("g", Q1)), of(60.1, Q1), *kept(65)),
        [(None, 2, 10, 20.1, "released"), (None, 60, None, 91, "open")],
    ),
    "a removal and its result": (
        both(TAKEN, of(2.1, Q1), *kept(5, 10), (60, added("g", Q1)), of(60.1, Q1), *kept(65)),
        [(None, 2, 10, 60, "released"), (None, 60, None, 91, "open")],
    ),
    "a removal and its result, of a queue beside others of its broker that are persisted still": (
        both(TAKEN, of(2.1, Q1), *kept(5, 10), *beside(5, 10, 15, 20, 25, 30)), [(None, 2, 10, 15, "released")],
    ),
    "a removal and its result, before a stop": (
        both(TAKEN, of(2.1, Q1), *kept(5, 10), *beside(5, 10, 15, 20, 25, 30), (91, STOPPED)),
        [(None, 2, 10, 15, "released")],
    ),
    "nothing where others of its broker are persisted no longer": (
        both(TAKEN, of(2.1, Q1), *kept(5, 10), *beside(5, 10, 15)), [(None, 2, None, 91, "open")],
    ),
    "nothing of an orderly member that persists no more of what it lists": (
        both(TAKEN, (2, LOCKED), of(2.1, Q1), *kept(5, 10), *beside(5, 10, 15, 20, 25, 30)),
        [(None, 2, None, 91, "open")],
    ),
    "a removal before a stop": (
        both(TAKEN, of(2.1, Q1), *kept(5), of(20.1), (91, STOPPED)), [(None, 2, 5, 20.1, "released")],
    ),
    "a removal and the next take, before a removal": (
        both(TAKEN, of(2.1, Q1), *kept(5, 10), of(20.1), of(40.1, Q1), *kept(45, 50), (60, removed("g", Q1)), of(60.1)),
        [(None, 2, 10, 20.1, "released"), (20.1, 40.1, None, 60, "released")],
    ),
    "a removal and the next take with its result, before a removal": (
        both(TAKEN, of(2.1, Q1), *kept(5), of(10.1), *kept(45, 50), (60, removed("g", Q1)), of(60.1)),
        [(None, 2, 5, 10.1, "released"), (10.1, 45, None, 60, "released")],
    ),
    "a removal and the next take with its result, before a result that has it anew": (
        both(TAKEN, of(2.1, Q1), *kept(5), of(10.1), *kept(45, 50), of(60.1, Q1), *kept(65), (70, removed("g", Q1))),
        [(None, 2, 5, 10.1, "released"), (10.1, 45, None, 70, "released")],
    ),
    "a removal and the next take, twice, before a stop": (
        both(
            TAKEN, of(2.1, Q1), *kept(5), of(10.1), of(20.1, Q1), *kept(25), of(30.1), of(40.1, Q1), *kept(45, 90),
            (91, STOPPED),
        ),
        [(None, 2, 5, 10.1, "released"), (10.1, 20.1, 25, 30.1, "released"), (30.1, 40.1, None, 91, "stopped")],
    ),
    "nothing, where what is persisted tells that it was held again before its result": (
        both(TAKEN, of(2.1, Q1), *kept(5), of(10.1), *kept(15, 20), of(20.1, Q1), *kept(25), (60, removed("g", Q1))),
        [(None, 2, None, 60, "released")],
    ),
    "a take": (both(of(1.1), of(2.1, Q1), *kept(5, 10), DROPPED, of(20.1)), [(0, 2.1, None, 20, "released")]),
    "the second take": (
        both(TAKEN, of(2.1, Q1), DROPPED, of(20.1), of(40.1, Q1), *kept(45, 50), (60, removed("g", Q1)), of(60.1)),
        [(None, 2, None, 20, "released"), (20, 40.1, None, 60, "released")],
    ),
    "a take that only its removal and a result prove": (
        both(TAKEN, of(2.1, Q1), DROPPED, of(20.1), of(40.1, Q1), (43, removed("g", Q1)), of(43.1)),
        [(None, 2, None, 20, "released"), (20, 40.1, None, 43, "released")],
    ),
    "a take and its result": (
        both(TAKEN, of(2.1, Q1), DROPPED, of(20.1), *kept(45, 50), (60, removed("g", Q1)), of(60.1)),
        [(None, 2, None, 20, "released"), (20, 45, None, 60, "released")],
    ),
    "a take and its result, minutes before the last that is persisted": (
        both(TAKEN, of(2.1, Q1), *kept(5), (6, removed("g", Q1)), of(6.1), *kept(15, 20, 60)),
        [(None, 2, None, 6, "released"), (6, 15, None, 91, "open")],
    ),
    "a take of a member that started anew": (
        both(
            TAKEN, of(2.1, Q1), *kept(5), (30, STOPPED), (40, START), (41, added("g", Q0)), of(41.1, Q1), *kept(51),
            (60, removed("g", Q1)),
        ),
        [(None, 2, None, 30, "stopped"), (40, 41.1, None, 60, "released")],
    ),
    "a take, its result and all that it persisted, before a second removal": (
        both(TAKEN, of(2.1, Q1), *kept(5), DROPPED, of(20.1), (60, removed("g", Q1)), of(60.1)),
        [(None, 2, None, 20, "released"), (20, 59.999, None, 60, "released")],
    ),
    "a take of a member that started anew, and its result, before a removal": (
        both(TAKEN, of(2.1, Q1), *kept(5), (30, STOPPED), (40, START), (41, added("g", Q0)), (60, removed("g", Q1))),
        [(None, 2, None, 30, "stopped"), (40, 59.999, None, 60, "released")],
    ),
    "nothing, where a removal stands there twice": (
        both(TAKEN, of(2.1, Q1), *kept(5), DROPPED, (20.5, removed("g", Q1)), of(20.6)),
        [(None, 2, None, 20, "released")],
    ),
    "nothing, where an offset was being sent": (
        both(TAKEN, of(2.1, Q1), DROPPED, *kept(20.3), of(20.1)), [(None, 2, None, 20, "released")],
    ),
    "nothing, where it was never taken": (both(of(1.1), of(2.1, Q1), of(20.1)), []),
    "nothing of an orderly member that keeps what it lists no more for a while": (
        both(TAKEN, (2, LOCKED), of(2.1, Q1), of(20.1), *kept(25, 30), (34, removed("g", Q1)), of(34.1)),
        [(None, 2, None, 34, "released")],
    ),
    "the removal of an orderly member": (
        both(TAKEN, (2, LOCKED), of(2.1, Q1), of(20.1), *kept(25, 30)), [(None, 2, 30, 35, "released")],
    ),
    "nothing of an orderly member that persists no more what it still has, and is stopped": (
        both(TAKEN, (2, LOCKED), of(2.1, Q1), *kept(5, 10, 15), of(20.1), (91, STOPPED)),
        [(None, 2, None, 91, "stopped")],
    ),
    "nothing of an orderly member that persists no more what it still has, and is killed": (
        both(TAKEN, (2, LOCKED), of(2.1, Q1), *kept(5, 10, 15), of(20.1), (91, START)),
        [(None, 2, None, 90, "lost")],
    ),
    "the removal of an orderly member that unlocked": (
        both(TAKEN, (2, LOCKED), of(2.1, Q1), *kept(5, 10, 15), (20, UNLOCKED), of(20.1), (91, STOPPED)),
        [(None, 2, 15, 20, "released")],
    ),
    "the removal of an orderly member of which only a broker tells that it unlocked": (
        both(TAKEN, (2, LOCKED), of(2.1, Q1), *kept(5, 10, 15), (20, LET_GO), of(20.1), (91, STOPPED)),
        [(None, 2, 15, 20.999, "released")],
    ),
    "the removal of an orderly member that unlocked later": (
        both(TAKEN, (2, LOCKED), of(2.1, Q1), of(20.1), *kept(25, 30), (33.9, UNLOCKED)),
        [(None, 2, 30, 33.9, "released")],
    ),
    "the removal and the next take of an orderly member that unlocked, and was refused meanwhile": (
        both(
            TAKEN, (2, LOCKED), of(2.1, Q1), *kept(5, 10, 15), (20, UNLOCKED), of(20.1), (40, REFUSED), of(40.01, Q1),
            (41, REFUSED), of(42.1, Q1), *kept(45, 90), (91, STOPPED),
        ),
        [(None, 2, 15, 20, "released"), (41, 42.1, None, 91, "stopped")],
    ),
    "the removal and the next take of an orderly member that only a refusal tells": (
        both(
            TAKEN, (2, LOCKED), of(2.1, Q1), *kept(5, 10, 15), of(20.1), (40, REFUSED), of(40.01, Q1), (41.2, LOCKED),
            *kept(45, 90), (91, STOPPED),
        ),
        [(None, 2, 15, 20.1, "released"), (40, 41.2, None, 91, "stopped")],
    ),
    "nothing of an orderly member that keeps what it lists no more, and lists it again": (
        both(TAKEN, (2, LOCKED), of(2.1, Q1), *kept(5, 10), of(20.1), of(40.1, Q1), *kept(45, 90), (91, STOPPED)),
        [(None, 2, None, 91, "stopped")],
    ),
    "a take whose lock was refused in the round that lists it first": (
        both(of(1.1), (2, REFUSED), of(2.01, Q1), of(3.4, Q1), *kept(5, 10), DROPPED, of(20.1)),
        [(2, 3.4, None, 20, "released")],
    ),
    "no take of a member that was assigned its queues by hand": (  # it had them before all that is told of it
        [(0, START), *kept(8, 13, 18, 90)], [(None, None, None, 91, "open")],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[object, ...]]]:
    """Give the holds of Q1 in every case, each a host and a group of its own."""
    place = tmp_path_factory.mktemp("lost")
    for number, (lines, _) in enumerate(CASES.values()):
        path = place / f"web{number}" / "a.log"
        path.parent.mkdir()
        mine = (
            (
                at,
                text.replace("clientId=A", f"clientId=A{number}")
                .replace("clientId:A", f"clientId:A{number}")
                .replace(" A ", f" A{number} ")
                .replace("ClientId: A ", f"ClientId: A{number} "),
            )
            for at, text in lines
        )
        said = list(mine)
        path.write_text("".join(java5(at, text) for at, text in said if not text.startswith("RebalanceLockManager")))
        if at_broker := [broker(at, text) for at, text in said if text.startswith("RebalanceLockManager")]:
            (place / "east").mkdir(exist_ok=True)
            (place / "east" / "lock.log").write_text("".join(at_broker))
    found: dict[str, list[tuple[object, ...]]] = {name: [] for name in CASES}
    names = list(CASES)

    def seconds(at_ms: int | None) -> float | None:
        return None if at_ms is None else (at_ms - MIDNIGHT_MS) / 1000

    for row in read_holds(spark, place).where("queue_id = 1").orderBy("from_ms").collect():
        times = (row[name] for name in ("from_after_ms", "from_ms", "until_after_ms", "until_ms"))
        found[names[int(row["client_id"][1:])]].append((*map(seconds, times), row["ended"]))
    return found


@pytest.mark.parametrize("name", CASES)
def test_what_was_lost_is_told_by_what_is_there(told: dict[str, list[tuple[object, ...]]], name: str) -> None:
    assert told[name] == CASES[name][1]
