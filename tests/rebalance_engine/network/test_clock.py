import asyncio
import time

from rebalance_engine.network.clock import Clock


def test_it_counts_from_1970_by_the_clock_of_the_loop() -> None:
    loop = asyncio.new_event_loop()
    try:
        before = int(time.time() * 1000)
        clock = Clock(loop)

        assert before - 1 <= clock.now()
        assert abs(clock.loop_time(clock.now()) - loop.time()) < 3600
        assert clock.loop_time(5_000) - clock.loop_time(2_000) == 3
    finally:
        loop.close()
