import asyncio
import re
import signal
import sys
from pathlib import Path

import pytest

from dashboard.demo.control import ask_status
from tests.rebalance_engine.network.loop import on_a_loop


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@on_a_loop
async def test_the_demo_says_where_it_is_and_ends_in_order(tmp_path: Path, number: signal.Signals) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "dashboard.demo", "--dir", str(tmp_path), "--seed", "1", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    ready = await process.stdout.readline()

    assert re.fullmatch(rb"clients can join by the name server 127\.0\.0\.1:\d+\n", ready)
    assert await ask_status(tmp_path)

    process.send_signal(number)
    assert await process.wait() == 0
    assert not (tmp_path / "control").exists()
