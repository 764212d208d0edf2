from rebalance_engine.producer.tasks import INTERRUPTED, DropLock, Reply, Sleep, TakeLock, Task, Transmit, Wish


def naps() -> Task[str]:
    yield Sleep(7)
    has_lock = yield TakeLock()
    if not has_lock:
        return "no lock"
    reply = yield Transmit(to="east:10911", request="anything", timeout_ms=3)
    yield DropLock()
    return "interrupted" if reply is INTERRUPTED else "answered"


def carried_out(task: Task[str], replies: list[Reply]) -> tuple[list[Wish], str]:
    wishes: list[Wish] = []
    try:
        while True:
            wishes.append(task.send(replies.pop(0) if wishes else None))
    except StopIteration as end:
        return wishes, str(end.value)


def test_a_task_wishes_and_goes_on_with_the_reply() -> None:
    wishes, result = carried_out(naps(), [None, True, INTERRUPTED, None])

    assert [type(wish) for wish in wishes] == [Sleep, TakeLock, Transmit, DropLock]
    assert result == "interrupted"


def test_a_task_may_end_early() -> None:
    assert carried_out(naps(), [None, False])[1] == "no lock"
