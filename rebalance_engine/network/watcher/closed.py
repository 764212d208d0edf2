"""Which groups brokers are told to let nobody of consume (``SubscriptionGroupConfig.consumeEnable``), as they say it.

Nearly all groups may consume everywhere. So what is stated first is only that one may not, or may again that might
not when somebody watched before. Of which groups they are told to notify nobody (``notifyConsumerIdsChangedEnable``
of a group, or of the broker as a whole) is kept beside it, and not stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from rebalance_engine.events import EXACT, ConsumptionSeen
from rebalance_engine.network.answers import Answerer
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig


class Closed:
    """What each broker said last; ``known`` has the brokers of each group that refused it before."""

    def __init__(self, known: Mapping[str, Set[str]]) -> None:
        self._by_broker: dict[str, set[str]] = {}
        self._muted: dict[str, frozenset[str]] = {}
        self._notified: dict[str, frozenset[str]] = {}
        self._switched_off: set[str] = set()
        for group, brokers in known.items():
            for broker in brokers:
                self._by_broker.setdefault(broker, set()).add(group)

    def heard(
        self, broker: str, configs: Iterable[tuple[str, SubscriptionGroupConfig]], by: Answerer
    ) -> Iterator[ConsumptionSeen]:
        """Take in all groups of a broker (201); one that it has no more is refused there no more."""
        told = list(configs)
        is_muted = {group: not config.notify_consumer_ids_changed_enable for group, config in told}
        self._muted[broker] = frozenset(group for group, muted in is_muted.items() if muted)
        self._notified[broker] = frozenset(group for group, muted in is_muted.items() if not muted)
        now = {group for group, config in told if not config.consume_enable}
        before = self._by_broker.get(broker, set())
        self._by_broker[broker] = now
        for group in sorted(now ^ before):
            yield ConsumptionSeen(
                at=by.at, source=by.source, exactness=EXACT, group=group, broker=broker, is_enabled=group not in now
            )

    def notifies_heard(self, broker: str, *, is_on: bool) -> None:
        """Take in whether a broker notifies anybody of anything, by its own settings (26)."""
        self._switched_off = self._switched_off - {broker} if is_on else self._switched_off | {broker}

    def is_off(self, broker: str) -> bool:
        """Whether a broker said last that it notifies nobody at all."""
        return broker in self._switched_off

    def muted(self, brokers: Set[str]) -> frozenset[str] | None:
        """Name the groups of which every one of these brokers that has it notifies nobody; None: one has not told."""
        if not brokers or not brokers <= self._muted.keys():
            return None
        there = frozenset[str]().union(*(self._muted[broker] | self._notified[broker] for broker in brokers))
        return there - frozenset[str]().union(*(self._notified[broker] for broker in brokers - self._switched_off))
