"""What stood before a round and after it: loads, and states for the browser's maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from django.db.models import OuterRef, Subquery

from dashboard.groups.before import held_before
from dashboard.groups.ending import low_of
from dashboard.groups.models import Handoff, Round, RoundCause
from dashboard.groups.owned import began_at
from dashboard.groups.past import shown_at
from dashboard.push.messages import GroupSnapshot, GroupState, decode
from dashboard.push.runs import count
from dashboard.push.shapes import to_json

LARGEST_STATE = 2_000_000  # bytes of a stored state that a round's page still shows as a map


@dataclass(frozen=True, slots=True)
class Load:
    """How many queues a member had, and has after a round; None: was or is not there, or it is unknown."""

    client: str
    before: int | None
    after: int | None


class Pictures(TypedDict):
    """States before and after a round, and why there is none; ``before_at`` in ms since 1970."""

    before: object
    after: object
    why: dict[str, str]
    before_at: int


def loads_of(row: Round) -> list[Load]:
    """Give what each member held before and after."""
    state, _ = _before(row)
    before: Mapping[str, int | None] = _held_in(state) if state is not None else held_before(row)
    after = _counts(bytes(row.after))
    return [Load(client, before.get(client), after.get(client)) for client in sorted(before.keys() | after.keys())]


def state_json(stored: bytes) -> object:
    """Give a stored state as plain values for the browser; None where there is none, or it is very large."""
    state = _state(stored) if len(stored) <= LARGEST_STATE else None
    return None if state is None else to_json(state)


def pictures_of(row: Round) -> Pictures:
    """Give the states before and after a round for the browser, and of each that there is none of, ``why``.

    ``large``: there is one, too large for a map; ``first``: nothing was shown of the group before its first round;
    ``unknown``: it was not kept. ``before_at`` is the instant of the first: when the first cause was seen, or, where
    that was earlier, when the first queue was let go or taken, or may have been by one who did not answer any more.
    Of a round that was over when it was seen, and where nothing of before it is kept, it is when it may have begun at
    the earliest; where that is unknown, since when what is shown was so.
    """
    stored = {"before": bytes(row.before), "after": bytes(row.after)}
    states = {name: state_json(each) for name, each in stored.items()}
    first = row.opened_at
    if states["before"] is not None:
        shown, first = _before(row)
        states["before"] = None if shown is None else to_json(shown)
        if row.closed_at is not None and first >= row.closed_at:
            first = min(first, max(_snapshot(stored["before"]).at, _may_have_begun(row)))
    why = {name: _why_none(name, each, row) for name, each in stored.items() if states[name] is None}
    return {"before": states["before"], "after": states["after"], "why": why, "before_at": first}


def _before(row: Round) -> tuple[GroupState | None, int]:
    """Give what was shown before anything of a round was seen or changed hands, and when that began.

    None: nothing is kept of it. Where one that was lost in it did not answer then, it is what was shown when he told
    last, if that was in the time of the round: what he had is known until he may have been lost.
    """
    if not row.before:
        return None, row.opened_at
    state, at = _shown_until(row, _first_of(row))
    told = _told_last(row, state)
    if told is None or told >= at:
        return state, at
    shown = shown_at(group=row.group, at=told)
    return (state, at) if shown is None else (shown.state, told + 1)


def _shown_until(row: Round, first: int) -> tuple[GroupState, int]:
    """Give what was shown until an instant. What was shown when the round opened may be later; it has its own time."""
    stored = _snapshot(bytes(row.before))
    if stored.at < first:
        return stored.state, first
    shown = shown_at(group=row.group, at=first - 1)
    return (stored.state, stored.at) if shown is None else (shown.state, first)


def _told_last(row: Round, state: GroupState) -> int | None:
    """Say when the first of those told last of whom a state does not know what they had, and who had some of it."""
    silent = [cell.client for cell in state.members if cell.held is None]
    if not silent:
        return None
    lost = Handoff.objects.filter(round=row, from_client__in=silent, dropped_low__gte=began_at(row))
    return lost.order_by("dropped_low").values_list("dropped_low", flat=True).first()


def _first_of(row: Round) -> int:
    """Say when a round was seen to begin, or, where that was earlier, its first cause, or a queue let go or taken.

    Not what was taken before it may have begun, by whom another one left alone with it in the round.
    """
    began = began_at(row)
    moments = ((RoundCause, "at", 0), (Handoff, "dropped_at", began), (Handoff, "taken_at", began))
    rows = Round.objects.filter(pk=row.pk).values_list(*(_least(*moment) for moment in moments))
    seen: tuple[int | None, ...] = rows.first() or ()
    return min([row.opened_at, *(at for at in seen if at is not None)])


def _may_have_begun(row: Round) -> int:
    """Say when a round that was over when it was seen may have begun at the earliest; 0 is unknown."""
    if row.opened_low is None or row.closed_at is None:
        return 0
    earlier = Round.objects.filter(group=row.group_id, number__lt=row.number).order_by("-number").first()
    return min(low_of(row, earlier), row.closed_at - 1)


def _least(model: type[RoundCause | Handoff], name: str, since: int) -> Subquery:
    rows = model._default_manager.filter(round=OuterRef("pk"), **{f"{name}__gte": since})
    return Subquery(rows.order_by(name).values(name)[:1])


def _why_none(name: str, stored: bytes, row: Round) -> str:
    if len(stored) > LARGEST_STATE:
        return "large"
    return "first" if name == "before" and not stored and row.number == 1 else "unknown"


def _counts(stored: bytes) -> dict[str, int | None]:
    state = _state(stored)
    return {} if state is None else _held_in(state)


def _held_in(state: GroupState) -> dict[str, int | None]:
    return {cell.client: None if cell.held is None else count(cell.held) for cell in state.members}


def _state(stored: bytes) -> GroupState | None:
    return _snapshot(stored).state if stored else None


def _snapshot(stored: bytes) -> GroupSnapshot:
    message = decode(stored)
    assert isinstance(message, GroupSnapshot)
    return message
