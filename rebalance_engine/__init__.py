"""Evenkeel's engine: who consumes which queue of a RocketMQ group, and what a change of that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebalance_engine.model import MessageQueue

__all__ = ["MessageQueue"]


def __getattr__(name: str) -> object:
    """Load the model when it is asked for: the command must hear signals before anything heavy loads."""
    if name in __all__:
        from rebalance_engine import model  # noqa: PLC0415

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
