"""Asynchronous tests, each on an event loop of its own."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

P = ParamSpec("P")
WATCHDOG_S = 180  # far above what any test needs on a busy machine: it turns a test that hangs into one that fails


def on_a_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an asynchronous test. It fails as well if it leaves a task behind, or if a callback of the loop raises."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(_watched(test(*args, **kwargs)))

    return run


async def _watched(test: Coroutine[Any, Any, None]) -> None:
    accidents: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: accidents.append(context))
    async with asyncio.timeout(WATCHDOG_S):
        await test
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"tasks are left behind: {left}"
    assert not accidents, f"callbacks raised: {accidents}"
