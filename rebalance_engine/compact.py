"""A diff in few bytes, for the wire and the database.

When one member joins an averaging group nearly every queue moves, but nearly all of them by the same distance:
from a member to its neighbour. So moves are written as runs of consecutive queues whose owner shifts equally,
counted in places of one sorted list of everybody before and after the change; all of it is deflated where that
makes it shorter. The reader has the ownership before the change: it knows the old owners already.

Layout; all numbers are zigzag-coded base-128 varints:

    version    one byte: 1, plus 128 where the rest is deflated
    left       texts (a count, then each one's UTF-8 length and bytes); an id as often as it left
    joined     texts, likewise
    strangers  texts: owners that are members neither before nor after
    removed    a column (a count, then its numbers): gaps between the queues' numbers before
    added      texts: topic, broker and id of each queue
    check      a column: CRC-32 of the members before and of the old owners' places, so that a reader who starts
               elsewhere finds out; and 1 for runs, 0 for pairs, which are needed where queues have several owners
    moves      three columns. Runs: gap from the end of the run before, length, shift of the place;
               pairs: gap from the queue before, old place, new place
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.diff import Alignment, Diff, StaleDiff, kept_of
from rebalance_engine.model import MAX_QUEUE_ID, MessageQueue
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import NO_INTS, ClientTable, Int32s, QueueTable
from rebalance_engine.varints import BadBytes, Reader, Writer

VERSION = 1
DEFLATED = 128
LONGEST = 16 * 2**20  # inflated bytes: a million queues that all move at random take 8 MB; more is not deflated

Int64s = NDArray[np.int64]


def compact(change: Diff) -> bytes:
    """Write a diff as bytes; :func:`expand` reads them."""
    left, joined = _left_and_joined(change.old_clients, change.clients)
    places = _Places.of(change.old_clients, change.clients, _strangers(change))
    source, destination = places.of_number[change.source], places.of_number[change.destination]
    out = Writer()
    out.texts(left)
    out.texts(joined)
    out.texts(places.strangers)
    out.column(np.diff(change.removed.astype(np.int64), prepend=0))
    out.texts(_flat(change.queues.take(change.added)))
    out.column([_checksum(change.old_clients, source), int(change.single_owners)])
    if change.single_owners:
        out.columns(*_runs(change.queue, destination - source))
    else:
        out.columns(np.diff(change.queue.astype(np.int64), prepend=0), source, destination)
    return _shorter(bytes(out))


def expand(data: bytes, old: Ownership) -> Diff:
    """Read a compact diff of the change that began at ``old``.

    Raises:
        BadBytes: these are not the bytes of a compact diff.
        StaleDiff: the change began elsewhere.
    """
    reader = Reader(_inflate(data))
    clients = _clients_after(old.clients, reader.texts(), reader.texts())
    places = _Places.of(old.clients, clients, reader.texts())
    removed, added = np.cumsum(reader.column()), _queues(reader.texts())
    (checksum, single), columns = _check(reader), reader.columns(3)
    reader.finish()
    queues = _queues_after(old.queues, removed, added)
    before = (old if queues is old.queues else Alignment.of(old.queues, queues).carry(old)).renumbered(places.clients)
    if single:
        queue, shift = _queues_of_runs(columns, len(queues))
        source = places.of_number[before.owner[queue]]
        destination = source + shift
    else:
        queue, source, destination = _queues_of_pairs(columns[0], len(queues)), columns[1], columns[2]
    if _checksum(old.clients, source) != checksum:
        raise StaleDiff("the members or owners before this diff are not those that it starts at")
    numbers = (places.number_at(source), places.number_at(destination))
    if not single and not _owned(before, queue, numbers[0]):
        raise StaleDiff("a queue has not the owner before this diff that it starts at")
    return _diff_from(old, before, queue.astype(np.int32), *numbers, single_owners=bool(single))


def _diff_from(
    old: Ownership, before: Ownership, queue: Int32s, source: Int32s, destination: Int32s, *, single_owners: bool
) -> Diff:
    change = Diff(
        before.queues,
        before.clients,
        old.clients,
        queue,
        source,
        destination,
        single_owners=single_owners,
        kept=NO_INTS if single_owners else kept_of(before, queue, source),
    )
    if before.queues is old.queues:
        return change
    alignment = Alignment.of(old.queues, before.queues)
    return change.across(alignment, old)


@dataclass(frozen=True, eq=False)
class _Places:
    """Everybody before and after the change in one sorted list: place 1 and up, strangers last, 0 is nobody.

    Attributes:
        clients: the members after the change, with everybody's name.
        of_number: int64[names + 1], the place of each client number, and of -1.
    """

    clients: ClientTable
    strangers: list[str]
    of_number: Int64s

    @classmethod
    def of(cls, before: ClientTable, after: ClientTable, strangers: list[str]) -> _Places:
        members = after.order.sort({*before.ids, *after.ids})
        names = tuple(dict.fromkeys((*after.names, *strangers)))
        number = {name: i for i, name in enumerate(names)}
        of_number = np.zeros(len(names) + 1, dtype=np.int64)
        listed = [*members, *strangers]
        of_number[[number[name] for name in listed]] = np.arange(1, len(listed) + 1)
        return cls(ClientTable(after.order, names, after.members), strangers, of_number)

    def number_at(self, places: Int64s) -> Int32s:
        by_place = np.full(int(self.of_number.max()) + 1, -1, dtype=np.int32)
        listed = np.flatnonzero(self.of_number[:-1])
        by_place[self.of_number[listed]] = listed
        wrong = places[(places < 0) | (places >= len(by_place))]
        if len(wrong):
            raise BadBytes(f"a place must be from 0 to {len(by_place) - 1}, not {wrong[0]}")
        return by_place[places]


def _left_and_joined(before: ClientTable, after: ClientTable) -> tuple[list[str], list[str]]:
    left, joined = Counter(before.ids), Counter(after.ids)
    left, joined = left - joined, joined - left
    return sorted(left.elements()), sorted(joined.elements())


def _clients_after(before: ClientTable, left: list[str], joined: list[str]) -> ClientTable:
    registered = Counter(before.ids)
    for client_id in left:
        if not registered[client_id]:
            raise StaleDiff(f"{client_id!r} leaves, but is not a member before this diff")
        registered[client_id] -= 1
    return ClientTable.of([*registered.elements(), *joined], before.order).renumbered_like(before)


def _strangers(change: Diff) -> list[str]:
    """Name the owners that are members neither before nor after."""
    owners = np.union1d(change.source, change.destination)
    members = np.union1d(change.old_clients.members, change.clients.members)
    return [change.clients.names[number] for number in np.setdiff1d(owners, members).tolist() if number >= 0]


def _runs(queue: Int32s, shift: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Find runs of consecutive queues that shift equally: (gap, length, shift) of each."""
    queue = queue.astype(np.int64)
    first = np.ones(len(queue), dtype=bool)
    first[1:] = (np.diff(queue) != 1) | (shift[1:] != shift[:-1])
    starts = np.flatnonzero(first)
    lengths = np.diff(starts, append=len(queue))
    ends = queue[starts] + lengths
    return queue[starts] - np.concatenate([[0], ends[:-1]])[: len(starts)], lengths, shift[starts]


def _queues_of_runs(columns: list[Int64s], queues: int) -> tuple[Int64s, Int64s]:
    gaps, lengths, shifts = columns
    _refuse_outside(gaps, queues)
    _refuse_outside(lengths, queues)  # each before the sum, which could wrap
    if gaps.sum() + lengths.sum() > queues:
        raise BadBytes(f"runs must lie within {queues} queues, not {gaps.sum() + lengths.sum()}")
    starts = np.cumsum(gaps) + np.cumsum(lengths) - lengths
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + within, np.repeat(shifts, lengths)


def _queues_of_pairs(gaps: Int64s, queues: int) -> Int64s:
    _refuse_outside(gaps, queues)
    queue = np.cumsum(gaps)
    if len(queue) and queue[-1] >= queues:
        raise BadBytes(f"a queue's number must be below {queues}, not {queue[-1]}")
    return queue


def _refuse_outside(numbers: Int64s, queues: int) -> None:
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() <= queues:
        raise BadBytes(f"a distance between queues must be from 0 to {queues}, not {numbers.min()} or {numbers.max()}")


def _owned(before: Ownership, queue: Int64s, source: Int32s) -> bool:
    held_queue, held_client = before.pairs()
    held = (held_queue.astype(np.int64) << 32) | held_client
    claimed = ((queue << 32) | source)[source >= 0]
    return bool(np.isin(claimed, held).all())


def _queues_after(queues: QueueTable, removed: Int64s, added: list[MessageQueue]) -> QueueTable:
    if not len(removed) and not added:
        return queues
    if len(removed) and (removed[0] < 0 or (removed[1:] <= removed[:-1]).any()):
        raise BadBytes("the numbers of the queues that go must ascend from 0")
    if len(removed) and removed[-1] >= len(queues):
        raise StaleDiff(f"queue number {removed[-1]} goes, but there are {len(queues)} before this diff")
    stays = np.delete(np.arange(len(queues)), removed)
    after = QueueTable.of([*queues.take(stays), *added], queues.order)
    if len(after) != len(stays) + len(added):
        raise StaleDiff("a queue comes that is there before this diff")
    return after


def _flat(queues: Iterable[MessageQueue]) -> list[str]:
    return [text for queue in queues for text in (queue.topic, queue.broker, str(queue.queue_id))]


def _queues(texts: list[str]) -> list[MessageQueue]:
    try:
        queues = [MessageQueue(texts[i], texts[i + 1], _int(texts[i + 2])) for i in range(0, len(texts), 3)]
    except (IndexError, ValueError) as error:
        raise BadBytes(f"an added queue needs a topic, a broker and a number: {error}") from error
    for queue in queues:
        if not -MAX_QUEUE_ID - 1 <= queue.queue_id <= MAX_QUEUE_ID:
            raise BadBytes(f"the id of an added queue must be a Java int, not {queue.queue_id}")
    return queues


def _int(text: str) -> int:
    """Read a number as it is written here, and in no other of the forms that ``int`` takes."""
    if str(int(text)) != text:
        raise ValueError(f"{text!r} is no plain number")
    return int(text)


def _check(reader: Reader) -> tuple[int, int]:
    checksum, single = reader.pair()
    if single not in (0, 1):
        raise BadBytes(f"moves must be written as 1 (runs) or 0 (pairs), not {single}")
    return checksum, single


def _checksum(members: ClientTable, places: Int64s) -> int:
    names = "\0".join(members.ids).encode("utf-8", "surrogatepass")
    return zlib.crc32(places.astype("<i4").tobytes(), zlib.crc32(names))


def _shorter(plain: bytes) -> bytes:
    deflated = zlib.compress(plain, level=9)
    if len(deflated) < len(plain) <= LONGEST:
        return bytes([VERSION | DEFLATED]) + deflated
    return bytes([VERSION]) + plain


def _inflate(data: bytes) -> bytes:
    if not data or data[0] & ~DEFLATED != VERSION:
        seen = data[0] & ~DEFLATED if data else "no byte at all"
        raise BadBytes(f"a compact diff begins with version {VERSION}, not {seen}")
    if not data[0] & DEFLATED:
        return data[1:]
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(data[1:], LONGEST)
    except zlib.error as error:
        raise BadBytes(f"a compact diff that cannot be inflated: {error}") from error
    if not inflater.eof or inflater.unused_data:
        raise BadBytes(f"a compact diff that ends too early or too late, or inflates to more than {LONGEST} bytes")
    return plain
