"""STICKY: even loads with the fewest moves from what was assigned before, for groups that follow a plan.

Two strategies. STICKY is even topic by topic, as RocketMQ's own are, and so piles the extra queues of many topics
up on the same members; STICKY_ACROSS_TOPICS is even over the sum of the topics.

Ideas: Kafka's KIP-54 (sticky assignor) and its server side ``UniformAssignor``; see ``fair_flow`` for what happens
when members subscribe to different topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.allocation.fair_flow import fair_flow
from rebalance_engine.allocation.starting_point import (
    Subscribers,
    count_loads,
    eligible_members,
    loads_before,
    members_once,
    owners_before,
)
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import NO_INTS, ClientTable, Int32s, QueueTable

Numbers = NDArray[np.intp]
FEW = 300  # queues, below which a plain loop beats sorting them in columns
MANY = 20_000  # queues, above which testing for membership beats looking every owner up


def owners(
    queues: QueueTable,
    clients: ClientTable,
    *,
    previous: Ownership | None = None,
    subscribers: Subscribers | None = None,
) -> Int32s:
    """STICKY: share out each topic evenly, and move as little as that allows.

    Example: A has queues 0 to 3 and B 4 to 7. When C joins, A gives queue 3 and B queue 7 to C (of three, two
    have three queues and one has two; the larger shares stay with the members that sort first).

    Args:
        queues: what to share out.
        clients: who shares; an id that is registered twice is one member.
        previous: who had what before, over these tables or others; None is nobody.
        subscribers: for each topic number, the numbers of the clients that subscribe to it; None is everybody
            to everything. Numbers of former members do not matter.

    Returns:
        int32[len(queues)]: client numbers, ``UNOWNED`` where no member subscribes to the topic.

    Raises:
        BadParameter: ``subscribers`` does not fit the tables.

    Guarantee: of each topic with n queues and c subscribing members, each of these gets n // c queues, or one
    more; and no such assignment has fewer moves. A queue that had no owner does not count as moved. What leaves
    a member are its last queues; what is free is dealt out in circles. No input order matters.
    """
    owner = owners_before(queues, clients, previous)
    eligible = eligible_members(queues, clients, subscribers)
    if len(eligible) == 1:
        _even_out(owner, eligible[0], loads_before(queues, clients, previous, owner))
        return owner
    for (start, end), members in zip(pairwise(queues.starts), eligible, strict=True):
        _even_out(owner[start:end], members, count_loads(owner[start:end], len(clients.names)))
    return owner


def owners_across_topics(
    queues: QueueTable,
    clients: ClientTable,
    *,
    previous: Ownership | None = None,
    subscribers: Subscribers | None = None,
) -> Int32s:
    """STICKY_ACROSS_TOPICS: share out the sum of all topics evenly, and move as little as that allows.

    Example: topics X and Y of one queue each, members A and B: RocketMQ's AVG gives both queues to A; here each
    gets one.

    Arguments, result and errors are those of :func:`owners`.

    Guarantee: where all subscribe to all topics, the members' loads are within one of each other. Where they
    do not, the loads, sorted from the largest, are the lexicographically least that exist: the largest is as
    small as can be, then the second, and so on. Either way no assignment with such loads has fewer moves.
    """
    owner = owners_before(queues, clients, previous)
    eligible = eligible_members(queues, clients, subscribers)
    if _all_alike(eligible):
        members = eligible[0] if eligible else NO_INTS
        _even_out(owner, members, loads_before(queues, clients, previous, owner))
        return owner
    return _flow_out(owner, queues, clients, eligible)


def fewest_moves(owner: Int32s, members: Int32s) -> int:
    """Count the moves that any assignment within one needs, when all ``members`` may get all the queues.

    Args:
        owner: int32[n], who has each queue; -1 is nobody.
        members: int32[c], distinct numbers of those who share from now on.

    Returns:
        the least number of queues that an owner has to lose, those of former members included.

    Raises:
        ValueError: there are no members.
    """
    if not len(members):
        raise ValueError(f"{len(owner)} queues cannot be shared out among 0 members")
    base, extra = divmod(len(owner), len(members))
    load = np.bincount(np.add(owner, 1, dtype=np.intp), minlength=int(members.max()) + 2)
    held = load[members + 1]
    above = np.maximum(held - base, 0)
    left_behind = len(owner) - load[0] - held.sum()
    return int(left_behind + above.sum() - min(extra, np.count_nonzero(above)))


def _all_alike(eligible: Sequence[Int32s]) -> bool:
    return all(members is eligible[0] or np.array_equal(members, eligible[0]) for members in eligible)


def _even_out(owner: Int32s, members: Int32s, load: Numbers) -> None:
    """Change ``owner`` so that all of it is shared evenly by ``members``, with as few changes as possible.

    Args:
        load: int64[names + 1], how many queues each number has, and nobody, which is number -1.
    """
    if not len(members):
        owner[:] = UNOWNED
        return
    held = load[members]
    missing = _fair_shares(held, len(owner)) - held
    takers = (missing > 0).nonzero()[0]
    if not len(takers):
        return
    surplus = load.copy()
    surplus[members] = -missing
    owner[_given_up(owner, load, surplus)] = _dealt(members[takers], missing[takers])


def _fair_shares(held: Numbers, queues: int) -> Numbers:
    """Give each member its number of queues: the extra ones to those that have too many anyway.

    It does not matter how many too many: each extra queue spares one move, to whichever of them it goes.
    """
    base, extra = divmod(queues, len(held))
    fair = np.empty(len(held), dtype=np.intp)
    fair.fill(base)
    if extra:
        above = held > base
        chosen = above.nonzero()[0][:extra]
        fair[chosen] = base + 1
        if len(chosen) < extra:
            fair[(~above).nonzero()[0][: extra - len(chosen)]] = base + 1
    return fair


def _given_up(owner: NDArray[np.signedinteger], load: Numbers, surplus: Numbers) -> Numbers:
    """Find the queues that are free, or that their owners have beyond their share: the last ones.

    Args:
        owner: who has each queue, by any numbers from 0 on; nobody is ``UNOWNED``, which finds the last entry below.
        load: how many queues each number has, and last nobody.
        surplus: how many of them each gives up; nobody gives up all.
    """
    gives = surplus > 0
    loose = _owned_by(owner, gives)
    if len(loose) == surplus[gives].sum():
        return loose
    own = owner[loose]
    if len(loose) < FEW:
        return loose[_last_ones(own.tolist(), dict(zip(own.tolist(), surplus[own].tolist(), strict=True)))]
    by_owner = own.argsort(kind="stable")
    in_order = own[by_owner]
    given: Numbers = np.sort(loose[by_owner[_place_in_run(in_order) >= (load - surplus)[in_order]]])
    return given


def _owned_by(owner: NDArray[np.signedinteger], givers: NDArray[np.bool_]) -> Numbers:
    """Find the queues whose owner is among ``givers``, which has an entry for each number, and last nobody's."""
    if len(owner) < MANY:
        return np.flatnonzero(givers[owner])
    numbers = givers.nonzero()[0]
    numbers[numbers == len(givers) - 1] = UNOWNED
    return np.isin(owner, numbers).nonzero()[0]


def _last_ones(owners: list[int], surplus: dict[int, int]) -> list[int]:
    given = []
    for place in range(len(owners) - 1, -1, -1):
        if surplus[owners[place]]:
            surplus[owners[place]] -= 1
            given.append(place)
    given.reverse()
    return given


def _dealt(members: Int32s, missing: Numbers) -> Int32s:
    """Repeat each member as often as it misses a queue, in circles, as cards are dealt."""
    takers = np.repeat(members, missing)
    if len(members) == 1 or len(takers) == len(members):
        return takers
    turn = _place_in_run(takers)
    if turn[-1] < 2**16 and len(turn) > 1000:
        turn = turn.astype(np.uint16)  # sorted by radix, several times as fast
    return takers[np.argsort(turn, kind="stable")]


def _place_in_run(ordered: NDArray[np.signedinteger]) -> Numbers:
    """Number equal neighbours 0, 1, 2, ..."""
    place = np.arange(len(ordered))
    begins = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return place - np.maximum.accumulate(np.where(begins, place, 0))


def _flow_out(owner: Int32s, queues: QueueTable, clients: ClientTable, eligible: Sequence[Int32s]) -> Int32s:
    """Share out topics with different subscribers, by the sum."""
    everybody = members_once(clients)
    count = len(everybody)
    rank = np.full(len(clients.names) + 1, count, dtype=np.int64)  # whoever is no member comes last
    rank[everybody] = np.arange(count)
    width = count + 1
    topic = np.repeat(np.arange(len(eligible)), [len(members) for members in eligible])
    member = rank[np.concatenate(eligible)]
    subscription = topic * width + member

    wanted = queues.topic * np.int64(width) + rank[owner]
    place = np.searchsorted(subscription, wanted)
    place[place == len(subscription)] = 0
    place[subscription[place] != wanted] = UNOWNED  # had no owner, or one that may not have it now
    had = count_loads(place, len(subscription))
    kept = had[:-1]

    shared_out = [number for number, members in enumerate(eligible) if len(members)]
    supply = np.diff(queues.starts)[shared_out]
    narrowed = np.full(len(eligible), -1)
    narrowed[shared_out] = np.arange(len(shared_out))
    share = fair_flow(supply, narrowed[topic], member, kept, count)
    given = _given_up(place, had, had - np.append(share, 0))
    given = given[narrowed[queues.topic[given]] >= 0]
    result = np.where(narrowed[queues.topic] >= 0, owner, np.int32(UNOWNED))
    result[given] = everybody[np.repeat(member, np.maximum(share - kept, 0))]
    return result
