"""The ``evenkeel`` command: one module for each command, loaded only when it is asked for.

A command's module has ``add_arguments(parser)`` and ``run(asked) -> int``, which gives the exit status: 0 where all
went well, 1 where something did not. Arguments that make no sense end with 2; ``run`` says so by :class:`BadArguments`.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rebalance_engine.cli import signals

if TYPE_CHECKING:
    import argparse

COMMANDS = {
    "map": "draw which consumer holds which queue of a group, held against the target",
    "groups": "list the consumer groups, and who is online",
    "brokers": "list the brokers, and how they run",
    "doctor": "check that a cluster can be reached and asked, with advice where it cannot",
    "recompute": "have the members of a group notified to compute anew now: it repairs, it does not redistribute",
    "embedded": "run a name server and brokers in one process, for development and demonstration",
    "consume": "be a member of a consumer group, and say what it holds and gets",
    "produce": "send messages, and say where each is stored",
    "report": "tell what the pipeline found in logs, as a summary and a page",
    "simulate": "run simulated clusters and hold them to every promise",
}


class BadArguments(Exception):
    """What was asked for makes no sense; the message says what was seen and what is needed."""


AT_ONCE = frozenset({"report"})  # computes and holds nothing: a signal breaks it off where it is


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and give its exit status; signals are heard from here on.

    Args:
        arguments: by default those of the process, which is this command then, and does nothing afterwards.
    """
    with signals.listening(for_good=arguments is None) as ear:
        try:
            return _run(sys.argv[1:] if arguments is None else list(arguments), ear)
        except signals.Interrupted as interrupted:
            sys.stderr.write(f"evenkeel: {interrupted}\n")
            return interrupted.status
        except BrokenPipeError:
            _forget_reader()
            return 1
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            _forget_reader()
            sys.stderr.write(f"evenkeel: nothing more can be written: {error.strerror}\n")
            return 1


def _run(words: list[str], ear: signals.Ear) -> int:
    import argparse  # noqa: PLC0415  # after signals are heard
    import importlib  # noqa: PLC0415  # likewise

    sentence = "A control room for Apache RocketMQ rebalancing."
    parser = argparse.ArgumentParser(prog="evenkeel", description=sentence, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    own = {name: commands.add_parser(name, help=sentence, allow_abbrev=False) for name, sentence in COMMANDS.items()}
    name = next((word for word in words if not word.startswith("-")), None)
    if name not in own:
        parser.parse_args(words)  # says what is wrong, or helps
        parser.error(f"there is no command; there are {', '.join(COMMANDS)}")
    module = importlib.import_module(f"rebalance_engine.cli.{name}")
    module.add_arguments(own[name])
    asked = parser.parse_args(words)
    if name in AT_ONCE:
        ear.break_off()
    return _status(module.run, asked, own[name])


def _status(run: Callable[[argparse.Namespace], int], asked: argparse.Namespace, own: argparse.ArgumentParser) -> int:
    try:
        return run(asked)
    except BadArguments as error:
        own.error(str(error))


def _forget_reader() -> None:
    """Let nothing more be written to standard output, whose reader has gone: not even what Python still holds."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # pathlib would be loaded for this alone
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
