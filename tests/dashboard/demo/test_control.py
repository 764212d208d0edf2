import asyncio
import os
from pathlib import Path

import pytest

from dashboard.demo.control import Facts, NoDemo, ask_order, ask_status, path_of
from dashboard.demo.orders import Order
from tests.rebalance_engine.network.loop import on_a_loop


def test_a_socket_has_a_short_name_however_deep_its_folder_is(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()

    with path_of(deep) as path:
        assert len(path) < 100
        assert Path(path).parent.resolve() == deep


@on_a_loop
async def test_no_demo_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NoDemo):
        await ask_order(tmp_path, Order(verb="demo.add_consumer", group="billing"))
    with pytest.raises(NoDemo):
        await ask_status(tmp_path / "missing")
    with pytest.raises(NoDemo):
        async for _ in Facts(tmp_path).follow():
            pass


@on_a_loop
async def test_a_demo_that_ends_before_it_answers_is_said_so(tmp_path: Path) -> None:
    async def hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    with path_of(tmp_path) as path:
        server = await asyncio.start_unix_server(hang_up, path)
    async with server:
        with pytest.raises(NoDemo):
            await ask_status(tmp_path)
    os.unlink(tmp_path / "control")  # noqa: PTH108
