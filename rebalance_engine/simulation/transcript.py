"""A run as a text: its scenario, ``----``, and what happened, one line a fact. The same text can be played again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rebalance_engine.events import (
    Fact,
    LockExpired,
    LockGranted,
    LockRefused,
    LockReleased,
    MemberJoined,
    MemberLeft,
    PresenceGone,
    PullRefused,
    QueueDropped,
    QueuePulled,
    QueueTaken,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation import scenario as scenarios
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.figures import longest
from rebalance_engine.simulation.running import Outcome, run

SEPARATOR = "----"
LOCKS = (LockGranted, LockRefused, LockReleased)


def play(text: str) -> str:
    """Play the scenario of a text, and write it again with what happened.

    Raises:
        ScenarioError: the text says no scenario.
    """
    told = text.partition(f"\n{SEPARATOR}")[0].rstrip("\n")
    return f"{told}\n{SEPARATOR}\n" + "\n".join(_happened(scenarios.read(told))) + "\n"


def write(outcome: Outcome, last: int | None = None) -> str:
    """Write a scenario that was run, with what happens in it: all of it, or the ``last`` lines."""
    lines = list(_happened(outcome.scenario))
    shown = lines if last is None else lines[-last:]
    return f"{scenarios.write(outcome.scenario)}{SEPARATOR}\n" + "\n".join(shown) + "\n"


def _happened(scenario: scenarios.Scenario) -> Iterator[str]:
    lines: list[str] = []

    def record(fact: Fact) -> None:
        say = WORDS.get(type(fact))
        if say is not None and not (fact.source.client and isinstance(fact, LOCKS)):  # the broker tells it too
            who = fact.source.client or fact.source.broker
            lines.append(f"{fact.at - EPOCH} {who}: {say(fact)}")

    outcome = run(scenario, record)
    yield from lines
    figures = outcome.figures
    yield (
        f"{figures}, longest overlap {longest(figures.overlaps)} ms, "
        f"unowned {longest(figures.unowned)} ms, silence {longest(figures.silences)} ms"
    )
    yield "nothing was broken" if outcome.breach is None else f"{outcome.broken_at} broken: {outcome.breach}"


def _short(queue: MessageQueue) -> str:
    return f"{queue.topic}/{queue.broker}/{queue.queue_id}"


def _dropped(fact: QueueDropped) -> str:
    kept = "" if fact.committed_offset is None else f" up to {fact.committed_offset}"
    return f"drops {_short(fact.queue)}{kept}, {fact.reason.value}"


WORDS: dict[type, Callable[[Any], str]] = {  # each gets the fact that it stands beside
    MemberJoined: lambda fact: f"{fact.client} joined",
    MemberLeft: lambda fact: f"{fact.client} left, {fact.departure.value}",
    PresenceGone: lambda fact: f"{fact.client} is gone from {fact.address}, {fact.departure.value}",
    QueueTaken: lambda fact: f"takes {_short(fact.queue)} at {fact.start_offset}",
    QueueDropped: _dropped,
    QueuePulled: lambda fact: f"pulls {_short(fact.queue)} at {fact.offset}",
    PullRefused: lambda fact: f"is refused {_short(fact.queue)} with {fact.code}",
    LockGranted: lambda fact: f"{fact.client} has the lock of {_short(fact.queue)}",
    LockRefused: lambda fact: f"{fact.client} does not get the lock of {_short(fact.queue)}",
    LockReleased: lambda fact: f"{fact.client} gives the lock of {_short(fact.queue)} back",
    LockExpired: lambda fact: f"the lock of {_short(fact.queue)} runs out for {fact.client}",
}
