"""The programs of docs/clients.md, run as they stand against an embedded cluster."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_engine import network
from rebalance_engine.embedded.cluster import Cluster
from rebalance_engine.network import Message, Producer
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.loop import on_a_loop

PAGE = Path(__file__).parents[3] / "docs" / "clients.md"
PROGRAMS = re.findall(r"^## (.+?)\n.*?^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


async def run(program: str, east: Cluster) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program.replace("127.0.0.1:9876", east.namesrv), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode()


@pytest.mark.parametrize("program", [program for _, program in PROGRAMS], ids=[title for title, _ in PROGRAMS])
@on_a_loop
async def test_a_program_of_the_page_runs_to_its_end(program: str) -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        for number in range(20):
            await producer.send(Message(topic="orders", body=b"%d" % number, tags="new"))

        said = await run(program, east)

    assert ("print" in program) is bool(said)


def test_every_chapter_with_a_program_is_run() -> None:
    assert len(PROGRAMS) == PAGE.read_text().count("```python") == 6


@pytest.mark.slow
def test_programs_elsewhere_are_checked_against_our_types(tmp_path: Path) -> None:
    """A checker passes over packages without ``py.typed``, and takes anything then."""
    for number, (_, program) in enumerate(PROGRAMS):
        (tmp_path / f"right{number}.py").write_text(program)
    wrong = 'from rebalance_engine.network import Consumer\n\nConsumer("a:1", "G", "orders", orderly="yes")\n'
    (tmp_path / "wrong.py").write_text(wrong)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "."]

    ended = subprocess.run(mypy, cwd=tmp_path, capture_output=True, text=True, check=False)

    first, *rest = ended.stdout.splitlines()
    assert first.startswith('wrong.py:3: error: Argument "orderly" to "Consumer" has incompatible type "str"'), ended
    assert rest == ["Found 1 error in 1 file (checked 7 source files)"]


def test_every_name_that_programs_import_is_there_and_no_other() -> None:
    assert all(getattr(network, name).__name__ == name for name in network.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Consumers'"):
        network.Consumers  # noqa: B018


def test_a_consumer_loads_nothing_of_producers() -> None:
    program = (
        "import sys; from rebalance_engine.network import Consumer; print('rebalance_engine.producer' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ended.stdout == "False\n"
