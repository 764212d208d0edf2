"""Which topics brokers are told to give to which groups by POP (request 401), as they say it themselves (402).

Hardly any group is set so. So what is stated first is only that one is, or is no more that was when somebody watched
before. What was not set goes by the broker's ``defaultMessageRequestMode``, and only members that let the broker divide
(``clientRebalance=false``) go by either: that a member takes messages by POP it alone can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rebalance_engine.events import RequestModesSeen
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.system_groups import is_system_group
from rebalance_engine.network.watcher.bounds import between
from rebalance_engine.remoting.bodies.settings import MessageRequestMode, MessageRequestModeSerializeWrapper

Topics = tuple[str, ...]


class Popped:
    """What each broker said last, and since when that may be so; what is seen first may have been so for any time.

    ``known`` has broker -> topics of each group that was set so before.
    """

    def __init__(self, known: Mapping[str, Mapping[str, Topics]]) -> None:
        self._told_at: dict[str, int] = {}  # when each broker was asked last
        self._by_broker: dict[str, dict[str, Topics]] = {}
        for group, brokers in known.items():
            for broker, topics in brokers.items():
                self._by_broker.setdefault(broker, {})[group] = tuple(sorted(topics))

    def heard(self, broker: str, modes: MessageRequestModeSerializeWrapper, by: Answerer) -> Iterator[RequestModesSeen]:
        """Take in all modes of a broker."""
        now = popped_in(modes)
        before = self._by_broker.get(broker, {})
        told_at, self._told_at[broker] = self._told_at.get(broker), by.since
        self._by_broker[broker] = now
        for group in sorted(now.keys() | before.keys()):
            topics = now.get(group, ())
            if topics != before.get(group, ()):
                yield RequestModesSeen(
                    at=by.at,
                    source=by.source,
                    exactness=between(told_at, by.at),
                    group=group,
                    broker=broker,
                    topics=topics,
                )


def popped_in(modes: MessageRequestModeSerializeWrapper) -> dict[str, Topics]:
    """Give the topics of each group that are set to POP, sorted."""
    topics_of: dict[str, list[str]] = {}
    for topic, groups in modes.message_request_mode_map.items():
        for group, body in groups.items():
            if topic and group and body.mode is MessageRequestMode.POP and not is_system_group(group):
                topics_of.setdefault(group, []).append(topic)
    return {group: tuple(sorted(topics)) for group, topics in topics_of.items()}
