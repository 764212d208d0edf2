from __future__ import annotations

import zlib
from collections.abc import Iterable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.compact import DEFLATED, LONGEST, VERSION, compact, expand
from rebalance_engine.diff import StaleDiff, apply, diff
from rebalance_engine.group import GroupView
from rebalance_engine.ownership import Ownership
from rebalance_engine.plan import Plan, target
from rebalance_engine.tables import ClientTable, QueueTable
from rebalance_engine.varints import BadBytes, Writer
from tests.rebalance_engine.generators import (
    of_pairs,
    orders_east,
    owners_by_queue,
    ownerships,
    owning,
    queue_tables,
)

JOINS = [name for name in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY") if name in STRATEGIES]
AB = owning("AB")


def message(
    *,
    left: Iterable[str] = (),
    joined: Iterable[str] = (),
    removed: Iterable[int] = (),
    added: Iterable[str] = (),
    sources: Iterable[int] = (),
    runs: int = 1,
    moves: tuple[list[int], list[int], list[int]] = ([], [], []),
) -> bytes:
    """Write by hand what :func:`compact` would never write; the check fits ``sources``."""
    out = Writer()
    for texts in (left, joined, ()):
        out.texts(texts)
    out.column(list(removed))
    out.texts(added)
    out.column([zlib.crc32(np.array(list(sources), dtype="<i4").tobytes(), zlib.crc32(b"A\0B")), runs])
    out.columns(*moves)
    return bytes([VERSION]) + bytes(out)


def read(data: bytes, old: Ownership) -> None:
    """Insist that bytes are read and applied, or refused with the errors that are promised."""
    try:
        apply(old, expand(data, old))
    except (BadBytes, StaleDiff):
        return


def one_of_everything() -> tuple[Ownership, bytes]:
    """Give a change that writes something into every part of the layout, and is not deflated."""
    old = owning("ABC-A", "ABC")
    clients = ClientTable.of(["A", "B", "É"])
    queues = QueueTable.of([*orders_east(0, 1, 2, 3), MessageQueue("名", "west", 0)])
    held = {"A": queues.take(np.array([2, 4])), "B": queues.take(np.array([1, 3])), "É": queues.take(np.array([0]))}
    return old, compact(diff(old, Ownership.from_lists(queues, clients, held)))


@given(ownerships(most_owners=3), ownerships(most_owners=3))
def test_what_is_expanded_is_what_was_compacted(old: Ownership, new: Ownership) -> None:
    change = diff(old, new)

    again = expand(compact(change), old)

    assert list(again) == list(change)
    assert again.old_clients is old.clients
    assert again.single_owners == change.single_owners
    assert (again.added.tolist(), again.removed.tolist()) == (change.added.tolist(), change.removed.tolist())
    assert apply(old, again).same_owners(new)
    assert apply(old, again).clients.ids == new.clients.ids


@given(queue_tables, st.data())
def test_a_diff_of_the_same_queues_survives(queues: QueueTable, data: st.DataObject) -> None:
    old, new = data.draw(ownerships(queues)), data.draw(ownerships(queues))

    again = expand(compact(diff(old, new)), old)

    assert list(again) == list(diff(old, new))
    assert again.queues is old.queues
    assert owners_by_queue(apply(old, again)) == owners_by_queue(new)


def test_a_reader_may_number_clients_in_its_own_way() -> None:
    change = diff(owning("ABB"), owning("ABC"))
    queues, otherwise = orders_east(0, 1, 2), ClientTable.of(["B"]).joined("X").joined("A").left("X")

    again = expand(compact(change), of_pairs(queues, otherwise, [(0, 2), (1, 0), (2, 0)]))

    assert list(again) == list(change)


def test_nothing_to_say_takes_few_bytes() -> None:
    assert len(compact(diff(AB, AB))) < 16


@pytest.mark.parametrize("newcomer", ["client-0000-early", "client-0500-middle", "client-9999-late"])
@pytest.mark.parametrize("strategy", JOINS)
def test_one_join_of_a_large_group_takes_less_than_2000_bytes(strategy: str, newcomer: str) -> None:
    queues = QueueTable.from_routes([("orders", f"broker-{i:02}", 500) for i in range(20)])
    members = ClientTable.of(f"client-{i:04}" for i in range(1, 1001))
    plan, after = Plan(strategy=strategy), members.joined(newcomer)
    old = target(GroupView("g", queues, members), plan)
    change = diff(old, target(GroupView("g", queues, after), plan, old))

    written = compact(change)

    assert len(change) > 0
    assert after.ids.index(newcomer) in (1, 0, 500, 1000)
    assert len(written) < 2000
    assert list(expand(written, old)) == list(change)


def test_moves_at_random_are_not_made_longer_by_deflating() -> None:
    luck = Random(1)
    queues, clients = QueueTable.from_routes([("orders", "east", 5000)]), ClientTable.of(map(str, range(300)))
    old, new = (of_pairs(queues, clients, [(i, luck.randrange(300)) for i in range(5000)]) for _ in range(2))

    written = compact(diff(old, new))

    assert len(written) < 6 * 5000
    assert apply(old, expand(written, old)).same_owners(new)


@pytest.mark.parametrize(
    "elsewhere",
    [owning("BA"), owning("A-", "AB"), owning("AAB"), owning("A", "AB"), owning("AB", "ABC"), owning("AA", "A")],
)
def test_a_reader_who_starts_elsewhere_is_told(elsewhere: Ownership) -> None:
    written = compact(diff(AB, owning("CA", "AC")))

    with pytest.raises((StaleDiff, BadBytes)):
        apply(elsewhere, expand(written, elsewhere))


def test_a_reader_who_starts_elsewhere_is_told_where_queues_have_several_owners() -> None:
    queues, clients = orders_east(0, 1), ClientTable.of(["A", "B"])
    written = compact(diff(of_pairs(queues, clients, [(0, 0), (0, 1)]), of_pairs(queues, clients, [(0, 1)])))

    with pytest.raises(StaleDiff):
        expand(written, of_pairs(queues, clients, [(0, 1)]))


def test_who_leaves_must_be_there() -> None:
    written = compact(diff(owning("AB"), owning("AA", "A")))

    with pytest.raises(StaleDiff, match="'B' leaves, but is not a member"):
        expand(written, owning("AA", "A"))
    with pytest.raises(StaleDiff, match="'A' leaves"):
        expand(message(left=["A", "A"]), AB)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", BadBytes),
        (bytes([VERSION]), BadBytes),
        (bytes([VERSION + 1]) + message()[1:], BadBytes),
        (bytes([VERSION | DEFLATED]) + message()[1:], BadBytes),
        (message() + b"\x00", BadBytes),
        (bytes([VERSION | DEFLATED]) + zlib.compress(message()[1:]) + b"\x00", BadBytes),
        (bytes([VERSION | DEFLATED]) + zlib.compress(message()[1:])[:-1], BadBytes),
        (message(removed=[-1]), BadBytes),
        (message(removed=[1, 0]), BadBytes),
        (message(removed=[1, -1]), BadBytes),
        (message(removed=[2**62, 2**62]), BadBytes),
        (message(removed=[2]), StaleDiff),
        (message(removed=[2**32]), StaleDiff),
        (message(added=["orders", "east"]), BadBytes),
        (message(added=["orders", "east", "x"]), BadBytes),
        (message(added=["orders", "east", str(2**31)]), BadBytes),
        (message(added=["orders", "east", "9" * 5000]), BadBytes),
        (message(added=["orders", "east", "0"]), StaleDiff),
        (message(added=["orders", "west", "0"] * 2), StaleDiff),
        (message(runs=2), BadBytes),
        (message(moves=([2], [1], [0])), BadBytes),
        (message(moves=([-1], [1], [0])), BadBytes),
        (message(moves=([0], [-1], [0])), BadBytes),
        (message(moves=([0, 0], [1, 2], [0, 0])), BadBytes),
        (message(moves=([2**62] * 4, [1] * 4, [0] * 4)), BadBytes),
        (message(moves=([0] * 4, [2**62] * 4, [0] * 4)), BadBytes),
        (message(moves=([0], [2**63 - 1], [0])), BadBytes),
        (message(sources=[1], moves=([0], [1], [2])), BadBytes),
        (message(sources=[1], moves=([0], [1], [-2])), BadBytes),
        (message(sources=[1], moves=([0], [1], [2**63 - 1])), BadBytes),
        (message(sources=[2], moves=([0], [1], [0])), StaleDiff),
        (message(runs=0, sources=[0], moves=([2], [0], [1])), BadBytes),
        (message(runs=0, sources=[0], moves=([-1], [0], [1])), BadBytes),
        (message(runs=0, sources=[0], moves=([2**63 - 1], [0], [1])), BadBytes),
        (message(runs=0, sources=[0, 0, 0], moves=([1, 1, 1], [0] * 3, [1] * 3)), BadBytes),
        (message(runs=0, sources=[3], moves=([0], [3], [1])), BadBytes),
        (message(runs=0, sources=[1], moves=([0], [1], [-1])), BadBytes),
        (message(runs=0, sources=[2], moves=([0], [2], [1])), StaleDiff),
        (message(runs=0, sources=[1], moves=([0], [2], [1])), StaleDiff),
    ],
)
def test_bytes_that_make_no_sense_are_refused(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        expand(data, AB)


def test_bytes_by_hand_that_make_sense_are_read() -> None:
    as_runs = expand(message(sources=[1], moves=([0], [1], [1])), AB)
    as_pairs = expand(message(runs=0, sources=[1], moves=([0], [1], [2])), AB)

    assert apply(AB, as_runs).same_owners(owning("BB", "AB"))
    assert list(as_pairs) == list(as_runs)


def test_every_truncation_is_refused() -> None:
    old, data = one_of_everything()
    assert data[0] == VERSION

    for end in range(len(data)):
        with pytest.raises(BadBytes):
            expand(data[:end], old)
        deflated = bytes([VERSION | DEFLATED]) + zlib.compress(data[1:])
        with pytest.raises(BadBytes):
            expand(deflated[: len(deflated) * end // len(data)], old)


def test_every_flipped_bit_is_read_or_refused() -> None:
    old, data = one_of_everything()

    for at in range(8 * len(data)):
        hostile = bytearray(data)
        hostile[at // 8] ^= 1 << at % 8
        read(bytes(hostile), old)


@given(st.lists(st.tuples(st.integers(1, 200), st.integers(0, 255)), min_size=1, max_size=6))
def test_every_changed_byte_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    old, data = one_of_everything()
    hostile = bytearray(data)
    for at, byte in changes:
        hostile[at % len(data)] = byte

    read(bytes(hostile), old)


@given(st.sampled_from([VERSION, VERSION | DEFLATED, 0]), st.binary(max_size=60))
def test_random_bytes_are_read_or_refused(version: int, data: bytes) -> None:
    read(bytes([version]) + data, AB)
    read(bytes([VERSION | DEFLATED]) + zlib.compress(data), AB)


@given(
    st.lists(st.integers(-1, 6) | st.sampled_from([2**62, 2**63 - 1, -(2**63)]), max_size=3),
    st.lists(st.tuples(*[st.integers(-3, 6) | st.sampled_from([2**32, 2**62, 2**63 - 1, -(2**63)])] * 3), max_size=4),
    st.lists(st.integers(0, 4), max_size=4),
    st.integers(0, 1),
)
def test_well_formed_nonsense_is_read_or_refused(
    removed: list[int], moves: list[tuple[int, int, int]], sources: list[int], runs: int
) -> None:
    columns = [[row[i] for row in moves] for i in range(3)]

    data = message(removed=removed, sources=sources, runs=runs, moves=(columns[0], columns[1], columns[2]))

    read(data, owning("ABA-AB"))


def test_a_bomb_is_refused_before_it_bursts() -> None:
    bomb = bytes([VERSION | DEFLATED]) + zlib.compress(bytes(LONGEST + 1))

    assert len(bomb) < LONGEST // 500
    with pytest.raises(BadBytes, match=f"more than {LONGEST} bytes"):
        expand(bomb, AB)


def test_a_count_that_the_bytes_do_not_pay_for_is_refused() -> None:
    count = b"\xfe\xff\xff\xff\xff\x1f"

    with pytest.raises(BadBytes, match="a count of"):
        expand(bytes([VERSION]) + count, AB)


def test_many_who_join_at_once_are_read_in_one_pass() -> None:
    crowd = [f"{i:06}" for i in range(50_000)]

    change = expand(message(joined=crowd), AB)

    assert change.clients.ids == (*crowd, "A", "B")
