"""How queues change owners, in few numbers: member by member, or as runs of queues whose owners shift alike.

When one member joins a group nearly all members may get other queues, but neighbouring queues go equally far: to the
next member, say. So everybody is put in one line (:func:`line_up`), and a run says: so many queues stay as they are, so
many go to the one who stands so many places further on. Places count from 1; place 0 is nobody. That needs queues of
one owner at most; where a queue has two, members are written one by one. ``static/js/live/shifts.js`` reads the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate

import numpy as np

from dashboard.push.messages import Owners
from dashboard.push.runs import Numbers, Runs, differ, pack

FEW = 12  # numbers: nothing is much shorter


class Misfit(ValueError):
    """Owners do not change from these ones."""


def line_up(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """Put everybody in one line: the members now, and whoever has left behind whom it stood behind."""
    here, line = set(new), []
    left: dict[str | None, list[str]] = {}
    previous: str | None = None
    for client in old:
        if client in here:
            previous = client
        else:
            left.setdefault(previous, []).append(client)
    for each in (None, *new):
        line += [*([] if each is None else [each]), *left.get(each, ())]
    return tuple(line)


def change(
    before: Mapping[str, Runs], after: Mapping[str, Runs], *, line: Sequence[str], members: Sequence[str]
) -> Owners | None:
    """Write how owners change, in the shorter way; None where they do not.

    Args:
        before: the queues of everybody in the line; of whom it has none, none.
        after: the queues of the members after it.
        line: everybody.
        members: who is a member after it, in the order of their numbers.
    """
    numbers = [n for n, client in enumerate(members) if before.get(client, ()) != after[client]]
    if not numbers:
        return None
    queues = tuple(differ(before.get(members[n], ()), after[members[n]]) for n in numbers)
    length = len(numbers) + sum(map(len, queues))
    shifted = _shifted(before, after, line) if length > FEW else None
    if shifted is not None and 3 * len(shifted.gaps) < length:
        return shifted
    return Owners(tuple(numbers), queues, (), (), ())


def changed(
    before: Mapping[str, Runs], owners: Owners, *, line: Sequence[str], members: Sequence[str]
) -> dict[str, Runs]:
    """Give the queues after it of all whose queues change.

    Raises:
        Misfit: they do not change from these ones.
    """
    if any(not 0 <= n < len(members) for n in owners.members) or len(owners.members) != len(owners.queues):
        raise Misfit(f"members {owners.members[:10]} get other queues, but there are {len(members)}")
    clients = [members[n] for n in owners.members]
    found = {client: differ(before.get(client, ()), runs) for client, runs in zip(clients, owners.queues, strict=True)}
    return found | (_shift(before, owners, line) if owners.gaps else {})


def _shifted(before: Mapping[str, Runs], after: Mapping[str, Runs], line: Sequence[str]) -> Owners | None:
    """Write it as runs; None where a queue has two owners."""
    old, new = _places(before, line), _places(after, line)
    if old is None or new is None:
        return None
    size = max(len(old), len(new))
    shift = _padded(new, size) - _padded(old, size)
    (queue,) = np.nonzero(shift)
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(queue) != 1) | (np.diff(shift[queue]) != 0)]))
    firsts, lengths = queue[starts], np.diff(starts, append=len(queue))
    gaps = firsts - np.concatenate([[0], (firsts + lengths)[:-1]])
    return Owners((), (), tuple(gaps.tolist()), tuple(lengths.tolist()), tuple(shift[firsts].tolist()))


def _shift(before: Mapping[str, Runs], owners: Owners, line: Sequence[str]) -> dict[str, Runs]:
    places = _places(before, line)
    if places is None:
        raise Misfit("owners shift, but a queue has two")
    if not len(owners.gaps) == len(owners.lengths) == len(owners.shifts) or min(*owners.gaps, *owners.lengths) < 0:
        raise Misfit("a run is a gap and a length from 0 up, and a shift")
    size = max(len(places), sum(owners.gaps) + sum(owners.lengths))
    old = _padded(places, size)
    new, touched, at = old.copy(), set(), 0
    for gap, length, shift in zip(owners.gaps, owners.lengths, owners.shifts, strict=True):
        run = slice(at + gap, at + gap + length)
        new[run] += shift
        touched |= {*np.unique(old[run]).tolist(), *np.unique(new[run]).tolist()}
        at = run.stop
    if touched and not 0 <= min(touched) <= max(touched) <= len(line):
        raise Misfit(f"owners shift to places {min(touched)} to {max(touched)}, but there are {len(line)}")
    return {line[place - 1]: queues for place, queues in _by_place(new, touched).items() if place}


def _by_place(places: Numbers, wanted: Collection[int]) -> dict[int, Runs]:
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    return {
        place: pack(order[np.searchsorted(ordered, place) : np.searchsorted(ordered, place, side="right")])
        for place in wanted
    }


def _places(queues: Mapping[str, Runs], line: Sequence[str]) -> Numbers | None:
    """Give each queue's owner by its place, 0 where it has none; None where one has two."""
    starts: list[int] = []
    ends: list[int] = []
    whose: list[int] = []
    for place, client in enumerate(line, 1):
        edges = list(accumulate(queues.get(client, ())))
        starts += edges[0::2]
        ends += edges[1::2]
        whose += [place] * (len(edges) // 2)
    order = np.argsort(np.array(starts, dtype=np.int64), kind="stable")
    first, end = np.array(starts, dtype=np.int64)[order], np.array(ends, dtype=np.int64)[order]
    if (first[1:] < end[:-1]).any():
        return None
    lengths = end - first
    places = np.zeros(end[-1] if len(end) else 0, dtype=np.int64)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places[np.repeat(first, lengths) + within] = np.repeat(np.array(whose, dtype=np.int64)[order], lengths)
    return places


def _padded(places: Numbers, size: int) -> Numbers:
    return np.concatenate([places, np.zeros(size - len(places), dtype=np.int64)])
