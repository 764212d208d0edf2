"""The queues of a group: who holds each, who should, and its lag. Only the page that is asked for is put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from django.http import HttpRequest, HttpResponse
from ninja import Query

from dashboard.api.group_shapes import QueueOut
from dashboard.api.lists import Form, shown
from dashboard.api.past import Then, instant_asked, shown_then
from dashboard.api.shapes import Page
from dashboard.api.site import reads
from dashboard.api.unknown import NO_LAG, NO_PAST_LAG, why_disputed, why_no_owner
from dashboard.common.clock import now_ms
from dashboard.groups.lag import QueueLag, lags_of
from dashboard.groups.models import Group
from dashboard.groups.past_lag import lags_by_queue
from dashboard.groups.views import find_group
from dashboard.push.messages import GroupState
from dashboard.push.publish import state_in, stored_state
from dashboard.push.runs import Numbers, count, unpack

PERHAPS = "these members said to hold it one after the other: who said so first may have let go"
NO_COMMIT = "nothing is known to be committed there"
Place = tuple[str, str, int]  # topic, broker, queue id
Lags = Mapping[Place, tuple[int, int]]  # how many messages behind, and when that was told


class QueuesAsked(Then):
    """Which queues of a group, now or at a past instant."""

    topic: str = ""
    broker: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The queues of one page, by their numbers in the state; ``count`` is of all pages."""

    queues: tuple[tuple[int, Place], ...]
    count: int

    @property
    def numbers(self) -> Numbers:
        """Their numbers, ascending."""
        return np.array([number for number, _place in self.queues], dtype=np.int64)

    @property
    def places(self) -> frozenset[Place]:
        """Where they are."""
        return frozenset(place for _number, place in self.queues)


@reads("/groups/{int:pk}/queues", name="api queues", answer=Page[QueueOut], is_table=True)
def queues(request: HttpRequest, pk: int, asked: Query[QueuesAsked]) -> Page[QueueOut] | HttpResponse:
    """List the queues: who holds each, who should, and how far the group is behind there.

    With ``at`` it lists who was shown to hold each then, who should have, and how far it was behind where that is kept.
    """
    found, now = find_group(request, pk), now_ms()
    state = shown_then(found, asked.at, now).state if asked.at else state_in(stored_state(group=pk))
    chosen = choose(state, asked) if state is not None else Chosen((), 0)
    then = lags_by_queue(group=found, at=instant_asked(asked.at, now)) if asked.at else None
    rows = _rows(found, state, chosen, then) if state is not None else ()
    return shown(rows, chosen.count, asked, now, Form(QueueOut, f"queues-{found.name}"))


def choose(state: GroupState, asked: QueuesAsked) -> Chosen:
    """Cut the page that is asked for out of a state's queues, without unpacking those of other pages."""
    start, stop = asked.span.start, asked.span.stop
    found: list[tuple[int, Place]] = []
    number = so_far = 0
    for part in state.queues:
        size = count(part.ids)
        if asked.topic in {"", part.topic} and asked.broker in {"", part.broker}:
            first, last = max(0, start - so_far), min(size, stop - so_far)
            if first < last:
                ids = unpack(part.ids)[first:last].tolist()
                found += [(number + first + place, (part.topic, part.broker, each)) for place, each in enumerate(ids)]
            so_far += size
        number += size
    return Chosen(tuple(found), so_far)


def _rows(group: Group, state: GroupState, chosen: Chosen, then: Lags | None) -> Iterator[QueueOut]:
    held, target = (_owners(state, chosen.numbers, is_target=wanted) for wanted in (False, True))
    lags: Mapping[Place, QueueLag] = {} if then is not None else lags_of(group=group, queues=chosen.places)
    perhaps = frozenset(unpack(state.head.perhaps_twice).tolist())
    disputed = frozenset(unpack(state.head.disputed).tolist())
    why = why_no_owner(state)
    is_known = not why
    for number, place in chosen.queues:
        owners, wanted, lag = held.get(number, []), target.get(number, []), lags.get(place)
        reasons = _reasons(lag, NO_LAG if then is None else NO_PAST_LAG)
        behind, told_at = (lag.lag, lag.observed_at) if lag is not None else (then or {}).get(place, (None, None))
        if lag is None and behind is not None:
            del reasons["lag"], reasons["lag_at"]
        is_disputed = number in disputed
        if not owners and (is_disputed or not is_known):
            reasons["held_by"] = why_disputed(place[0]) if is_disputed else why
        if why or number in perhaps:
            reasons["are_all_owners_known"] = PERHAPS if number in perhaps else why
        if not state.head.is_target_known:
            reasons["target"] = "what members should have cannot be computed"
        topic, broker, queue_id = place
        yield QueueOut(
            topic=topic,
            broker=broker,
            queue_id=queue_id,
            held_by=owners if owners or (is_known and not is_disputed) else None,
            are_all_owners_known=is_known and number not in perhaps,
            is_disputed=is_disputed,
            target=wanted if state.head.is_target_known else None,
            end=lag.end if lag is not None else None,
            committed=lag.committed if lag is not None else None,
            lag=behind,
            consumed_up_to=lag.consumed_up_to if lag is not None else None,
            lag_at=told_at,
            unknown=reasons,
        )


def _owners(state: GroupState, numbers: Numbers, *, is_target: bool) -> dict[int, list[str]]:
    owners: dict[int, list[str]] = {}
    for cell in state.members:
        own = unpack(cell.target if is_target else cell.held or ())
        for number in np.intersect1d(own, numbers, assume_unique=True).tolist():
            owners.setdefault(number, []).append(cell.client)
    return owners


def _reasons(lag: QueueLag | None, why: str) -> dict[str, str]:
    if lag is None:
        return dict.fromkeys(("end", "committed", "lag", "consumed_up_to", "lag_at"), why)
    reasons = {"committed": NO_COMMIT} if lag.committed is None else {}
    if lag.lag is None:
        reasons["lag"] = NO_COMMIT
    if lag.consumed_up_to is None:
        reasons["consumed_up_to"] = "no message is known to have been consumed there"
    return reasons
