"""The pauses that clients keep between rounds and between heartbeats, told from what brokers hear.

A round asks a broker once a topic who is in the group. So of more requests than there are topics, two belong to
different rounds, and those are a second apart since 5.2 (``rocketmq.client.rebalance.minInterval``).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from rebalance_engine.simulation.breach import Breach, Rule, Weather
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.timers import HEARTBEAT, ON_THE_WAY

JITTER = 100  # ms; by which requests come closer together on their way
FAIREST = 1_000  # ms; before the first of them no fault either


@dataclass(slots=True)
class Paces:
    """When brokers heard what of each process.

    Attributes:
        most_topics: how many topics a round asks about at most.
    """

    weather: Weather
    most_topics: int
    _asked: dict[ConsumerProcess, deque[int]] = field(default_factory=dict)
    _beaten: dict[tuple[ConsumerProcess, str], int] = field(default_factory=dict)

    def asked(self, process: ConsumerProcess, at: int) -> None:
        """Note that a process asked for the members of its group."""
        floor = process.profile.round_floor
        if not floor:
            return
        times = self._asked.setdefault(process, deque(maxlen=self.most_topics + 1))
        times.append(at)
        took = at - times[0]
        if len(times) <= self.most_topics or took >= floor - JITTER:
            return
        if self.weather.was_fair(times[0] - FAIREST, at, process.name):
            raise Breach(Rule.PACE, f"{process.name} asked {len(times)} times in {took} ms who is there")

    def beat(self, process: ConsumerProcess, broker: str, at: int) -> None:
        """Note a heartbeat."""
        before = self._beaten.get((process, broker), at)
        self._beaten[process, broker] = at
        if at - before > HEARTBEAT + ON_THE_WAY and self.weather.was_fair(before, at, process.name, broker):
            raise Breach(Rule.BEATS, f"{process.name} was silent for {at - before} ms to {broker}")
