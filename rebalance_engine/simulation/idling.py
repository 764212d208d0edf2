"""Steps that would find nothing to do: what they need is not there at their time, as far as other steps can tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rebalance_engine.simulation.scenario import Step, in_time_order

TO_WHO_RUNS = {"stop", "kill", "die", "pause", "reset"}
TO_BROKERS = {"crash": 0, "grow": 1}  # verb -> which of its words is a broker, which needs to be up


def idle(steps: Iterable[Step]) -> Iterator[tuple[Step, str]]:
    """Give the steps that would do nothing, by their times, each with what was seen and what it needs.

    Whoever is told to stop may still be there when he is killed or paused, and gone when he is started.
    """
    cluster = _Cluster()
    for step in in_time_order(steps):
        why = cluster.why_idle(step)
        if why is None:
            cluster.do(step)
        else:
            yield step, why


class _Cluster:
    """Who runs, who was told to stop, and until when somebody stands still or a broker is down."""

    def __init__(self) -> None:
        self._running: set[str] = set()
        self._stopping: set[str] = set()
        self._until: dict[str, int] = {}

    def why_idle(self, step: Step) -> str | None:
        """Say why a step would do nothing; None if it would do something."""
        name = step.words[TO_BROKERS.get(step.verb, 0)]
        waits_until = self._until.get(name, 0)
        if step.verb == "start" and name in self._running:
            return f"{name} runs already; it needs to be stopped or killed before"
        if step.verb in TO_WHO_RUNS and name not in self._running | self._stopping:
            return f"{name} does not run; it needs to be started before"
        if step.verb == "stop" and name in self._stopping:
            return f"{name} was told to stop already; once is needed"
        if step.verb == "pause" and step.at < waits_until:
            return f"{name} stands still until {waits_until}; it needs to run"
        if step.verb in TO_BROKERS and step.at < waits_until:
            return f"{name} is down until {waits_until}; it needs to be up"
        return None

    def do(self, step: Step) -> None:
        """Take note of what a step does."""
        name = step.words[0]
        if step.verb in {"start", "stop", "kill", "die"}:
            self._running.discard(name)
            self._stopping.discard(name)
        if step.verb == "start":
            self._running.add(name)
        elif step.verb == "stop":
            self._stopping.add(name)
        if step.verb in {"start", "kill", "die"}:
            self._until.pop(name, None)
        elif step.verb in {"pause", "crash"}:
            self._until[name] = step.at + int(step.words[1])
