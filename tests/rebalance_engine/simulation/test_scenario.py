from dataclasses import replace

import pytest

from rebalance_engine.consumer import CPP, GO
from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.scenario import (
    LAST_SEED,
    Scenario,
    ScenarioError,
    Step,
    in_time_order,
    profile,
    read,
    write,
)
from tests.rebalance_engine.simulation.small import cluster


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_is_read_again(seed: int) -> None:
    scenario = draw(seed)

    assert read(write(scenario)) == replace(scenario, steps=in_time_order(scenario.steps))


def test_a_producer_that_avoids_faults_is_read_again() -> None:
    scenario = cluster(producer="P 5.5.0 every 120 avoiding faults")

    assert scenario.senders[0].avoids_faults
    assert read(write(scenario)) == scenario


def test_comments_and_empty_lines_say_nothing() -> None:
    assert read("# seven\n\nseed 7\n") == Scenario(seed=7)


def test_a_scenario_can_do_without_some_steps() -> None:
    scenario = cluster("9000 kill A", "9000 kill A")

    smaller = scenario.without(scenario.steps[-1:])

    assert [str(step) for step in smaller.steps[-1:]] == ["9000 kill A"]
    assert len(smaller.steps) == len(scenario.steps) - 1


def test_any_seed_that_may_be_drawn_may_be_read() -> None:
    assert read(write(Scenario(seed=LAST_SEED))) == Scenario(seed=LAST_SEED)


def test_a_step_is_a_line() -> None:
    assert str(Step(5, "start", ("A", "go", "as", "B"))) == "5 start A go as B"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("tea now", "needs to begin with a time or one of seed, broker"),
        ("5 explode A", "the verb is 'explode'; it needs to be one of start"),
        ("5 kill", "kill has 0 words; it needs 1 to 1"),
        ("5 start A", "start has 1 words; it needs 2 to 6"),
        ("5 start A go B", "behind the client; it needs as ID, by STRATEGY, or both"),
        ("5 start A go by AVG as B", "behind the client"),
        ("producer P 5.5.0 every 9 avoiding", "'producer NAME VERSION every MS avoiding faults'"),
        ("producer P 5.5.0 each 9", "needs to be 'producer NAME VERSION every MS' or"),
        (f"seed {2**63}", "needs to be from 0 to 9223372036854775807"),
        ("seed x", "the number is 'x'; it needs to be from 0"),
        ("sends until 99999999999", "the number is '99999999999'"),
        ("sends 5", "needs to be 'sends until MS'"),
        ("sends till 5", "needs to be 'sends until MS'"),
        ("ends at 5 later", "needs to be 'ends at MS'"),
        (f"seed {'0' * 28}7", "from 0 to 9223372036854775807, of 20 digits at most"),
        (f"seed {'0' * 90}7", "of 20 digits at most"),
        ("topic or/ders 4", "the topic is 'or/ders'; it needs to have 127 letters, digits"),
        ("topic tee\u00fc 4", "it needs to have 127 letters, digits"),
        (f"topic {'t' * 128} 4", "it needs to have 127 letters, digits"),
        ("topic %RETRY%g 4", "the topic is '%RETRY%g', which brokers make for a group"),
        ("topic %DLQ%g 4", "which brokers make for a group"),
        ("topic orders 0", "the number is '0'; it needs to be from 1"),
        ("topic orders", "needs to be 'topic NAME QUEUES'"),
        ("topic orders 4 5", "needs to be 'topic NAME QUEUES'"),
        ("topic tea 8", "'tea' is there already"),
        ("broker east 4.9.7", "'east' is there already"),
        ("latency 1..9", "there is a line of latency already"),
        ("listener 9..1", "first number must not be above its second"),
        ("listener 5", "the number is ''"),
        ("listener 5..9 fails", "needs to be 'listener LOW..HIGH' or 'listener LOW..HIGH fails N'"),
        ("group AVG sometimes", "needs to be 'group STRATEGY concurrent' or 'group STRATEGY orderly'"),
        ("broker east", "needs to be 'broker NAME VERSION'"),
        ("5", "the verb is ''"),
        ("²000 kill A", "the number is '²000'"),
    ],
)
def test_a_line_that_says_nothing_is_refused_by_its_number(line: str, complaint: str) -> None:
    with pytest.raises(ScenarioError, match=complaint) as refused:
        read(f"broker east 5.5.0\ntopic tea 4\nlatency 1..5\n{line}\n")

    assert "line 4" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "version"),
    [("java-5.5.0", "java 5.5.0"), ("cpp", str(CPP)), ("go", str(GO)), ("java-4.9.7", "java 4.9.7")],
)
def test_clients_have_names(name: str, version: str) -> None:
    assert str(profile(name)) == version


@pytest.mark.parametrize("name", ["rust", "java", "java-3.0.0", "go-1"])
def test_other_clients_are_not_known(name: str) -> None:
    with pytest.raises(ScenarioError, match=r"the (Java )?client is"):
        profile(name)


def test_a_step_knows_its_line() -> None:
    scenario = read("# two\n5 start A go\n3 start B go\n")

    assert [step.line for step in scenario.steps] == [3, 2]
    assert scenario == replace(scenario, steps=(Step(3, "start", ("B", "go")), Step(5, "start", ("A", "go"))))


def test_steps_are_read_and_written_in_the_order_of_their_times() -> None:
    text = "90000 kill B\n2000 start A go\n2000 start B go\n"

    steps = read(text).steps
    written = write(Scenario(steps=steps[::-1])).splitlines()

    assert [str(step) for step in steps] == ["2000 start A go", "2000 start B go", "90000 kill B"]
    assert written[-4:-1] == ["2000 start B go", "2000 start A go", "90000 kill B"]
