"""STICKY: even loads with the fewest moves from what was assigned before, for groups that follow a plan.

Two strategies. STICKY is even topic by topic, as RocketMQ's own are, and so piles the extra queues of many topics
up on the same members; STICKY_ACROSS_TOPICS is even over the sum of the topics.

Ideas: Kafka's KIP-54 (sticky assignor) and its server side ``UniformAssignor``; see ``fair_flow`` for what happens
when members subscribe to different topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.allocation.fair_flow import fair_flow
from rebalance_engine.allocation.starting_point import (
    Subscribers,
    check_subscribers,
    count_loads,
    eligible_members,
    loads_before,
    members_once,
    owners_before,
)
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import NO_INTS, ClientTable, Int32s, QueueTable

Numbers = NDArray[np.intp]
Mask = NDArray[np.bool_]
FEW = 300  # queues, below which a plain loop beats sorting them in columns
LARGE = 2**24  # subscriptions that could be, above which a table of them costs more than it spares


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
    load = loads_before(queues, clients, previous, owner)
    if subscribers is not None:
        check_subscribers(queues, clients, subscribers)
        if _let_in(owner, queues, clients, subscribers, load):
            return owner
    eligible = eligible_members(queues, clients, subscribers)
    if _all_alike(eligible):
        _even_out(owner, eligible[0] if eligible else NO_INTS, load)
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
    numbers = members.astype(np.intp)  # as wide as addresses: NumPy would widen them each time
    held = load.take(numbers)
    missing = _fair_shares(held, len(owner)) - held
    takers = (missing > 0).nonzero()[0]
    if not len(takers):
        return
    surplus = load.copy()
    surplus[numbers] = -missing
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
    loose = gives.take(owner).nonzero()[0]  # several times as fast as gives[owner]
    givers = gives.nonzero()[0]
    amounts = surplus.take(givers)
    if len(loose) == amounts.sum():
        return loose
    own = owner[loose]
    if amounts.max() == 1:
        last = np.empty_like(load)
        last[own] = loose  # of several places the last one stays
        return np.sort(last.take(givers))
    if len(loose) < FEW:
        return loose[_last_ones(own.tolist(), dict(zip(own.tolist(), surplus[own].tolist(), strict=True)))]
    by_owner = own.argsort(kind="stable")
    in_order = own[by_owner]
    given: Numbers = np.sort(loose[by_owner[_place_in_run(in_order) >= (load - surplus)[in_order]]])
    return given


def _last_ones(owners: list[int], surplus: dict[int, int]) -> list[int]:
    given = []
    for place in range(len(owners) - 1, -1, -1):
        if surplus[owners[place]]:
            surplus[owners[place]] -= 1
            given.append(place)
    given.reverse()
    return given


def _dealt(members: Int32s, missing: Numbers) -> Int32s:
    """Repeat each member as often as it misses a queue, in circles, as cards are dealt; a single one not at all."""
    if len(members) == 1:
        return members
    takers = np.repeat(members, missing)
    if len(takers) == len(members):
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


def _let_in(owner: Int32s, queues: QueueTable, clients: ClientTable, subscribers: Subscribers, load: Numbers) -> bool:
    """Make up for what a single member lacks, as when it joins, by short exchanges; False where they do not do.

    Then ``owner`` stays as it is, for a flow to find what is best. What is made here is best too: loads are within
    one of each other, each queue that is lacking takes a move, as many as possible come straight from a member
    that has too many, and none of the others could do with less than the two moves that it takes.

    Args:
        load: int64[names + 1], how many queues each number has, and nobody, which is number -1.
    """
    shortage = _single_shortage(members_once(clients), load, len(owner))
    if shortage is None or len(queues.topics) * len(clients.names) > LARGE:
        return False
    newcomer, lacks, surplus = shortage
    subscribes = _subscriptions(queues, clients, subscribers)
    sane = subscribes.ravel().take(queues.topic * np.intp(len(clients.names)) + owner).all()
    if not sane or bool((subscribes == subscribes[0]).all()):
        return False
    moved = _Exchange(owner, queues.topic, subscribes, newcomer).of(surplus, lacks)
    owner[list(moved)] = list(moved.values())
    return bool(moved)


def _single_shortage(members: Int32s, load: Numbers, queues: int) -> tuple[int, int, dict[int, int]] | None:
    """Say who alone lacks queues, how many, and what others have above the lower of the two loads that are even.

    None where it is not that simple: queues are free or with former members, nobody lacks any, or others have
    to take some too.
    """
    held = load[members]
    if held.sum() < queues or not queues:
        return None
    base = queues // len(members)
    short, above = (held < base).nonzero()[0], (held > base).nonzero()[0]
    if len(short) != 1:
        return None
    surplus = dict(zip(members[above].tolist(), (held[above] - base).tolist(), strict=True))
    lacks = base - int(held[short[0]])
    must = sum(surplus.values()) - len(surplus)
    return (int(members[short[0]]), lacks, surplus) if must <= lacks else None


def _subscriptions(queues: QueueTable, clients: ClientTable, subscribers: Subscribers) -> Mask:
    """Say for each topic and each client number whether it is a member that subscribes: bool[topics, names]."""
    subscribes = np.zeros((len(queues.topics), len(clients.names)), dtype=bool)
    for row, numbers in zip(subscribes, subscribers, strict=True):
        row[numbers] = True
    members = members_once(clients)
    if len(members) < len(clients.names):
        former = np.ones(len(clients.names), dtype=bool)
        former[members] = False
        subscribes[:, former] = False
    return subscribes


class _Exchange:
    """Queues on their way to a newcomer: straight, or to a third member that gives the newcomer another one."""

    def __init__(self, owner: Int32s, topic: Int32s, subscribes: Mask, newcomer: int) -> None:
        self._owner, self._topic, self._subscribes, self._newcomer = owner, topic, subscribes, newcomer
        self._moved: dict[int, int] = {}
        self._ways: dict[int, Iterator[int]] = {}

    def of(self, surplus: Mapping[int, int], lacks: int) -> dict[int, int]:
        """Find who gets which queue instead, so that the newcomer gets what it lacks; nothing where that is too hard.

        Args:
            surplus: what members have above the lower of the two loads that are even. They must not keep more
                than one of it, and may give that one too.
        """
        must = {giver: amount - 1 for giver, amount in surplus.items() if amount > 1}
        may = dict.fromkeys(surplus, 1)
        loose = self._queues_of(surplus)
        fitting = loose[self._subscribes[:, self._newcomer].take(self._topic[loose])]
        forced = sum(must.values())
        free = lacks - forced
        forced -= self._move(fitting, must, forced, lambda _: self._newcomer)
        free -= self._move(fitting, may, free, lambda _: self._newcomer)
        forced -= self._move(loose, must, forced, self._third)
        free -= self._move(loose, may, free, self._third)
        return {} if forced or free else self._moved

    def _queues_of(self, givers: Iterable[int]) -> Numbers:
        gives = np.zeros(self._subscribes.shape[1], dtype=bool)
        gives[list(givers)] = True
        return gives.take(self._owner).nonzero()[0]

    def _move(self, queues: Numbers, quota: dict[int, int], most: int, to: Callable[[int], int | None]) -> int:
        """Move ``most`` of these queues, or as many as can be; the last ones first, and of each giver its quota."""
        left = most
        if not left:
            return 0
        for queue, giver in zip(queues[::-1].tolist(), self._owner[queues[::-1]].tolist(), strict=True):
            if not quota.get(giver) or queue in self._moved or (taker := to(queue)) is None:
                continue
            self._moved[queue] = taker
            quota[giver] -= 1
            left -= 1
            if not left:
                break
        return most - left

    def _third(self, queue: int) -> int | None:
        """Find a member that may have ``queue``, and gives the newcomer its last one that this may have."""
        topic = int(self._topic[queue])
        if topic not in self._ways:
            wanted, owners = self._wanted
            self._ways[topic] = iter(wanted[self._subscribes[topic].take(owners)].tolist())
        for given in self._ways[topic]:
            if given not in self._moved:
                self._moved[given] = self._newcomer
                return int(self._owner[given])
        return None

    @cached_property
    def _wanted(self) -> tuple[Numbers, Int32s]:
        """What others have of the topics that the newcomer subscribes to, the last ones first; and who has it."""
        fits = self._subscribes[:, self._newcomer].take(self._topic)
        wanted = (fits & (self._owner != self._newcomer)).nonzero()[0][::-1]
        return wanted, self._owner[wanted]


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
