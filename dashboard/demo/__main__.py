"""``python -m dashboard.demo``: run the demo alone, until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

from dashboard.demo.door import serve
from dashboard.demo.stage import Stage

logger = logging.getLogger("dashboard.demo")


def main() -> None:
    """Read the arguments, and play."""
    parser = argparse.ArgumentParser(prog="python -m dashboard.demo", description=__doc__)
    parser.add_argument("--port", type=int, default=0, metavar="P", help="of the name server; 0, the default: any")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="keep everything there; a passing place by default")
    parser.add_argument("--seed", type=int, metavar="N", help="of what happens; any by default")
    parser.add_argument(
        "--waits", type=float, default=0.0, metavar="S", help="for a page, then S for more; 0: for nobody"
    )
    asked = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="%(message)s")
    logging.getLogger("dashboard.demo").setLevel(logging.INFO)
    logging.getLogger("rebalance_engine").setLevel(logging.ERROR)  # faults are played here on purpose
    if asked.dir is not None:
        asked.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        asyncio.run(play(_stage(asked.dir, asked), asked.dir))
        return
    with tempfile.TemporaryDirectory(prefix="evenkeel-demo-") as directory:
        asyncio.run(play(_stage(Path(directory), asked), Path(directory)))


def _stage(directory: Path, asked: argparse.Namespace) -> Stage:
    return Stage(directory, asked.port, Random(asked.seed), waits_s=asked.waits)  # noqa: S311 # it plays


async def play(stage: Stage, directory: Path) -> None:
    """Play until a signal comes; once clients can join one line says where."""
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, over.set)

    async def open_doors() -> None:
        await doors.enter_async_context(serve(stage, directory))
        logger.info("clients can join by the name server %s", stage.cluster.namesrv)

    ended = asyncio.create_task(over.wait(), name="signal")
    async with AsyncExitStack() as doors:
        playing = asyncio.create_task(stage.run(open_doors), name="stage")
        await asyncio.wait((playing, ended), return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        playing.cancel()
        await asyncio.wait((playing,))
    if not playing.cancelled():
        playing.result()


if __name__ == "__main__":
    main()
