"""Which groups brokers are told to let nobody of consume (``SubscriptionGroupConfig.consumeEnable``), as they say it.

Nearly all groups may consume everywhere. So what is stated first is only that one may not, or may again that might
not when somebody watched before.
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
        for group, brokers in known.items():
            for broker in brokers:
                self._by_broker.setdefault(broker, set()).add(group)

    def heard(
        self, broker: str, configs: Iterable[tuple[str, SubscriptionGroupConfig]], by: Answerer
    ) -> Iterator[ConsumptionSeen]:
        """Take in all groups of a broker (201); one that it has no more is refused there no more."""
        now = {group for group, config in configs if not config.consume_enable}
        before = self._by_broker.get(broker, set())
        self._by_broker[broker] = now
        for group in sorted(now ^ before):
            yield ConsumptionSeen(
                at=by.at, source=by.source, exactness=EXACT, group=group, broker=broker, is_enabled=group not in now
            )
