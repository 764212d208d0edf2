"""How many queues of each topic each member gets, when members subscribe to different topics.

The loads are as fair as they can be, and among all fairest assignments one is found that keeps most. It knows
topics and members only by number, and nothing of single queues: those of one topic are alike to it.

Ideas: fairest loads as a semi-matching, where no alternating path leads from a member to one with two queues
less (Harvey, Ladner, Lovasz and Tamir, "Semi-matchings for bipartite graphs and load balancing", 2003); their
levels by decomposition (Groenevelt, "Two algorithms for maximizing a separable concave function over a
polymatroid feasible region", 1991; Frank and Murota, "Decreasing minimization on M-convex sets", 2018);
fewest moves as a min-cost flow, by the primal-dual method with blocking flows (Ford and Fulkerson; Dinic).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
PLENTY = 2**62


def fair_flow(supply: Ints, topic: Ints, member: Ints, kept: Ints, members: int) -> Ints:
    """Share out each topic's queues among its subscribers, fairly and with the fewest moves.

    Example: 4 queues of topic X and 2 of Y; A subscribes to X, B to both, and A holds all of X, B all of Y. One
    queue of X goes to B, and both have three.

    Args:
        supply: int64[t], the number of queues of each topic.
        topic, member: int64[e], the subscriptions, sorted by topic, then member, each once; every topic has one.
        kept: int64[e], how many of the topic's queues the member has now.
        members: how many members there are; a lower number is preferred where nothing else decides.

    Returns:
        int64[e]: how many the member shall have.

    Guarantee: the loads, sorted from the largest, are the lexicographically least that exist, so that no
    convex measure of skew can be better; and no assignment with such loads keeps more. Both exactly.
    """
    parts = _Parts(np.zeros(len(supply), dtype=np.int64), np.zeros(members, dtype=np.int64))
    while True:
        inside = np.flatnonzero(parts.topics[topic] == parts.members[member])
        network = _network(supply, topic[inside], member[inside], kept[inside], parts)
        stuck = network.solve()
        if not stuck.any():
            break
        parts = parts.split(stuck[: len(supply)], stuck[len(supply) : len(supply) + members])
    shared = np.zeros(len(topic), dtype=np.int64)
    shared[inside] = network.shared(len(inside))
    return shared


@dataclass(frozen=True)
class _Parts:
    """Topics and members cut into parts, each of which can be even within one queue, as far as is known.

    When a part cannot be, the flow gets stuck, and what it can still reach from there is too heavy: no queue in
    it may go to any member outside. Nothing outside should go in, for nobody there is heavier. So each of the two
    is a part of its own, with its own mean. That repeats until every part is even.
    """

    topics: Ints
    members: Ints

    def split(self, heavy_topics: Mask, heavy_members: Mask) -> _Parts:
        """Cut off what is too heavy in each part."""
        both = np.concatenate([2 * self.topics + heavy_topics, 2 * self.members + heavy_members])
        numbers = np.unique(both, return_inverse=True)[1]
        return _Parts(numbers[: len(self.topics)], numbers[len(self.topics) :])


def _network(supply: Ints, topic: Ints, member: Ints, kept: Ints, parts: _Parts) -> _Network:
    """Make the flow network: topics, members, and one hub a part, which takes in all its queues.

    A subscription is two arcs: what stays pays -1 each, up to ``kept``; what is moved in pays nothing.
    A member's arc to its hub carries its load, from the part's mean rounded down to the mean rounded up.
    """
    topics, members = len(supply), len(parts.members)
    subscribes = np.zeros(members, dtype=bool)
    subscribes[member] = True
    some = np.flatnonzero(subscribes)
    hubs = int(max(parts.topics.max(initial=0), parts.members.max(initial=0))) + 1
    queues = np.bincount(parts.topics, weights=supply, minlength=hubs).astype(np.int64)
    least, rest = np.divmod(queues, np.maximum(np.bincount(parts.members[some], minlength=hubs), 1))
    most = least + (rest > 0)

    filled = _pour(supply, topic, member, kept, most[parts.topics])
    load = np.bincount(member, weights=filled, minlength=members).astype(np.int64)
    part = parts.members[some]
    taken = np.clip(load[some], least[part], most[part])
    excess = np.zeros(topics + members + hubs, dtype=np.int64)
    excess[:topics] = supply - np.bincount(topic, weights=filled, minlength=topics).astype(np.int64)
    excess[topics + some] = load[some] - taken
    excess[topics + members :] = np.bincount(part, weights=taken, minlength=hubs).astype(np.int64) - queues

    held = np.flatnonzero(kept)
    free, stays = np.zeros(len(topic), dtype=np.int64), np.full(len(held), -1)
    return _Network(
        tail=np.concatenate([topic, topic[held], topics + some]),
        head=np.concatenate([topics + member, topics + member[held], topics + members + part]),
        cost=np.concatenate([free, stays, np.zeros_like(some)]),
        least=np.concatenate([free, np.zeros_like(held), least[part]]),
        most=np.concatenate([np.full(len(topic), PLENTY), kept[held], most[part]]),
        flow=np.concatenate([filled - kept, kept[held], taken]),
        excess=excess,
        held=held,
    )


def _pour(supply: Ints, topic: Ints, member: Ints, kept: Ints, most: Ints) -> Ints:
    """Hand out the queues that nobody has, each topic's to those of its subscribers that have least.

    Only a start, but a good one: what it leaves or does badly is mended path by path. Nobody gets more than ``most``
    of the topic's part.
    """
    filled = kept.copy()
    load = np.bincount(member, weights=kept, minlength=int(member.max(initial=-1)) + 1).astype(np.int64)
    bounds = np.searchsorted(topic, np.arange(len(supply) + 1))
    loose = supply - np.bincount(topic, weights=kept, minlength=len(supply)).astype(np.int64)
    for number in np.flatnonzero(loose).tolist():
        arcs = slice(bounds[number], bounds[number + 1])
        more = _level_up(load[member[arcs]], int(loose[number]), int(most[number]))
        filled[arcs] += more
        load[member[arcs]] += more
    return filled


def _level_up(load: Ints, amount: int, most: int) -> Ints:
    """Give ``amount`` to the lowest loads, so that the lowest get as high as possible, but none above ``most``."""
    ascending = np.sort(load)
    needed = ascending * np.arange(len(load)) - np.concatenate([[0], np.cumsum(ascending)[:-1]])
    count = int(np.searchsorted(needed, amount, side="right"))  # so many lie below the new level
    level = int((amount + ascending[:count].sum()) // count)
    more = np.maximum(min(level, most) - load, 0)
    if level < most:
        left = amount - int(more.sum())
        more[np.flatnonzero(load + more == level)[:left]] += 1
    return more


@dataclass
class _Network:
    """A flow with bounds on every arc, that becomes balanced, and is the cheapest of its kind at all times.

    ``excess`` is what comes into a node and does not leave it; negative where something is missing. An arc between
    nodes u and v with flow to spare has a reduced cost, cost + price[u] - price[v], of 0 or more in the
    direction in which it can still carry: that is what makes the flow the cheapest.
    """

    tail: Ints
    head: Ints
    cost: Ints
    least: Ints
    most: Ints
    flow: Ints
    excess: Ints
    held: Ints
    price: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.price = np.zeros(len(self.excess), dtype=np.int64)

    def shared(self, subscriptions: int) -> Ints:
        """Give what flows on each subscription, by both its arcs."""
        shared = self.flow[:subscriptions].copy()
        shared[self.held] += self.flow[subscriptions : subscriptions + len(self.held)]
        return shared

    def solve(self) -> Mask:
        """Send every excess to where something is missing.

        Returns: which nodes can be reached from what cannot be sent anywhere; all False when all is balanced.
        """
        while True:
            reached = np.zeros(len(self.excess), dtype=bool)
            if not (self.excess > 0).any():
                return reached
            arcs = self._residual()
            level = self._levels(arcs)
            reached = level >= 0
            if (self.excess[reached] < 0).any():
                self._push(arcs, level)
            elif not self._raise_prices(arcs, reached):
                return reached

    def _residual(self) -> _Arcs:
        forth, back = np.flatnonzero(self.flow < self.most), np.flatnonzero(self.flow > self.least)
        reduced = self.cost + self.price[self.tail] - self.price[self.head]
        return _Arcs(
            number=np.concatenate([forth, back]),
            sign=np.repeat([1, -1], [len(forth), len(back)]),
            tail=np.concatenate([self.tail[forth], self.head[back]]),
            head=np.concatenate([self.head[forth], self.tail[back]]),
            cost=np.concatenate([reduced[forth], -reduced[back]]),
        )

    def _levels(self, arcs: _Arcs) -> Ints:
        """Number the nodes by their distance from an excess, over arcs of reduced cost 0; -1 is out of reach.

        The first level with something missing is the last one.
        """
        level = np.where(self.excess > 0, 0, -1)
        open_ = np.flatnonzero(arcs.cost == 0)
        tail, head, depth = arcs.tail[open_], arcs.head[open_], 0
        while not (self.excess[level == depth] < 0).any():
            fresh = head[(level[tail] == depth) & (level[head] < 0)]
            if not len(fresh):
                break
            depth += 1
            level[fresh] = depth
            ahead = level[head] < 0
            tail, head = tail[ahead], head[ahead]
        return level

    def _raise_prices(self, arcs: _Arcs, reached: Mask) -> bool:
        """Make the cheapest way out of what is reached free; False where there is no way out."""
        leaving = arcs.cost[reached[arcs.tail] & ~reached[arcs.head]]
        if not len(leaving):
            return False
        self.price[~reached] += leaving.min()
        return True

    def _push(self, arcs: _Arcs, level: Ints) -> None:
        """Send as much as fits from the excesses to what is missing, along shortest ways (Dinic's blocking flow)."""
        arcs = self._shortest(arcs, level)
        flow = self.flow[arcs.number]
        spare = np.where(arcs.sign > 0, self.most[arcs.number] - flow, flow - self.least[arcs.number])
        sent = _blocking_flow(arcs.tail, arcs.head, spare, self.excess)
        self.flow[arcs.number] += arcs.sign * sent
        np.subtract.at(self.excess, arcs.tail, sent)
        np.add.at(self.excess, arcs.head, sent)

    def _shortest(self, arcs: _Arcs, level: Ints) -> _Arcs:
        """Keep the arcs that lie on a shortest way from an excess to something missing, sorted by where they begin."""
        arcs = arcs.take((arcs.cost == 0) & (level[arcs.tail] >= 0) & (level[arcs.head] == level[arcs.tail] + 1))
        leads_on = self.excess < 0
        useful = np.zeros(len(arcs.number), dtype=bool)
        for depth in range(int(level.max()), 0, -1):
            step = (level[arcs.head] == depth) & leads_on[arcs.head]
            useful |= step
            leads_on[arcs.tail[step]] = True
        useful_arcs = np.flatnonzero(useful)
        return arcs.take(useful_arcs[np.argsort(arcs.tail[useful_arcs], kind="stable")])


@dataclass(frozen=True, slots=True)
class _Arcs:
    """Arcs with flow to spare, in the direction in which they can carry; ``sign`` is -1 against the arc's own."""

    number: Ints
    sign: Ints
    tail: Ints
    head: Ints
    cost: Ints

    def take(self, which: Mask | Ints) -> _Arcs:
        """Keep only these arcs."""
        return _Arcs(self.number[which], self.sign[which], self.tail[which], self.head[which], self.cost[which])


def _blocking_flow(tail: Ints, head: Ints, spare: Ints, excess: Ints) -> Ints:
    """Give what to send on each arc of a graph without cycles, sorted by tail, until every way is blocked.

    In plain Python, for it follows one way after another; each arc is tried once.
    """
    nodes, first = np.unique(tail, return_index=True)
    following = dict(zip(nodes.tolist(), first.tolist(), strict=True))  # the arc to try next
    end = dict(zip(nodes.tolist(), [*first[1:].tolist(), len(tail)], strict=True))
    tails, heads, room = tail.tolist(), head.tolist(), spare.tolist()
    missing = {node: -int(excess[node]) for node in np.unique(head[excess[head] < 0]).tolist()}
    for source in nodes[excess[nodes] > 0].tolist():
        left, node = int(excess[source]), source
        way: list[int] = []
        while left:
            arc = following.get(node, len(tails))
            if missing.get(node):
                amount = min(left, missing[node], *(room[arc] for arc in way))
                left -= amount
                missing[node] -= amount
                for arc in way:
                    room[arc] -= amount
                way, node = [], source
            elif arc == end.get(node, len(tails)):  # nothing leads on
                if not way:
                    break
                node = tails[way.pop()]
                following[node] += 1
            elif room[arc]:
                way.append(arc)
                node = heads[arc]
            else:
                following[node] += 1
    return spare - np.array(room, dtype=np.int64)
