"""Who holds what while members come, leave and crash; that nothing is lost; and how much comes twice."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest

from tests.cluster.lines import Got
from tests.matrix.cells import GROUPS
from tests.matrix.conftest import CLUSTERS
from tests.matrix.groups import CHANGES, Play, Played, Tenure, again

CELLS = [(name, group.name) for name in CLUSTERS for group in GROUPS[name]]
ORDERLY = [(name, group.name) for name in CLUSTERS for group in GROUPS[name] if group.orderly]
PERSISTED_EVERY_MS = 5_000  # what is consumed in between is known to the consumer alone (persistConsumerOffsetInterval)
BUSY_MS = 3_000  # by how much a timer may be late on a busy machine

pytestmark = [pytest.mark.java, pytest.mark.slow]
each_cell = pytest.mark.parametrize(("cluster", "group"), CELLS, indirect=["cluster"], scope="session")
each_orderly_cell = pytest.mark.parametrize(("cluster", "group"), ORDERLY, indirect=["cluster"], scope="session")


@each_cell
@pytest.mark.parametrize("change", CHANGES)
def test_everyone_holds_its_share_within_two_rounds(play: Play, group: str, change: str) -> None:
    played = play.groups[group]

    assert played.held[change] == played.wanted[change]
    assert played.settled_after_s[change] is not None


@each_cell
def test_what_was_settled_stays_until_the_next_change(play: Play, group: str) -> None:
    assert play.groups[group].stayed == dict.fromkeys(CHANGES[:-1], True)


@each_cell
def test_every_message_is_consumed(play: Play, group: str) -> None:
    assert len(play.sent) > 100

    assert play.sent.keys() - {got.body for got in play.groups[group].got} == set()


@each_cell
def test_only_what_the_last_owner_had_not_made_known_comes_twice(play: Play, group: str) -> None:
    """The redelivered range begins at the offset that the broker knows: it is what A got last (rebalance.md 11.2)."""
    played = play.groups[group]

    for queue in again(played.got):
        for first, second in _twice(played, queue):
            handed_over = min(_tenure(played, first).end_ms, _tenure(played, second).begin_ms)
            assert first.ms >= handed_over - PERSISTED_EVERY_MS - BUSY_MS, (first, second)


@each_orderly_cell
def test_order_is_kept_through_every_handoff(play: Play, group: str) -> None:
    """Within a queue no message comes before an earlier one, whoever has the queue."""
    played = play.groups[group]

    for queue in {got.queue for got in played.got}:
        highest = -1
        for before, got in pairwise([None, *_in(played, queue)]):
            assert got is not None
            assert got.offset <= highest + 1, f"{queue}: {got.offset} came after {highest}"
            if got.offset <= highest:  # again: only a new owner starts over
                assert before is not None
                assert before.client != got.client or got.offset == before.offset + 1, (before, got)
            highest = max(highest, got.offset)


@each_orderly_cell
def test_locks_exclude(play: Play, group: str) -> None:
    """Two clients never take turns at a queue: messages change hands only where the queue does."""
    played = play.groups[group]
    tenures = sorted(played.tenures, key=lambda tenure: tenure.begin_ms)

    for queue in {got.queue for got in played.got}:
        owners = iter([tenure.client for tenure in tenures if tenure.queue == queue])
        hands = [client for client, _ in groupby(_in(played, queue), key=lambda got: got.client)]
        assert all(hand in owners for hand in hands), (queue, hands)  # each `in` goes on where the last one ended


def _in(played: Played, queue: str) -> list[Got]:
    return [got for got in played.got if got.queue == queue]


def _twice(played: Played, queue: str) -> list[tuple[Got, Got]]:
    first: dict[int, Got] = {}
    pairs = []
    for got in _in(played, queue):
        if got.offset in first:
            pairs.append((first[got.offset], got))
        first.setdefault(got.offset, got)
    return pairs


def _tenure(played: Played, got: Got) -> Tenure:
    """Find the time in which the client had the queue when it was given the message."""
    of_client = [tenure for tenure in played.tenures if (tenure.queue, tenure.client) == (got.queue, got.client)]
    assert of_client, f"{got} came to a client that never had the queue"
    of_client.sort(key=lambda tenure: tenure.begin_ms)
    # our Java program may see a take a moment after the first message: then the first one counts
    before = [tenure for tenure in of_client if tenure.begin_ms <= got.ms]
    return before[-1] if before else of_client[0]
