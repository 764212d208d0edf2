import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.network import gate as gates
from rebalance_engine.network.budget import BROKER_LIMITS, Budget, Lane, Limits
from rebalance_engine.network.gate import Gate, NotAsked
from rebalance_engine.remoting.codes import RequestCode
from tests.rebalance_engine.network.test_budget import LIMITS, hold
from tests.rebalance_engine.network.virtual import run

NEVER = float("inf")
HOLDS = st.lists(st.tuples(st.integers(1, 3), st.floats(0, 5)), max_size=25)


def gate_of(limits: Limits) -> Gate:
    loop = asyncio.get_running_loop()
    return Gate("east:10911", Budget(limits, loop.time()), loop.time)


@given(limits=LIMITS, holds=HOLDS)
def test_all_get_their_turn_and_no_bound_is_exceeded(limits: Limits, holds: list[tuple[int, float]]) -> None:
    async def main() -> None:
        gate, loop = gate_of(limits), asyncio.get_running_loop()
        begun: list[tuple[float, int]] = []
        running: list[int] = []

        async def one(code: int, hold_s: float) -> None:
            await gate.enter(code, NEVER)
            begun.append((loop.time(), code))
            running.append(code)
            hold(limits.together, [at for at, _ in begun], len(running))
            for own, lane in limits.by_code.items():
                hold(lane, [at for at, code in begun if code == own], running.count(own))
            await asyncio.sleep(hold_s)
            running.remove(code)
            gate.leave(code)

        await asyncio.gather(*(one(code, hold_s) for code, hold_s in holds))
        assert len(begun) == len(holds)
        assert gate.waiting == gate.budget.in_flight() == 0
        gate.close()

    run(main())


def test_turns_are_given_in_order() -> None:
    async def main() -> list[int]:
        gate = gate_of(Limits(together=Lane(per_second=10, burst=1, in_flight=1)))
        order: list[int] = []

        async def one(number: int) -> None:
            await gate.enter(1, NEVER)
            order.append(number)
            gate.leave(1)

        await asyncio.gather(*map(one, range(10)))
        gate.close()
        return order

    assert run(main()) == list(range(10))


def test_questions_to_hung_clients_do_not_delay_others() -> None:
    async def main() -> float:
        gate, loop = gate_of(BROKER_LIMITS), asyncio.get_running_loop()
        hung = [asyncio.create_task(gate.enter(RequestCode.GET_CONSUMER_RUNNING_INFO, NEVER)) for _ in range(10)]
        await asyncio.sleep(0)
        for _ in range(10):
            await gate.enter(RequestCode.GET_CONSUMER_CONNECTION_LIST, NEVER)
            gate.leave(RequestCode.GET_CONSUMER_CONNECTION_LIST)
        for task in hung:
            task.cancel()
        await asyncio.gather(*hung, return_exceptions=True)
        gate.close()
        return loop.time()

    assert run(main()) == 0


def test_the_deadline_holds_while_waiting() -> None:
    async def main() -> float:
        gate, loop = gate_of(Limits(together=Lane(per_second=1, burst=1, in_flight=1))), asyncio.get_running_loop()
        await gate.enter(1, NEVER)
        with pytest.raises(NotAsked, match=r"east:10911.*not asked: the budget for code 1 gave no turn"):
            await gate.enter(1, loop.time() + 5)
        gate.leave(1)
        assert gate.waiting == 0
        gate.close()
        return loop.time()

    assert run(main()) == 5


def test_who_is_cancelled_gives_the_turn_back() -> None:
    async def main() -> None:
        gate = gate_of(Limits(together=Lane(per_second=100, burst=3, in_flight=1)))
        await gate.enter(1, NEVER)
        waiting = asyncio.create_task(gate.enter(1, NEVER))
        late = asyncio.create_task(gate.enter(1, NEVER))
        await asyncio.sleep(0)

        gate.leave(1)  # the turn is given to the first one, which is cancelled before it can take it
        waiting.cancel()

        with pytest.raises(asyncio.CancelledError):
            await waiting
        await late
        gate.leave(1)
        assert gate.budget.in_flight() == 0
        gate.close()

    run(main())


def test_not_everybody_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "MOST_WAITING", 1)

    async def main() -> None:
        gate = gate_of(Limits(together=Lane(per_second=1, burst=1, in_flight=1)))
        await gate.enter(1, NEVER)
        first = asyncio.create_task(gate.enter(1, NEVER))
        await asyncio.sleep(0)
        with pytest.raises(NotAsked, match="1 requests wait already"):
            await gate.enter(1, NEVER)
        gate.leave(1)
        await first
        gate.close()

    run(main())
