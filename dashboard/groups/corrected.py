"""What became known later of a past instant: what was shown then tells of some queues what reports deny since.

The page of a past instant shows the state that was shown then. Reports may come after it, and tell exactly who had a
queue by then; what is told of owners over time knows that. Between looks, where nobody knows, nothing is denied.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import F, Q

from dashboard.groups.models import Group, Holding
from dashboard.groups.owned import BOUNDS, may_have_begun
from dashboard.groups.queries import queues_of
from dashboard.push.messages import GroupState
from dashboard.push.runs import unpack
from rebalance_engine.findings import spell
from rebalance_engine.model import MessageQueue

MOST_NAMED = 5
MOST_SPANS = 200_000
PLACE = ("queue__topic__name", "queue__broker", "queue__queue_id")
Pair = tuple[str, int]  # a client id, and the number of a queue in the state


@dataclass(frozen=True, slots=True)
class Corrected:
    """Of which ``queues`` other owners are known now, and of which ``clients`` other loads; both in order."""

    queues: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """Name the first of the queues."""
        more = "…" if len(self.queues) > MOST_NAMED else ""
        return ", ".join(self.queues[:MOST_NAMED]) + more


def corrected_at(*, group: Group, state: GroupState, at: int) -> Corrected:
    """Say of which queues the state of an instant tells otherwise than all that is known of that instant now."""
    shown = {cell.client: set(unpack(cell.held).tolist()) for cell in state.members if cell.held is not None}
    silent = {cell.client for cell in state.members if cell.held is None}
    had = _had(group, state, at)
    if had is None:
        return Corrected()
    possible, certain = had
    wrong = {(client, number) for client, own in shown.items() for number in own} - possible
    wrong |= {pair for pair in certain if pair[0] not in silent and pair[1] not in shown.get(pair[0], ())}
    queues = queues_of(state)
    names = [spell(queues[number]) for number in sorted({number for _, number in wrong})]
    return Corrected(tuple(names), tuple(sorted({client for client, _ in wrong})))


def _had(group: Group, state: GroupState, at: int) -> tuple[set[Pair], set[Pair]] | None:
    """Give who may have had which queue at an instant, and who had it for certain; None: too much is known of it."""
    may_have_had = Q(until=None) | Q(until__gte=at) | Q(until_high__gte=at) | Q(until_high=None)
    of_then = Holding.objects.filter(may_have_begun(at), may_have_had, group=group)
    rows = of_then.annotate(told=F("member__held_seen_at"))
    spans = list(rows.values_list("member__client_id", *PLACE, *BOUNDS, "told")[:MOST_SPANS])
    if len(spans) == MOST_SPANS:
        return None
    numbers = queues_of(state).numbers_of([MessageQueue(*span[1:4]) for span in spans]).tolist()
    pairs = [(span[0], number) for span, number in zip(spans, numbers, strict=True)]
    known = {pair for pair, span in zip(pairs, spans, strict=True) if pair[1] >= 0 and _had_surely(at, *span[4:])}
    return {pair for pair in pairs if pair[1] >= 0}, known


def _had_surely(
    at: int,
    began: int,
    _low: int | None,
    high: int | None,
    until: int | None,
    until_low: int | None,
    _until_high: int | None,
    told: int | None,
) -> bool:
    since = max(began, high or began)
    if until is None:
        return since < at < (told or began)
    return since < at < (until if until_low is None else min(until_low, until))
