import pytest

from dashboard.config.supervising.machine import (
    MOST_PAUSE_MS,
    STEADY_MS,
    STOP_WITHIN_MS,
    UNNEEDED,
    Added,
    Answered,
    Child,
    Effect,
    Event,
    Exited,
    Kill,
    Launch,
    Over,
    Reached,
    Removed,
    Say,
    State,
    Stop,
    Supervisor,
    Terminate,
    WakeAt,
    Woken,
    how_it_ended,
)

REDIS = Child(name="redis", level=0, is_probed=True, ready_within_ms=5_000, grace_ms=2_000)
WEB = Child(name="web", needs=frozenset({"redis", "prepared"}), level=2, grace_ms=4_000)
DEMO = Child(name="demo", level=1, grace_ms=3_000)


class Told:
    """A supervisor on a clock of its own; keeps what it asked for, words and wake-ups left out."""

    def __init__(self, *children: Child) -> None:
        self.supervisor = Supervisor()
        self.at = 0
        self.wakes_at: int | None = None
        self.words: list[str] = []
        self.first = [effect for child in children for effect in self.hear(Added(child))]

    def hear(self, event: Event, after: int = 0) -> list[Effect]:
        self.at += after
        asked: list[Effect] = []
        for effect in self.supervisor.handle(event, self.at):
            if isinstance(effect, WakeAt):
                self.wakes_at = effect.at
            elif isinstance(effect, Say):
                self.words.append(effect.text)
            else:
                asked.append(effect)
        return asked

    def wait(self) -> list[Effect]:
        """Let time pass until it wants to be woken."""
        assert self.wakes_at is not None
        self.at, self.wakes_at = self.wakes_at, None
        return self.hear(Woken())


def test_a_child_starts_once_everything_that_it_needs_is_ready() -> None:
    told = Told(WEB, REDIS)

    assert told.first == [Launch("redis")]
    assert told.hear(Reached("prepared")) == []
    assert told.hear(Answered("redis")) == [Launch("web")]
    assert told.supervisor.state("web") is State.READY


def test_a_child_that_ends_starts_again_after_pauses_that_double() -> None:
    told = Told(DEMO)
    pauses = []

    for _ in range(9):
        began = told.at
        assert told.hear(Exited("demo", 1)) == []
        assert told.wait() == [Launch("demo")]
        pauses.append(told.at - began)

    assert pauses[:4] == [500, 1_000, 2_000, 4_000]
    assert pauses[-1] == MOST_PAUSE_MS


def test_a_child_that_ran_for_long_starts_again_soon() -> None:
    told = Told(DEMO)
    for _ in range(5):
        told.hear(Exited("demo", 1))
        told.wait()

    told.hear(Exited("demo", -9), after=STEADY_MS)

    assert told.wakes_at == told.at + 500
    assert "killed by signal 9" in told.words[-1]


def test_a_child_that_does_not_answer_is_killed_and_started_again() -> None:
    told = Told(REDIS)

    assert told.wait() == [Kill("redis")]
    assert told.at == 5_000
    assert told.hear(Exited("redis", -9)) == []
    assert told.wait() == [Launch("redis")]


def test_one_that_is_needed_and_dies_does_not_stop_the_others() -> None:
    told = Told(WEB, REDIS)
    told.hear(Reached("prepared"))
    told.hear(Answered("redis"))

    told.hear(Exited("redis", 1))

    assert told.supervisor.state("web") is State.READY
    assert told.wait() == [Launch("redis")]
    assert told.hear(Answered("redis")) == []


def test_children_stop_level_by_level_from_the_highest_down() -> None:
    told = Told(WEB, DEMO, REDIS)
    told.hear(Reached("prepared"))
    told.hear(Answered("redis"))

    assert told.hear(Stop()) == [Terminate("web")]
    assert told.hear(Exited("web", 0), after=100) == [Terminate("demo")]
    assert told.hear(Exited("demo", 0), after=100) == [Terminate("redis")]
    assert told.hear(Exited("redis", 0), after=100) == [Over()]


def test_who_does_not_stop_in_its_time_is_killed() -> None:
    told = Told(DEMO, REDIS)
    told.hear(Stop())

    assert told.wait() == [Kill("demo")]
    assert told.at == 3_000
    assert told.hear(Exited("demo", -9)) == [Terminate("redis")]


def test_at_the_deadline_everybody_is_killed_whoever_was_asked() -> None:
    slow = Child(name="slow", level=3, grace_ms=60_000)
    told = Told(slow, DEMO, REDIS)

    assert told.hear(Stop()) == [Terminate("slow")]
    assert told.wait() == [Kill("slow"), Kill("demo"), Kill("redis")]
    assert told.at == STOP_WITHIN_MS


def test_a_second_stop_does_not_wait() -> None:
    told = Told(DEMO, REDIS)
    told.hear(Stop())

    assert told.hear(Stop(), after=10) == [Kill("demo"), Kill("redis")]
    told.hear(Exited("demo", -9))
    assert told.hear(Exited("redis", -9)) == [Over()]


def test_what_waits_or_pauses_is_gone_at_a_stop_without_being_started() -> None:
    told = Told(WEB, DEMO)
    told.hear(Exited("demo", 1))

    assert told.hear(Stop()) == [Over()]
    assert told.hear(Woken(), after=60_000) == []


def test_a_child_that_ends_while_all_stop_is_not_started_again() -> None:
    told = Told(DEMO, WEB)
    told.hear(Stop())

    assert told.hear(Exited("demo", 1)) == [Over()]


def test_a_removed_child_is_stopped_alone_and_may_come_again() -> None:
    told = Told(DEMO, REDIS)

    assert told.hear(Removed("demo")) == [Terminate("demo")]
    assert told.words[-1] == "demo is needed no more, and is ended"
    assert told.hear(Removed("demo")) == []
    assert told.hear(Exited("demo", 0)) == []
    assert told.hear(Added(DEMO)) == [Launch("demo")]
    with pytest.raises(ValueError, match="demo is there already"):
        told.hear(Added(DEMO))


def test_a_child_that_is_needed_no_more_is_not_started_again_and_may_come_again() -> None:
    told = Told(DEMO, REDIS)

    assert told.hear(Exited("demo", UNNEEDED)) == []
    assert told.words[-1] == "demo is needed no more, and has ended"
    assert told.supervisor.is_gone("demo")
    assert not told.supervisor.is_gone("nobody")
    assert told.hear(Removed("demo")) == []
    assert told.words[-1] == "demo is needed no more, and has ended", "what ended by itself is not said to be ended"
    assert told.hear(Added(DEMO)) == [Launch("demo")]


def test_an_answer_that_comes_late_changes_nothing() -> None:
    told = Told(REDIS)
    told.hear(Exited("redis", 1))

    assert told.hear(Answered("redis")) == []
    assert told.supervisor.state("redis") is State.PAUSING
    assert not told.supervisor.was_ready("redis")


def test_a_status_is_said_in_words() -> None:
    assert how_it_ended(-15) == "killed by signal 15"
    assert how_it_ended(2) == "status 2"


def test_the_time_to_answer_counts_from_the_milestone_that_it_waits_for() -> None:
    web = Child(name="web", answers_after="prepared", is_probed=True, ready_within_ms=5_000)
    told = Told(web)
    assert told.first == [Launch("web")]
    assert told.wakes_at is None

    told.hear(Reached("prepared"), after=600_000)

    assert told.wakes_at == 605_000
    assert told.wait() == [Kill("web")]
    told.hear(Exited("web", -9))
    assert told.wait() == [Launch("web")]
    assert told.wakes_at == told.at + 5_000
