"""Simulated clusters, each from one seed.

    evenkeel simulate --seeds 300 --first 1      run so many simulated clusters and hold them to every promise
    evenkeel simulate --play scenario.txt        play one scenario, and write it with what happened

It ends with 0 where everything held, with 1 where something broke, with 2 where the arguments make no sense.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from rebalance_engine import eventlog
from rebalance_engine.cli import BadArguments
from rebalance_engine.events import Fact
from rebalance_engine.simulation import running, transcript
from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.figures import Figures
from rebalance_engine.simulation.running import Outcome
from rebalance_engine.simulation.scenario import LAST_SEED, ScenarioError, read, write
from rebalance_engine.simulation.shrinking import shrink

MOST_SEEDS = 10_000_000
MOST_JOBS = 256
CHUNK = 8  # seeds that a process runs before it asks for more
DEFAULTS = {"seeds": 1, "first": 0, "jobs": 1, "log": None}
LAST_LINES = 40  # of what happened, shown for a failing seed; its scenario shows the rest when it is played


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    how_many = f"how many seeds to run, {MOST_SEEDS} at most; 1 by default"
    parser.add_argument("--seeds", type=_count, default=1, metavar="N", help=how_many)
    which = f"the first seed, from 0 to {LAST_SEED}; 0 by default"
    parser.add_argument("--first", type=_seed, default=0, metavar="S", help=which)
    parser.add_argument("--jobs", type=_jobs, default=1, metavar="J", help="how many at once; 1 by default")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write every fact there, as lines of the event log")
    parser.add_argument("--play", type=Path, metavar="FILE", help="play the scenario of a file instead of seeds")


def run(asked: argparse.Namespace) -> int:
    """Play a scenario, or run seeds.

    Raises:
        BadArguments: they make no sense together, or a file cannot be read or says no scenario.
    """
    given = [f"--{name}" for name, default in DEFAULTS.items() if getattr(asked, name) != default]
    if asked.play and given:
        raise BadArguments(f"--play is given together with {', '.join(given)}; it plays one scenario, alone")
    if asked.log and asked.jobs > 1:
        raise BadArguments(f"--log is given together with --jobs {asked.jobs}; one process alone can write the log")
    if asked.first + asked.seeds - 1 > LAST_SEED:
        raise BadArguments(f"the last seed is {asked.first + asked.seeds - 1}; it needs to be {LAST_SEED} at most")
    return _play(asked.play) if asked.play else _simulate(asked)


def _count(word: str) -> int:
    return _number(word, least=1)


def _seed(word: str) -> int:
    return _number(word, least=0, most=LAST_SEED)


def _jobs(word: str) -> int:
    return _number(word, least=1, most=MOST_JOBS)


def _number(word: str, least: int, most: int = MOST_SEEDS) -> int:
    needed = f"{word!r} is given; needed is a whole number from {least} to {most}"
    if not (word.isascii() and word.isdigit()):
        raise argparse.ArgumentTypeError(needed)
    number = int(word[:20])
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(needed)
    return number


# ---- simulate ----


def _play(path: Path) -> int:
    try:
        played, holds = transcript.play_and_judge(path.read_text())
    except (ScenarioError, OSError, UnicodeDecodeError) as error:
        raise BadArguments(str(error)) from error
    sys.stdout.write(played)
    sys.stdout.flush()
    return 0 if holds else 1


def _simulate(asked: argparse.Namespace) -> int:
    total, failed = Figures(), 0
    with _opened(asked.log) if asked.log else nullcontext() as log:
        for outcome in _outcomes(range(asked.first, asked.first + asked.seeds), asked.jobs, log):
            total.add(outcome.figures)
            if outcome.breach is not None:
                failed += 1
                _tell_failure(outcome)
    _say(str(total) if not failed else f"{total}; {failed} failed")
    return 1 if failed else 0


def _opened(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="ascii")
    except OSError as error:
        raise BadArguments(str(error)) from error


def _outcomes(seeds: range, jobs: int, log: TextIO | None) -> Iterator[Outcome]:
    if jobs == 1 or log is not None:
        yield from (_run_seed(seed, log) for seed in seeds)
        return
    with ProcessPoolExecutor(processes(jobs, len(seeds))) as pool:
        yield from pool.map(_run_seed, seeds, chunksize=CHUNK)


def processes(jobs: int, seeds: int) -> int:
    """Give how many processes have something to do."""
    return min(jobs, math.ceil(seeds / CHUNK))


def _run_seed(seed: int, log: TextIO | None = None) -> Outcome:
    if log is None:
        return running.run(draw(seed))

    lines: list[str] = []

    def record(fact: Fact) -> None:  # each seed is a cluster of its own: where one ends and the next begins can be seen
        source = replace(fact.source, cluster=f"seed {seed}")
        lines.append(f"{eventlog.write(replace(fact, source=source))}\n")

    outcome = running.run(draw(seed), record)
    log.writelines(lines)  # not within the run: a full disk is no error of a machine
    return outcome


def _tell_failure(outcome: Outcome) -> None:
    """Say what broke, and print the smallest scenario that breaks, after it was played again from its own text."""
    seed = outcome.scenario.seed
    promised = outcome.rule.value if outcome.rule else "nothing"
    _say(f"seed {seed} broke after {outcome.broken_at} ms: {outcome.breach}\n# promised: {promised}")
    smallest = shrink(outcome)
    again = running.run(read(write(smallest.scenario)))
    is_exact = (again.breach, again.broken_at) == (smallest.breach, smallest.broken_at)
    _say(f"# seed {seed}, as few steps as break it; to see it again: evenkeel simulate --play FILE")
    sys.stdout.write(transcript.write(smallest, last=LAST_LINES))
    _say(f"# played again: {'exactly the same' if is_exact else 'something else; the simulator is to blame'}\n")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
