"""Simulated clusters, each from one seed.

    evenkeel simulate --seeds 300 --first 1      run so many simulated clusters and hold them to every promise
    evenkeel simulate --play scenario.txt        play one scenario, and write it with what happened

It ends with 0 where everything held, with 1 where something broke, with 2 where the arguments make no sense, and with 3
where a process of ``--jobs`` was lost.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from rebalance_engine import eventlog
from rebalance_engine.cli import BadArguments, signals
from rebalance_engine.cli.workers import WorkerLost, in_order
from rebalance_engine.events import Fact
from rebalance_engine.simulation import running, transcript
from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.figures import Figures
from rebalance_engine.simulation.running import Outcome
from rebalance_engine.simulation.scenario import LAST_SEED, Scenario, ScenarioError, read, write
from rebalance_engine.simulation.shrinking import shrink
from rebalance_engine.simulation.whole_numbers import MOST_DIGITS, whole_number

MOST_SEEDS = 10_000_000
MOST_JOBS = 256
DEFAULTS = {"seeds": 1, "first": 0, "jobs": 1, "log": None}
LOST = 3
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

    Signals are looked for with each fact: what a handler raises while a generator is being closed would be lost.

    Raises:
        BadArguments: they make no sense together, or a file cannot be read or says no scenario.
        Interrupted: a signal came.
    """
    given = [f"--{name}" for name, default in DEFAULTS.items() if getattr(asked, name) != default]
    if asked.play and given:
        raise BadArguments(f"--play is given together with {', '.join(given)}; it plays one scenario, alone")
    if asked.log and asked.jobs > 1:
        raise BadArguments(f"--log is given together with --jobs {asked.jobs}; one process alone can write the log")
    if asked.first + asked.seeds - 1 > LAST_SEED:
        raise BadArguments(f"the last seed is {asked.first + asked.seeds - 1}; it needs to be {LAST_SEED} at most")
    with signals.listening() as ear:
        ear.check()
        return _play(asked.play, ear) if asked.play else _simulate(asked, ear)


def _count(word: str) -> int:
    return _number(word, least=1)


def _seed(word: str) -> int:
    return _number(word, least=0, most=LAST_SEED)


def _jobs(word: str) -> int:
    return _number(word, least=1, most=MOST_JOBS)


def _number(word: str, least: int, most: int = MOST_SEEDS) -> int:
    number = whole_number(word, least, most)
    if number is None:
        needed = f"a whole number from {least} to {most}, of {MOST_DIGITS} digits at most"
        raise argparse.ArgumentTypeError(f"{word!r} is given; needed is {needed}")
    return number


# ---- simulate ----


def _play(path: Path, ear: signals.Ear) -> int:
    try:
        played, holds = transcript.play_and_judge(path.read_text(), lambda _: ear.check())
    except (ScenarioError, OSError, UnicodeDecodeError) as error:
        raise BadArguments(str(error)) from error
    ear.break_off()  # a write may wait long for its reader
    sys.stdout.write(played)
    sys.stdout.flush()
    return 0 if holds else 1


def _simulate(asked: argparse.Namespace, ear: signals.Ear) -> int:
    total, failed = Figures(), 0
    try:
        with _opened(asked.log) if asked.log else nullcontext() as log, closing(_outcomes(asked, log, ear)) as outcomes:
            for outcome in outcomes:
                total.add(outcome.figures)
                if outcome.breach is not None:
                    failed += 1
                    _tell_failure(outcome, ear)
    except WorkerLost as lost:
        _tell_loss(lost, total)
        return 1 if failed else LOST
    ear.break_off()
    _say(str(total) if not failed else f"{total}; {failed} failed")
    return 1 if failed else 0


def _tell_loss(lost: WorkerLost, total: Figures) -> None:
    sys.stderr.write(
        f"evenkeel: a process of --jobs {lost} while it ran seed {lost.number}; if memory ran out, fewer --jobs need "
        f"less. Nothing is told from seed {lost.untold} on: --first {lost.untold} goes on there. Until then: {total}\n"
    )


def _opened(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="ascii")
    except OSError as error:
        raise BadArguments(str(error)) from error


def _outcomes(asked: argparse.Namespace, log: TextIO | None, ear: signals.Ear) -> Generator[Outcome]:
    seeds = range(asked.first, asked.first + asked.seeds)
    if asked.jobs == 1 or log is not None:
        yield from (_run_seed(seed, log, ear.check) for seed in seeds)
    else:
        yield from in_order(_run_seed, seeds, processes(asked.jobs, len(seeds)), ear.check)


def processes(jobs: int, seeds: int) -> int:
    """Give how many processes have something to do."""
    return min(jobs, seeds)


def _go_on() -> None:
    """Hear no signals: those of a worker end it at once."""


def _run_seed(seed: int, log: TextIO | None = None, check: Callable[[], None] = _go_on) -> Outcome:
    if log is None:
        return running.run(draw(seed), lambda _: check())

    lines: list[str] = []

    def record(fact: Fact) -> None:  # each seed is a cluster of its own: where one ends and the next begins can be seen
        check()
        source = replace(fact.source, cluster=f"seed {seed}")
        lines.append(f"{eventlog.write(replace(fact, source=source))}\n")

    outcome = running.run(draw(seed), record)
    log.writelines(lines)  # not within the run: a full disk is no error of a machine
    return outcome


def _tell_failure(outcome: Outcome, ear: signals.Ear) -> None:
    """Say what broke, and print the smallest scenario that breaks, after it was played again from its own text."""

    def run(scenario: Scenario) -> Outcome:
        return running.run(scenario, lambda _: ear.check())

    seed = outcome.scenario.seed
    promised = outcome.rule.value if outcome.rule else "nothing"
    _say(f"seed {seed} broke after {outcome.broken_at} ms: {outcome.breach}\n# promised: {promised}")
    smallest = shrink(outcome, run)
    again = run(read(write(smallest.scenario)))
    is_exact = (again.breach, again.broken_at) == (smallest.breach, smallest.broken_at)
    _say(f"# seed {seed}, as few steps as break it; to see it again: evenkeel simulate --play FILE")
    sys.stdout.write(transcript.write(smallest, last=LAST_LINES))
    _say(f"# played again: {'exactly the same' if is_exact else 'something else; the simulator is to blame'}\n")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
