"""Small parts of a simulation for its tests."""

import random
from collections.abc import Iterable

from rebalance_engine.effects import Heard
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.network import Network
from rebalance_engine.simulation.process import Place, Process
from rebalance_engine.simulation.scenario import Scenario, read

CLUSTER = """\
seed 1
broker east 5.5.0
broker west 5.5.0
topic orders 4
group AVG concurrent
listener 5..40 fails 0
latency 1..12
producer P 5.5.0 every 200
sends until 60000
2000 start A java-5.5.0
2100 start B java-5.5.0
2200 start C java-5.5.0
"""


def cluster(*steps: str, ends_at: int = 120_000, **replaced: str) -> Scenario:
    """Make a scenario of three members; ``group="AVG orderly"`` replaces the line of that verb."""
    lines = [line for line in CLUSTER.splitlines() if line.split()[0] not in replaced]
    return read(
        "\n".join([*lines, *(f"{verb} {words}" for verb, words in replaced.items()), *steps, f"ends at {ends_at}"])
    )


def network(latency: tuple[int, int] = (5, 5)) -> Network:
    return Network(Clock(), random.Random(0), latency)


class Parrot(Process):
    """A process that remembers what it heard, and does what it is told to."""

    def __init__(self, network: Network, name: str, address: str) -> None:
        super().__init__(Place(network, name, address, lambda _process, fact: self.stated.append(fact)))
        self.stated: list[object] = []
        self.heard: list[tuple[int, Heard]] = []
        self.checks = 0

    def react(self, heard: Heard, at: int) -> Iterable[object]:
        self.heard.append((at, heard))
        return ()

    def check(self) -> None:
        self.checks += 1
