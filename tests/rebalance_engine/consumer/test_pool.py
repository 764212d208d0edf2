from rebalance_engine.consumer.pool import Pool
from rebalance_engine.consumer.threads import Code, Scheduler, Sleep


def test_so_many_run_and_the_others_wait_their_turn() -> None:
    threads, seen = Scheduler(), []
    pool = Pool(threads, 2)

    def code(name: str) -> Code[None]:
        seen.append((threads.at, name))
        yield Sleep(100)

    for name in "ABCDE":
        pool.submit(code(name))
    threads.run()
    assert (pool.busy, pool.waiting) == (2, 3)
    pool.check()
    for now in (100, 200, 300):
        threads.tell_time(now)
        threads.run()

    assert seen == [(0, "A"), (0, "B"), (100, "C"), (100, "D"), (200, "E")]
    assert (pool.busy, pool.waiting) == (0, 0)


def test_a_stopped_pool_begins_nothing_more() -> None:
    threads, seen = Scheduler(), []
    pool = Pool(threads, 1)

    def code(name: str) -> Code[None]:
        yield Sleep(100)
        seen.append(name)

    pool.submit(code("A"))
    pool.submit(code("B"))
    threads.run()
    pool.stop()
    pool.submit(code("C"))
    threads.tell_time(100)
    threads.run()

    assert seen == ["A"]


def test_who_joins_a_stopped_pool_waits_for_what_runs() -> None:
    threads, seen = Scheduler(), []
    pool = Pool(threads, 2)

    def code(ms: int) -> Code[None]:
        yield Sleep(ms)

    for ms in (100, 300, 200):
        pool.submit(code(ms))
    threads.run()
    pool.stop()
    threads.spawn(pool.join(), lambda: seen.append(threads.at))
    for now in (0, 100, 200, 300):
        threads.tell_time(now)
        threads.run()

    assert seen == [300]


def test_who_joins_an_idle_pool_does_not_wait() -> None:
    threads, seen = Scheduler(), []
    threads.spawn(Pool(threads, 1).join(), lambda: seen.append(threads.at))
    threads.run()

    assert seen == [0]
