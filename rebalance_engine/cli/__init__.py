"""The ``evenkeel`` command: one module for each command, loaded only when it is asked for.

A command's module has ``add_arguments(parser)`` and ``run(asked) -> int``, which gives the exit status: 0 where all
went well, 1 where something did not. Arguments that make no sense end with 2; ``run`` says so by :class:`BadArguments`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

COMMANDS = {
    "map": "draw which consumer holds which queue of a group, held against the target",
    "groups": "list the consumer groups, and who is online",
    "brokers": "list the brokers, and how they run",
    "doctor": "check that a cluster can be reached and asked, with advice where it cannot",
    "recompute": "let every member of a group compute anew now: it repairs, it does not redistribute",
    "embedded": "run a name server and brokers in one process, for development and demonstration",
    "consume": "be a member of a consumer group, and say what it holds and gets",
    "produce": "send messages, and say where each is stored",
    "report": "tell what the pipeline found in logs, as a summary and a page",
    "simulate": "run simulated clusters and hold them to every promise",
}


class BadArguments(Exception):
    """What was asked for makes no sense; the message says what was seen and what is needed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser = argparse.ArgumentParser(prog="evenkeel", description="A control room for Apache RocketMQ rebalancing.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    own = {name: commands.add_parser(name, help=sentence) for name, sentence in COMMANDS.items()}
    name = next((word for word in words if not word.startswith("-")), None)
    if name not in own:
        parser.parse_args(words)  # says what is wrong, or helps
        parser.error(f"there is no command; there are {', '.join(COMMANDS)}")
    module = importlib.import_module(f"rebalance_engine.cli.{name}")
    module.add_arguments(own[name])
    try:
        status: int = module.run(parser.parse_args(words))
    except BadArguments as error:
        own[name].error(str(error))
    except BrokenPipeError:
        return 1
    return status
