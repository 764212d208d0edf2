"""Whether a scenario makes sense: every step names what is there, by words that are known, and has something to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from rebalance_engine.membership.profiles import rules_of
from rebalance_engine.producer import java as java_producer
from rebalance_engine.simulation.bounds import earliest_end
from rebalance_engine.simulation.choosing import DEFAULT, STRATEGIES, chosen
from rebalance_engine.simulation.idling import idle
from rebalance_engine.simulation.scenario import LONGEST_RUN, Scenario, ScenarioError, Step, in_time_order, profile
from rebalance_engine.simulation.whole_numbers import MOST_DIGITS, whole_number

MOST_QUEUES = 1_024  # of one topic on one broker
SLOWEST = 60_000  # ms; more than any timeout is no different


def check(scenario: Scenario) -> None:
    """Hold a scenario to what can be run.

    Raises:
        ScenarioError: it names what is not there, or cannot be; the message says what was seen and what is needed.
    """
    members = {step.words[0] for step in scenario.steps if step.verb == "start"}
    for what, found in (
        ("broker", scenario.brokers),
        ("topic", scenario.topics),
        ("step that starts a member", members),
    ):
        if not found:
            raise ScenarioError(f"there is no {what}; at least one is needed")
    _check_names([*scenario.brokers, *(sender.name for sender in scenario.senders), *members])
    _with("the scenario", lambda: _check_versions(scenario))
    for step in scenario.steps:
        _with(_place(step), lambda step=step: _check_step(step, scenario, members))  # type: ignore[misc]
    _check_growth(scenario)
    for step, why in idle(scenario.steps):
        raise ScenarioError(f"{_place(step)}: {why}")
    _check_end(scenario)


def _place(step: Step) -> str:
    return f"step '{step}'" if step.line is None else f"line {step.line}, '{step}'"


def _with(where: str, look: Callable[[], None]) -> None:
    try:
        look()
    except ValueError as error:
        raise ScenarioError(f"{where}: {error}") from error


def _check_names(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ScenarioError(f"the name {name!r} is there twice; brokers, producers and members need their own")
        seen.add(name)


def _check_versions(scenario: Scenario) -> None:
    for version in scenario.brokers.values():
        rules_of(version)
    for sender in scenario.senders:
        java_producer(sender.version)
    _check_choice(scenario.strategy, scenario)
    if scenario.beside is not None:
        _check_choice(scenario.beside, scenario)


def _check_end(scenario: Scenario) -> None:
    """Insist that it goes on until all must be well: before that nothing could be said of its end."""
    earliest = earliest_end(scenario)
    if scenario.ends_at < earliest:
        raise ScenarioError(
            f"the scenario ends at {scenario.ends_at}; it needs to end at {earliest} at least, until when the timers "
            "may take to bring everybody in order, and consumers to finish what is sent"
        )


def _check_step(step: Step, scenario: Scenario, members: Collection[str]) -> None:
    places = {"member": members, "broker": scenario.brokers, "topic": scenario.topics}
    for word, kind in zip(step.words, _WORDS[step.verb], strict=False):
        if kind in places:
            _known(kind, word, places[kind])
        else:
            _number(word, kind)
    if step.verb == "start":
        client = profile(step.words[1])
        given = dict(zip(step.words[2::2], step.words[3::2], strict=True))
        for word in (given.get("by", scenario.strategy), scenario.beside or DEFAULT):
            strategy = _check_choice(word, scenario)
            if client.language not in STRATEGIES[strategy]:
                raise ScenarioError(f"a client in {client.language.name} has no strategy {strategy}")


def _check_growth(scenario: Scenario) -> None:
    """Insist on more queues: with fewer, RocketMQ loses what waits in those that go, and nothing could be promised."""
    there: dict[tuple[str, str], int] = {}
    for step in in_time_order(scenario.steps):
        if step.verb == "grow":
            topic, broker, queues = step.words
            before = there.get((topic, broker), scenario.topics[topic])
            if int(queues) <= before:
                raise ScenarioError(
                    f"{_place(step)}: {topic} has {before} queues on {broker}; it needs to grow to more than that"
                )
            there[topic, broker] = int(queues)


def _check_choice(word: str, scenario: Scenario) -> str:
    _known("strategy", word.partition(":")[0], STRATEGIES)
    strategy, queues = chosen(word)
    for queue in queues:
        _known("topic", queue.topic, scenario.topics)
        _known("broker", queue.broker, scenario.brokers)
    return strategy


def _known(kind: str, word: str, known: Collection[str]) -> None:
    if word not in known:
        raise ScenarioError(f"the {kind} is {word!r}; it needs to be one of {', '.join(sorted(known))}")


def _number(word: str, kind: str) -> None:
    most = {"queues": MOST_QUEUES, "extra": SLOWEST}.get(kind, LONGEST_RUN)
    if whole_number(word, 1, most) is None:
        raise ScenarioError(f"the number is {word!r}; it needs to be from 1 to {most}, of {MOST_DIGITS} digits at most")


_WORDS = {  # what the words behind a verb are
    "start": ("member",),
    "stop": ("member",),
    "kill": ("member",),
    "die": ("member",),
    "pause": ("member", "ms"),
    "crash": ("broker", "ms"),
    "cut": ("member", "broker", "ms"),
    "slow": ("broker", "extra", "ms"),
    "mute": ("ms",),
    "reset": ("member", "broker"),
    "lose": ("ms",),
    "drop": ("ms",),
    "grow": ("topic", "broker", "queues"),
    "subscribe": ("topic",),
    "unsubscribe": ("topic",),
}
