import pytest

from rebalance_engine.consumer import rounds
from rebalance_engine.events import Fact, Origin, QueueTaken
from rebalance_engine.simulation.breach import Rule
from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.running import run
from tests.rebalance_engine.simulation.small import cluster


def test_a_quiet_cluster_breaks_nothing_and_consumes_everything() -> None:
    outcome = run(cluster())

    assert (outcome.breach, outcome.broken_at) == (None, None)
    assert outcome.figures.seeds == 1
    assert outcome.figures.consumed > 250


def test_a_run_ends_where_something_breaks() -> None:
    outcome = run(cluster("70000 kill A", ends_at=70_050))

    assert outcome.breach is not None and "is missing" in outcome.breach
    assert outcome.broken_at == 70_050


def test_a_breach_names_the_promise() -> None:
    assert run(cluster()).rule is None
    assert run(cluster("70000 kill A", ends_at=70_050)).rule is Rule.SETTLED


def test_an_error_of_a_machine_breaks_a_promise_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object, **__: object) -> None:
        raise KeyError("boom")

    monkeypatch.setattr(rounds, "reconcile", stumble)

    outcome = run(cluster())

    assert outcome.rule is Rule.MACHINE
    assert outcome.breach is not None and "KeyError in test_running.py, stumble, line" in outcome.breach
    assert outcome.broken_at is not None and 2_000 <= outcome.broken_at < 5_000


def test_every_run_finds_the_group_in_order_at_its_end_at_least() -> None:
    outcomes = [run(draw(seed)) for seed in range(6)]

    assert min(outcome.figures.settled for outcome in outcomes) >= 1
    assert sum(outcome.figures.settled for outcome in outcomes) >= 12


def test_a_scenario_gives_the_same_facts_again() -> None:
    first, second = list[Fact](), list[Fact]()

    outcomes = run(draw(3), first.append), run(draw(3), second.append)

    assert first == second
    assert outcomes[0] == outcomes[1]


def test_its_facts_are_those_of_a_cluster_with_the_simulator_as_their_source() -> None:
    facts = list[Fact]()

    run(cluster(), facts.append)

    assert {fact.source.origin for fact in facts} == {Origin.SIMULATOR}
    assert len({fact.queue for fact in facts if isinstance(fact, QueueTaken)}) == 10
