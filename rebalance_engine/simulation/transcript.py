"""A run as a text: its scenario, ``----``, and what happened, one line a fact. The same text can be played again."""

from __future__ import annotations

from collections.abc import Callable
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
from rebalance_engine.simulation import scenario as scenarios
from rebalance_engine.simulation.checking import check
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.figures import longest
from rebalance_engine.simulation.groups import FIRST
from rebalance_engine.simulation.running import Outcome, run
from rebalance_engine.simulation.sessions import short

SEPARATOR = "----"
LOCKS = (LockGranted, LockRefused, LockReleased)


def play(text: str) -> str:
    """Play the scenario of a text, and write it again with what happened.

    Raises:
        ScenarioError: the text says no scenario, or none that makes sense.
    """
    return play_and_judge(text)[0]


def play_and_judge(text: str, on_fact: Callable[[Fact], None] | None = None) -> tuple[str, bool]:
    """Play the scenario of a text; give it with what happened, and whether every promise held.

    Args:
        text: of the scenario; what follows the separator is left aside.
        on_fact: is told every fact; what it raises ends the run.

    Raises:
        ScenarioError: the text says no scenario, or none that makes sense.
    """
    told = text.partition(f"\n{SEPARATOR}")[0].rstrip("\n")
    scenario = scenarios.read(told)
    check(scenario)
    lines, outcome = _happened(scenario, on_fact)
    return f"{told}\n{SEPARATOR}\n" + "\n".join(lines) + "\n", outcome.breach is None


def write(outcome: Outcome, last: int | None = None) -> str:
    """Write a scenario that was run, with what happens in it: all of it, or the ``last`` lines."""
    lines, _ = _happened(outcome.scenario)
    shown = lines if last is None else lines[-last:]
    return f"{scenarios.write(outcome.scenario)}{SEPARATOR}\n" + "\n".join(shown) + "\n"


def _happened(scenario: scenarios.Scenario, on_fact: Callable[[Fact], None] | None = None) -> tuple[list[str], Outcome]:
    lines: list[str] = []

    def record(fact: Fact) -> None:
        if on_fact is not None:
            on_fact(fact)
        say = WORDS.get(type(fact))
        if say is not None and not (fact.source.client and isinstance(fact, LOCKS)):  # the broker tells it too
            who = fact.source.client or fact.source.broker
            group = getattr(fact, "group", FIRST)
            where = "" if group == FIRST else f" in {group}"
            lines.append(f"{fact.at - EPOCH} {who}{where}: {say(fact)}")

    outcome = run(scenario, record)
    figures = outcome.figures
    lines.append(
        f"{figures}, longest overlap {longest(figures.overlaps)} ms, "
        f"unowned {longest(figures.unowned)} ms, silence {longest(figures.silences)} ms"
    )
    lines.append("nothing was broken" if outcome.breach is None else f"{outcome.broken_at} broken: {outcome.breach}")
    return lines, outcome


def _dropped(fact: QueueDropped) -> str:
    kept = "" if fact.committed_offset is None else f" up to {fact.committed_offset}"
    return f"drops {short(fact.queue)}{kept}, {fact.reason.value}"


WORDS: dict[type, Callable[[Any], str]] = {  # each gets the fact that it stands beside
    MemberJoined: lambda fact: f"{fact.client} joined",
    MemberLeft: lambda fact: f"{fact.client} left, {fact.departure.value}",
    PresenceGone: lambda fact: f"{fact.client} is gone from {fact.address}, {fact.departure.value}",
    QueueTaken: lambda fact: f"takes {short(fact.queue)} at {fact.start_offset}",
    QueueDropped: _dropped,
    QueuePulled: lambda fact: f"pulls {short(fact.queue)} at {fact.offset}",
    PullRefused: lambda fact: f"is refused {short(fact.queue)} with {fact.code}",
    LockGranted: lambda fact: f"{fact.client} has the lock of {short(fact.queue)}",
    LockRefused: lambda fact: f"{fact.client} does not get the lock of {short(fact.queue)}",
    LockReleased: lambda fact: f"{fact.client} gives the lock of {short(fact.queue)} back",
    LockExpired: lambda fact: f"the lock of {short(fact.queue)} runs out for {fact.client}",
}
