"""Benchmarks, side by side with their peers: ``python -m tests.bench [--quick] [NAME...]``.

Each one first insists that all sides compute the same, then prints medians and ratios and writes them to
``build/bench/NAME.json``. It ends with 1 where a peer cannot be had; an aim that is missed is said, no failure.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

from tests.bench import (
    against_kafka,
    against_rocketmq,
    beside_java,
    clients,
    convergence,
    diffs,
    embedded,
    memory,
    network,
    pages,
    pipeline,
    remoting,
    resting,
    ring,
    simulation,
    storing,
    sweeping,
)
from tests.bench.report import Row, machine, table, write
from tests.peers.maven import Unavailable

BENCHMARKS: dict[str, Callable[..., Iterator[Row]]] = {
    "ring": ring.run,
    "diff": diffs.run,
    "memory": memory.run,
    "kafka": against_kafka.run,
    "rocketmq": against_rocketmq.run,
    "remoting": remoting.run,
    "network": network.run,
    "embedded": embedded.run,
    "clients": clients.run,
    "simulation": simulation.run,
    "storing": storing.run,
    "sweeping": sweeping.run,
    "convergence": convergence.run,
    "beside-java": beside_java.run,
    "pages": pages.run,
    "processes": resting.run,
    "pipeline": pipeline.run,
}


def main() -> int:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes and short rounds, to see that all works")
    asked = parser.parse_args()
    unknown = sorted(set(asked.names) - BENCHMARKS.keys())
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    done = [_run(name, quick=asked.quick) for name in asked.names or BENCHMARKS]
    return 0 if all(done) else 1


def _run(name: str, *, quick: bool) -> bool:
    print(f"\n## {name}\n", flush=True)
    try:
        rows = list(BENCHMARKS[name](quick=quick))
    except Unavailable as reason:
        print(f"not measured: {reason}")
        return False
    print(table(rows))
    missed = sum(row.met is False for row in rows)
    aims = sum(row.met is not None for row in rows)
    path = write(name, rows, quick=quick)
    print(f"\n{aims - missed} of {aims} aims met; written to build/bench/{path.name}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
