"""Which groups brokers are told to let nobody of consume (``SubscriptionGroupConfig.consumeEnable``), as they say it.

Nearly all groups may consume everywhere. So what is stated first is only that one may not, or may again that might
not when somebody watched before. Of which groups they are told to notify nobody (``notifyConsumerIdsChangedEnable``
of a group, or of the broker as a whole) is kept beside it, and not stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from rebalance_engine.events import ConsumptionSeen
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.watcher.bounds import between
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig


class Closed:
    """What each broker said last, and since when that may be so; what is seen first may have been so for any time.

    Args:
        known: the brokers of each group that refused it before.
        since: all brokers had told then or later what was stored of these ``stored`` groups; None is unknown.
    """

    def __init__(self, known: Mapping[str, Set[str]], since: int | None = None, stored: Set[str] = frozenset()) -> None:
        self._since, self._stored = since, stored
        self._told_at: dict[str, int] = {}  # when each broker was asked last
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
        low_of = self._lows(broker)
        self._muted[broker] = frozenset(group for group, muted in is_muted.items() if muted)
        self._notified[broker] = frozenset(group for group, muted in is_muted.items() if not muted)
        now = {group for group, config in told if not config.consume_enable}
        before = self._by_broker.get(broker, set())
        self._by_broker[broker], self._told_at[broker] = now, by.since
        for group in sorted(now ^ before):
            low = low_of.get(group) if group in is_muted else None  # where it is no more, nobody let it consume again
            yield ConsumptionSeen(
                at=by.at,
                source=by.source,
                exactness=between(low, by.at),
                group=group,
                broker=broker,
                is_enabled=group not in now,
            )

    def _lows(self, broker: str) -> dict[str, int]:
        """Say when a broker last told of each group that it had, before this answer."""
        if broker not in self._told_at:
            return {} if self._since is None else dict.fromkeys(self._stored, self._since)
        return dict.fromkeys(self._muted[broker] | self._notified[broker], self._told_at[broker])

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
