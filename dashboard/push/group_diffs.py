"""From one state of a group to the next: ``apply(old, diff(old, new)) == new``. ``static/js/live/`` does the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dashboard.push.messages import DIFF_VERSION, VERSION, Cell, GroupDiff, GroupSnapshot, GroupState
from dashboard.push.runs import Runs, pack, unpack
from dashboard.push.shifts import Misfit, change, changed, line_up


class OutOfStep(ValueError):
    """A diff does not follow the state that it was to be applied to."""


def step(
    old: GroupState | None, new: GroupState, *, stream: str, seq: int, at: int
) -> GroupSnapshot | GroupDiff | None:
    """Give the message that leads from ``old`` to ``new``; None where they are the same."""
    if old == new:
        return None
    if old is None or old.queues != new.queues or not _keeps_order(old.members, new.members):
        return GroupSnapshot(VERSION, "group.snapshot", stream, seq, at, new)
    was = {cell.client: cell for cell in old.members}
    puts = [n for n, cell in enumerate(new.members) if cell.client not in was or _is_other(was[cell.client], cell)]
    put = {new.members[n].client for n in puts}
    clients = [cell.client for cell in new.members]
    line, stays = line_up(list(was), clients), set(clients) - put
    base = _based(old.members, [replace(cell, target=(), held=_none_of(cell)) for cell in new.members])
    return GroupDiff(
        DIFF_VERSION,
        "group.diff",
        stream,
        seq,
        at,
        head=new.head if new.head != old.head else None,
        gone=pack([n for n, cell in enumerate(old.members) if cell.client not in stays]),
        put=tuple(replace(new.members[n], target=(), held=_none_of(new.members[n])) for n in puts),
        places=tuple(puts),
        target=change(_targets(old.members) | _targets(base), _targets(new.members), line=line, members=clients),
        held=change(_holdings(old.members) | _holdings(base), _holdings(new.members), line=line, members=clients),
        strays=new.strays if new.strays != old.strays else None,
        faults=new.faults if new.faults != old.faults else None,
    )


def apply(old: GroupState | None, message: GroupSnapshot | GroupDiff) -> GroupState:
    """Give the state after a message.

    Raises:
        OutOfStep: the message begins elsewhere.
    """
    if isinstance(message, GroupSnapshot):
        return message.state
    if old is None:
        raise OutOfStep("a diff without a snapshot before it")
    members = _based(old.members, _members(old.members, message))
    clients = [cell.client for cell in members]
    line = line_up([cell.client for cell in old.members], clients)
    targets, holdings = _targets(old.members) | _targets(members), _holdings(old.members) | _holdings(members)
    try:
        target = changed(targets, message.target, line=line, members=clients) if message.target else {}
        held = changed(holdings, message.held, line=line, members=clients) if message.held else {}
    except Misfit as error:
        raise OutOfStep(str(error)) from None
    for cell in members:
        if cell.held is None and held.get(cell.client):
            raise OutOfStep(f"what {cell.client!r} holds changed, but it is unknown")
    return GroupState(
        head=message.head or old.head,
        queues=old.queues,
        members=tuple(
            replace(
                cell,
                target=target.get(cell.client, cell.target),
                held=None if cell.held is None else held.get(cell.client, cell.held),
            )
            for cell in members
        ),
        strays=old.strays if message.strays is None else message.strays,
        faults=old.faults if message.faults is None else message.faults,
    )


def _members(old: Sequence[Cell], message: GroupDiff) -> list[Cell]:
    gone = set(unpack(message.gone).tolist())
    members = [cell for number, cell in enumerate(old) if number not in gone]
    for cell, place in zip(message.put, message.places, strict=True):
        if not 0 <= place <= len(members):
            raise OutOfStep(f"{cell.client!r} comes to place {place} of {len(members)}")
        members.insert(place, cell)
    if gone and max(gone) >= len(old):
        raise OutOfStep(f"member number {max(gone)} goes, but there are {len(old)}")
    return members


def _based(old: Sequence[Cell], members: Sequence[Cell]) -> list[Cell]:
    """Give members the queues that they had before: none to who was none, or whose queues are or were unknown."""
    was = {cell.client: cell for cell in old}
    return [_with_queues(cell, was.get(cell.client)) for cell in members]


def _with_queues(cell: Cell, before: Cell | None) -> Cell:
    if before is None:
        return cell
    held: Runs | None = None if cell.held is None else before.held or ()
    return replace(cell, target=before.target, held=held)


def _targets(members: Sequence[Cell]) -> dict[str, Runs]:
    return {cell.client: cell.target for cell in members}


def _holdings(members: Sequence[Cell]) -> dict[str, Runs]:
    return {cell.client: cell.held or () for cell in members}


def _keeps_order(old: Sequence[Cell], new: Sequence[Cell]) -> bool:
    """Whether those who stay stand as they stood, and nobody stands twice: else numbers say too little."""
    number = {cell.client: n for n, cell in enumerate(old)}
    kept = [number[cell.client] for cell in new if cell.client in number]
    is_once = len(number) == len(old) and len({cell.client for cell in new}) == len(new)
    return is_once and kept == sorted(kept)


def _none_of(cell: Cell) -> Runs | None:
    return None if cell.held is None else ()


def _is_other(before: Cell, cell: Cell) -> bool:
    """Ask whether more than the numbers of its queues changed, or whether they became known or unknown."""
    same_numbers = replace(before, target=cell.target, held=cell.held)
    return same_numbers != cell or (before.held is None) != (cell.held is None)
