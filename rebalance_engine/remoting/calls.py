"""Which answer belongs to which request, on one connection.

Each side numbers its own requests, so one number can be under way in both directions at once; a response is looked up
among ours only. Answers come in any order, late, or never.

Source: ``remoting/.../netty/NettyRemotingAbstract.java`` (``responseTable``).
"""

from __future__ import annotations

from typing import Generic, TypeVar

from rebalance_engine.remoting.command import MAX_OPAQUE

Call = TypeVar("Call")


class Calls(Generic[Call]):
    """The requests of one connection that wait for an answer; ``Call`` is whatever the caller keeps about one."""

    def __init__(self, first: int = 0) -> None:
        self._next = first
        self._waiting: dict[int, Call] = {}

    def begin(self, call: Call) -> int:
        """Give a request its number; one that still waits is never given twice."""
        opaque = self.number_oneway()
        self._waiting[opaque] = call
        return opaque

    def number_oneway(self) -> int:
        """Give a number to a request that no answer will come to."""
        while self._next in self._waiting:
            self._advance()
        opaque = self._next
        self._advance()
        return opaque

    def finish(self, opaque: int) -> Call | None:
        """Take out the call that a response answers, or that is given up; None if none waits under this number."""
        return self._waiting.pop(opaque, None)

    def finish_all(self) -> tuple[Call, ...]:
        """Take out all calls: the connection is gone."""
        calls = tuple(self._waiting.values())
        self._waiting.clear()
        return calls

    def __len__(self) -> int:
        return len(self._waiting)

    def _advance(self) -> None:
        self._next = (self._next + 1) & MAX_OPAQUE
