"""From one state of a group to the next: ``apply(old, diff(old, new)) == new``. ``static/js/live/`` does the same."""

from __future__ import annotations

from dataclasses import replace

from dashboard.push.messages import VERSION, Cell, GroupDiff, GroupSnapshot, GroupState, Owners
from dashboard.push.runs import differ


class OutOfStep(ValueError):
    """A diff does not follow the state that it was to be applied to."""


def step(
    old: GroupState | None, new: GroupState, *, stream: str, seq: int, at: int
) -> GroupSnapshot | GroupDiff | None:
    """Give the message that leads from ``old`` to ``new``; None where they are the same."""
    if old == new:
        return None
    if old is None or old.queues != new.queues:
        return GroupSnapshot(VERSION, "group.snapshot", stream, seq, at, new)
    was = {cell.client: cell for cell in old.members}
    put: list[Cell] = []
    after: list[str | None] = []
    owners: list[Owners] = []
    previous: str | None = None
    for cell in new.members:
        before = was.get(cell.client)
        if before is None or _is_other(before, cell):
            put.append(cell)
            after.append(previous)
        elif before != cell:
            owners.append(
                Owners(cell.client, differ(before.target, cell.target), differ(before.held or (), cell.held or ()))
            )
        previous = cell.client
    here = {cell.client for cell in new.members}
    return GroupDiff(
        VERSION,
        "group.diff",
        stream,
        seq,
        at,
        head=new.head if new.head != old.head else None,
        gone=tuple(client for client in was if client not in here),
        put=tuple(put),
        after=tuple(after),
        owners=tuple(owners),
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
    gone = set(message.gone)
    members = [cell for cell in old.members if cell.client not in gone]
    for cell, previous in zip(message.put, message.after, strict=True):
        members = _put(members, cell, previous)
    place = {cell.client: number for number, cell in enumerate(members)}
    for owners in message.owners:
        number = place.get(owners.client)
        if number is None:
            raise OutOfStep(f"{owners.client!r} got other queues, but is no member")
        members[number] = _toggle(members[number], owners)
    return GroupState(
        head=message.head or old.head,
        queues=old.queues,
        members=tuple(members),
        strays=old.strays if message.strays is None else message.strays,
        faults=old.faults if message.faults is None else message.faults,
    )


def _is_other(before: Cell, cell: Cell) -> bool:
    """Ask whether more than the numbers of its queues changed, or whether they became known or unknown."""
    same_numbers = replace(before, target=cell.target, held=cell.held)
    return same_numbers != cell or (before.held is None) != (cell.held is None)


def _put(members: list[Cell], cell: Cell, previous: str | None) -> list[Cell]:
    """Put a member behind another one, or first; one of the same id is replaced."""
    others = [each for each in members if each.client != cell.client]
    if previous is None:
        return [cell, *others]
    for number, each in enumerate(others):
        if each.client == previous:
            return [*others[: number + 1], cell, *others[number + 1 :]]
    raise OutOfStep(f"{cell.client!r} comes after {previous!r}, which is no member")


def _toggle(cell: Cell, owners: Owners) -> Cell:
    if cell.held is None and owners.held:
        raise OutOfStep(f"what {cell.client!r} holds changed, but it was unknown")
    held = None if cell.held is None else differ(cell.held, owners.held)
    return replace(cell, target=differ(cell.target, owners.target), held=held)
