"""Where the topics of one client are, by the last route of each: which addresses matter to it, and which no more."""

from __future__ import annotations

from rebalance_engine.effects import Address
from rebalance_engine.remoting.bodies.routes import TopicRouteData

MOST = 1_000  # topics, and addresses that no route names any more


class Homes:
    """The addresses that routes name. Those that never were in one, such as name servers, are not known here."""

    def __init__(self) -> None:
        self._of: dict[str, frozenset[Address]] = {}
        self._left: dict[Address, None] = {}  # the oldest make room

    def learn(self, topic: str, route: TopicRouteData) -> frozenset[Address]:
        """Take the route of a topic, and give the addresses that no route names any more."""
        if topic not in self._of and len(self._of) >= MOST:
            return frozenset()
        return self._put(topic, frozenset(each for data in route.broker_datas for each in data.broker_addrs.values()))

    def forget(self, topic: str) -> frozenset[Address]:
        """Note that a topic does not matter any more, and give the addresses that no route names then."""
        gone = self._put(topic, frozenset())
        del self._of[topic]
        return gone

    def were_left(self, address: Address) -> bool:
        """Whether a route named it once, and none does now."""
        return address in self._left

    def _put(self, topic: str, now: frozenset[Address]) -> frozenset[Address]:
        before = self._of.get(topic, frozenset())
        self._of[topic] = now
        gone = frozenset(each for each in before - now if not any(each in of for of in self._of.values()))
        self._left |= dict.fromkeys(sorted(gone))
        for address in now:
            self._left.pop(address, None)
        while len(self._left) > MOST:
            del self._left[next(iter(self._left))]
        return gone


def writable(route: TopicRouteData) -> frozenset[Address]:
    """Give the addresses to which producers send messages of the topic."""
    names = {row.broker_name for row in route.queue_datas if row.is_writable and row.write_queue_nums > 0}
    masters = (data.master_address for data in route.broker_datas if data.broker_name in names)
    return frozenset(address for address in masters if address is not None)
