"""What people ordered of a group, as a cause: once it was carried out, and for what is held that changes after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.common.names import known_as
from dashboard.groups.recording.book import GroupBook
from rebalance_engine.events import Cause, CommandFinished, CommandOrdered, CommandOutcome, Fact

RECOMPUTE = "group.recompute"


@dataclass
class OrderBook:
    """The orders of a batch of facts, by their ids: whoever states one that was carried out states both of its ends."""

    book: GroupBook
    ordered: dict[str, CommandOrdered]

    @classmethod
    def open(cls, book: GroupBook, facts: Sequence[Fact]) -> OrderBook:
        """Find the orders."""
        return cls(book, {fact.command: fact for fact in facts if isinstance(fact, CommandOrdered)})

    def finished(self, fact: CommandFinished) -> None:
        """Keep an order that let members compute anew as a cause; what changes nothing is none, and waits in vain."""
        order = self.ordered.get(fact.command)
        if order is None or order.group is None or fact.outcome is not CommandOutcome.DONE or order.verb != RECOMPUTE:
            return
        group = self.book.groups.get(known_as(order.group))
        if group is not None:
            self.book.because(group, Cause.MANUAL, _evidence(order), order)


def _evidence(order: CommandOrdered) -> str:
    said = f"{order.author} had members notified to compute anew, by order {order.command}"
    return f"{said}: {order.reason}" if order.reason else said
