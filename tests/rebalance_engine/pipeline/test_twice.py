"""Bounds of what was consumed twice, handoff by handoff, against what the consumers of real runs themselves saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.rebalance_engine.pipeline.runs import consumed_twice, truth
from tests.rebalance_engine.pipeline.test_jobs import WITHIN_MS, Run, told

__all__ = ["told"]
pytestmark = [pytest.mark.spark, pytest.mark.slow]
Handoffs = Sequence[Mapping[str, Any]]


def both_got(name: str) -> Iterator[tuple[str, str, frozenset[str], int]]:
    """Give each time that two clients got one message: group, queue, both clients, and when the later one did."""
    ids = truth(name)["client_ids"]
    for one in consumed_twice(name):
        for (_, first), (at, second) in zip(one["got"], one["got"][1:], strict=False):
            if first != second:  # one that gets its own again has lost it in between: to nobody, or by a retry
                yield one["group"], one["queue"], frozenset({ids[first], ids[second]}), at


def by_handoff(handoffs: Handoffs, name: str) -> Counter[int]:
    """Count what came twice by the place of the handoff between both: the last that had begun."""
    counted: Counter[int] = Counter()
    for group, queue, both, at in both_got(name):
        begun = [place for place, row in enumerate(handoffs) if is_of(row, group, queue, both, at)]
        assert begun, f"{queue} of {group}: no handoff between {', '.join(both)} before {at}"
        counted[max(begun, key=lambda place: handoffs[place]["taken_ms"])] += 1
    return counted


def is_of(row: Mapping[str, Any], group: str, queue: str, both: Iterable[str], at: int) -> bool:
    of = (row["group"], f"{row['topic']}/{row['broker']}/{row['queue_id']}", {row["from_client"], row["to_client"]})
    return of == (group, queue, set(both)) and row["taken_ms"] <= at + WITHIN_MS


@pytest.mark.parametrize(
    ("name", "least"),
    [("scale_out-5.5.0", 5), ("scale_out-4.9.7", 0), ("orderly-5.5.0", 1), ("broker_away-5.5.0", 5)],
)
def test_no_handoff_had_more_twice_than_its_bound(told: dict[str, Run], name: str, least: int) -> None:
    """``least``: of so many handoffs with a bound something did come twice; else nothing would be compared."""
    handoffs = told[name].handoffs
    counted = by_handoff(handoffs, name)

    bounds = {place: row["duplicates_most"] for place, row in enumerate(handoffs)}
    bounded = {place: most for place, most in bounds.items() if isinstance(most, int)}

    assert {place: counted[place] for place, most in bounded.items() if counted[place] > most} == {}
    assert len(counted.keys() & bounded.keys()) >= least
    assert len(bounded) >= len(handoffs) // 3


@pytest.mark.parametrize(("name", "told_at_least"), [("scale_out-5.5.0", 8), ("broker_away-5.5.0", 5)])
def test_what_brokers_saw_go_back_did_come_twice(told: dict[str, Run], name: str, told_at_least: int) -> None:
    """Queue by queue: of a queue that changes hands twice within a second nobody knows which of both it was."""
    least: Counter[tuple[str, str]] = Counter()
    for row in told[name].handoffs:
        count = row["duplicates_least"]
        least[str(row["group"]), f"{row['topic']}/{row['broker']}/{row['queue_id']}"] += (
            count if isinstance(count, int) else 0
        )
    true = Counter((group, queue) for group, queue, _, _ in both_got(name))

    assert {queue: (count, true[queue]) for queue, count in least.items() if true[queue] < count} == {}
    assert least.total() >= told_at_least
