import random

import pytest

from rebalance_engine.consumer import Deliver, Profile, java
from rebalance_engine.consumer.application import Result
from rebalance_engine.consumer.messages import Message
from rebalance_engine.events import EXACT, DropReason, Fact, Origin, QueueDropped, QueueTaken, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Breach, Weather
from rebalance_engine.simulation.clients import ConsumerProcess, Listener
from rebalance_engine.simulation.ledger import ON_THE_WAY, Ledger
from rebalance_engine.simulation.process import Place, Process
from rebalance_engine.simulation.store import Store
from tests.rebalance_engine.simulation.small import network

QUEUE = MessageQueue("orders", "east", 0)
SOURCE = Source(origin=Origin.SIMULATOR)


class Stage:
    """A ledger, and clients of which it is told; messages 0 to 9 are there."""

    def __init__(self, *, is_orderly: bool = False, profile: Profile | None = None) -> None:
        self.network = network()
        self.weather = Weather()
        self.ledger = Ledger(self.network.clock, self.weather, is_orderly=is_orderly)
        self.profile = profile or java("5.5.0")
        self.a, self.b = self.client("A"), self.client("B")
        self._tokens = 0
        for _ in range(10):
            self.ledger.stored(QUEUE)

    def client(self, name: str) -> ConsumerProcess:
        return ConsumerProcess(
            Place(self.network, name, f"{name}:1", self.state),
            client_id=name,
            profile=self.profile,
            strategy="AVG",
            luck=random.Random(0),
            listener=Listener(),
            audience=self.ledger,  # type: ignore[arg-type]  # it is never asked to end one
        )

    def state(self, _process: Process, _fact: object) -> None:
        return

    def wait(self, ms: int) -> None:
        self.network.clock.run_until(self.network.clock.now + ms)

    def take(self, who: ConsumerProcess, at: int = 0) -> None:
        self._tell(who, QueueTaken, start_offset=at)

    def drop(
        self, who: ConsumerProcess, committed: int | None = None, reason: DropReason = DropReason.NOT_IN_TARGET
    ) -> None:
        self._tell(who, QueueDropped, committed_offset=committed, reason=reason)

    def _tell(self, who: ConsumerProcess, kind: type[Fact], **fields: object) -> None:
        now = self.network.clock.now
        frame = {"at": now, "source": SOURCE, "exactness": EXACT, "group": "g", "client": who.name, "queue": QUEUE}
        self.ledger.states(who, kind(**frame, **fields))  # type: ignore[arg-type]  # as the facts have them

    def give(self, who: ConsumerProcess, *offsets: int) -> Deliver:
        self._tokens += 1
        messages = tuple(Message(offset=offset, topic="orders") for offset in offsets)
        deliver = Deliver(group="g", queue=QUEUE, messages=messages, token=self._tokens)
        self.ledger.delivered(who, deliver)
        return deliver

    def consume(self, who: ConsumerProcess, *offsets: int, result: Result = Result.SUCCESS) -> None:
        self.ledger.consumed(who, self.give(who, *offsets), result)

    def commit(self, who: ConsumerProcess, offset: int) -> None:
        self.ledger.committed(who, QUEUE, offset)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_an_ordinary_life_breaks_nothing(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, *range(6))
    stage.commit(stage.a, 6)
    stage.drop(stage.a, committed=6)
    stage.wait(50)
    stage.take(stage.b, at=6)
    stage.consume(stage.b, *range(6, 10))

    stage.ledger.check_finished(QUEUE)
    assert stage.ledger.held(stage.b) == {QUEUE}
    assert (stage.ledger.figures.moves, stage.ledger.figures.duplicates) == (1, 0)
    assert [span.duration_ms for span in stage.ledger.figures.unowned] == [50]


def test_an_offset_past_a_message_that_nobody_finished(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 2)

    with pytest.raises(Breach, match=r"commits 3 of .*nobody finished 1"):
        stage.commit(stage.a, 3)


def test_a_start_past_a_message_that_nobody_finished(stage: Stage) -> None:
    with pytest.raises(Breach, match="at 4; nobody finished 0"):
        stage.take(stage.a, at=4)


def test_a_commit_of_a_queue_that_was_never_held(stage: Stage) -> None:
    with pytest.raises(Breach, match="never held"):
        stage.commit(stage.a, 0)


def test_a_commit_long_after_the_drop(stage: Stage) -> None:
    stage.take(stage.a)
    stage.drop(stage.a)
    stage.wait(ON_THE_WAY)
    stage.commit(stage.a, 0)
    stage.wait(1)

    with pytest.raises(Breach, match="which it dropped"):
        stage.commit(stage.a, 0)


def test_messages_of_a_queue_that_is_not_held(stage: Stage) -> None:
    stage.take(stage.a)
    stage.drop(stage.a)

    with pytest.raises(Breach, match="does not hold"):
        stage.give(stage.a, 0)


def test_a_message_twice_without_a_reason(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0)

    with pytest.raises(Breach, match="again without any reason"):
        stage.give(stage.a, 0)


def test_a_message_again_because_the_listener_asked_for_it(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, result=Result.LATER)

    stage.consume(stage.a, 0)

    assert stage.ledger.figures.duplicates == 0


def test_duplicates_of_a_handoff_are_counted_and_explained(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.take(stage.b, at=0)
    stage.consume(stage.b, 0, 1, 2)
    stage.drop(stage.a, committed=3)

    assert stage.ledger.figures.duplicates == 3
    assert len(stage.ledger.figures.overlaps) == 1


def test_a_start_behind_an_offset_that_was_never_stored(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.drop(stage.a, committed=3)
    stage.wait(ON_THE_WAY + 1)

    with pytest.raises(Breach, match="and never stored that"):
        stage.take(stage.b, at=0)


def test_a_start_behind_may_be_the_fault_of_the_weather(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.drop(stage.a, committed=3)
    stage.weather.turns_foul(stage.network.clock.now, stage.network.clock.now + 10, "east")
    stage.wait(ON_THE_WAY + 1)

    stage.take(stage.b, at=0)


def test_a_start_behind_the_stored_offset(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.commit(stage.a, 3)
    stage.wait(ON_THE_WAY + 1)

    with pytest.raises(Breach, match="at 1; 3 is stored"):
        stage.take(stage.b, at=1)


def test_a_restarted_broker_may_have_forgotten_offsets(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.commit(stage.a, 3)
    stage.wait(ON_THE_WAY + 1)

    stage.ledger.restarted("east")
    stage.take(stage.b, at=1)


def test_a_message_that_came_back_is_finished_here(stage: Stage) -> None:
    store = Store("east")
    store.append(QUEUE, 0)
    stage.take(stage.a)
    stage.consume(stage.a, 0, result=Result.LATER)

    stage.ledger.returned(store.take_back("g", 0, 0, 16, 0)[1])
    stage.commit(stage.a, 1)


def test_a_message_that_is_never_finished(stage: Stage) -> None:
    with pytest.raises(Breach, match="message 0 of 10 was never finished"):
        stage.ledger.check_finished(QUEUE)


def test_a_drop_of_what_is_not_held(stage: Stage) -> None:
    with pytest.raises(Breach, match=r"drops .* which it does not hold"):
        stage.drop(stage.a)


def test_a_process_that_is_gone_holds_nothing(stage: Stage) -> None:
    stage.take(stage.a)
    stage.give(stage.a, 0)

    assert stage.ledger.gone(stage.a) == (QUEUE,)
    assert stage.ledger.held(stage.a) == frozenset()


# ---- in order ----


def test_an_orderly_queue_out_of_order() -> None:
    stage = Stage(is_orderly=True)
    stage.take(stage.a)
    stage.consume(stage.a, 0)

    with pytest.raises(Breach, match=r"is given .* 2, and nobody finished 1"):
        stage.give(stage.a, 2)


def both_have_one(stage: Stage) -> None:
    stage.ledger.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    stage.give(stage.a, 0)
    stage.take(stage.b)


def test_two_listeners_of_an_orderly_queue_at_a_time() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)

    with pytest.raises(Breach, match="both consume"):
        stage.give(stage.b, 0)


@pytest.mark.parametrize(("after_ms", "is_allowed"), [(20_001, True), (20_000, False)])
def test_a_lock_may_be_forced_open_20_s_after_its_renewal(after_ms: int, is_allowed: bool) -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.wait(after_ms)
    stage.drop(stage.a)
    stage.ledger.locks.released("A", [QUEUE], stage.network.clock.now)

    if is_allowed:
        stage.give(stage.b, 0)
    else:
        with pytest.raises(Breach, match="both consume"):
            stage.give(stage.b, 0)


def test_a_broker_that_was_restarted_excuses_two_listeners() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)

    stage.ledger.restarted("east")
    stage.give(stage.b, 0)


def test_a_lock_that_is_kept_after_the_drop() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.drop(stage.a)
    stage.ledger.refused(QUEUE)
    stage.wait(10_000)

    with pytest.raises(Breach, match="still has its lock"):
        stage.ledger.refused(QUEUE)


def test_who_asks_for_his_lock_again_may_have_it() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.drop(stage.a)
    stage.wait(10_000)

    stage.ledger.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.ledger.refused(QUEUE)


def test_a_lock_of_who_is_gone_runs_out_by_itself() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.network.end(stage.a)
    stage.ledger.gone(stage.a)
    stage.wait(50_000)

    stage.ledger.refused(QUEUE)


def test_a_renewal_that_comes_after_the_release_leaks_the_lock() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.drop(stage.a)
    stage.ledger.locks.released("A", [QUEUE], stage.network.clock.now)
    before = stage.ledger.has_leaked_locks()
    stage.wait(1)

    stage.ledger.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.wait(50_000)
    stage.ledger.refused(QUEUE)

    assert (before, stage.ledger.has_leaked_locks()) == (False, True)
