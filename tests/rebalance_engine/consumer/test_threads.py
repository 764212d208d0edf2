from rebalance_engine.consumer.threads import TIMER, Bell, Code, Listen, Lock, Scheduler, Sleep, SleepUntil, Take, ask
from rebalance_engine.effects import Answered, Failure, Send, Unanswered, WakeAt
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup

REQUEST = GetConsumerListByGroup(consumer_group="G")


def at(threads: Scheduler, now: int) -> None:
    threads.tell_time(now)
    threads.woken()
    threads.run()


def test_a_thread_sleeps_until_its_time() -> None:
    threads, seen = Scheduler(), []

    def code() -> Code[None]:
        yield Sleep(100)
        seen.append(threads.at)
        yield SleepUntil(250)
        seen.append(threads.at)
        yield SleepUntil(10)  # long past
        seen.append(threads.at)

    threads.spawn(code())

    assert threads.run() == [WakeAt(at=100, timer=TIMER)]
    at(threads, 99)
    assert seen == []
    at(threads, 100)
    at(threads, 250)
    assert seen == [100, 250, 250]


def test_only_an_earlier_deadline_moves_the_timer() -> None:
    threads = Scheduler()

    def code(ms: int) -> Code[None]:
        yield Sleep(ms)

    threads.spawn(code(100))
    threads.spawn(code(200))
    assert threads.run() == [WakeAt(at=100, timer=TIMER)]
    threads.spawn(code(300))
    assert threads.run() == []
    threads.spawn(code(50))
    assert threads.run() == [WakeAt(at=50, timer=TIMER)]


def test_an_answer_resumes_who_asked() -> None:
    threads, seen = Scheduler(), []

    def code() -> Code[None]:
        seen.append((yield from ask("east:1", REQUEST, 3_000)))

    threads.spawn(code())
    threads.spawn(code())
    first, second = (effect for effect in threads.run() if isinstance(effect, Send))
    threads.reply(Unanswered(token=second.token, failure=Failure.CLOSED))
    threads.run()
    threads.reply(Answered(token=first.token, response=Response(code=0)))
    threads.run()

    assert seen == [Failure.CLOSED, Response(code=0)]
    assert not threads.reply(Answered(token=first.token, response=Response(code=0)))


def test_a_bell_that_rings_often_is_heard_once() -> None:
    threads, seen = Scheduler(), []
    bell = Bell()

    def code() -> Code[None]:
        while True:
            rang = yield Listen(bell, 100)
            seen.append((threads.at, rang))

    threads.spawn(code())
    threads.run()
    threads.tell_time(10)
    for _ in range(3):
        threads.ring(bell)
    threads.run()
    at(threads, 110)
    at(threads, 210)

    assert seen == [(10, True), (10, True), (110, False), (210, False)]


def test_a_lock_goes_to_who_waited_longest_and_still_waits() -> None:
    threads, seen = Scheduler(), []
    lock = Lock()

    def code(name: str, patience: int | None) -> Code[None]:
        has = yield Take(lock, patience)
        seen.append((name, has, threads.at))

    assert threads.try_take(lock)
    threads.spawn(code("A", 50))
    threads.spawn(code("B", 200))
    threads.spawn(code("C", None))
    threads.run()
    assert not threads.try_take(lock)
    at(threads, 50)
    threads.tell_time(60)
    threads.release(lock)
    threads.run()
    at(threads, 200)
    threads.release(lock)
    threads.run()
    threads.release(lock)

    assert seen == [("A", False, 50), ("B", True, 60), ("C", True, 200)]
    assert threads.try_take(lock)


def test_a_wait_of_no_time_is_over_at_once() -> None:
    threads, seen = Scheduler(), []
    lock = Lock()
    threads.try_take(lock)

    def code() -> Code[None]:
        seen.append((yield Take(lock, 0)))
        seen.append((yield Listen(Bell(), 0)))
        seen.append((yield Sleep(0)))

    threads.spawn(code())
    threads.run()

    assert seen == [False, False, None]


def test_a_stopped_thread_says_nothing_more() -> None:
    threads, seen = Scheduler(), []

    def code() -> Code[None]:
        try:
            yield Sleep(100)
            seen.append("woke up")
        finally:
            seen.append("closed")

    thread = threads.spawn(code(), lambda: seen.append("ended by itself"))
    threads.run()
    threads.stop(thread)
    at(threads, 100)

    assert seen == ["closed"]


def test_who_wants_to_hears_the_end() -> None:
    threads, seen = Scheduler(), []

    def code() -> Code[None]:
        yield Sleep(1)

    threads.spawn(code(), lambda: seen.append(threads.at))
    threads.run()
    at(threads, 1)

    assert seen == [1]


def test_time_does_not_go_back() -> None:
    threads = Scheduler()
    threads.tell_time(100)
    threads.tell_time(50)

    assert threads.at == 100
