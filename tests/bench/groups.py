"""The groups that the benchmarks measure: one shape, several sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rebalance_engine.tables import ClientTable, QueueTable

BROKERS = 10
SIZES = ((1_000, 100), (10_000, 1_000), (100_000, 10_000), (1_000_000, 10_000))
QUICK_SIZES = SIZES[:2]


@dataclass(frozen=True)
class Shape:
    """How many queues and consumers, in how many topics.

    Attributes:
        edition: another one has other client ids and topics, and so other hashes.
    """

    queues: int
    consumers: int
    topics: int = 1
    edition: int = 0

    @cached_property
    def routes(self) -> list[tuple[str, str, int]]:
        """(topic, broker, number of queues), evenly over ten brokers."""
        each, rest = divmod(self.queues, self.topics * BROKERS)
        if rest:
            raise ValueError(f"{self.queues} queues are not a multiple of {self.topics * BROKERS}")
        places = [(topic, broker) for topic in range(self.topics) for broker in range(BROKERS)]
        return [(f"TopicOrders-{self.edition}-{topic:03d}", f"broker-{broker}", each) for topic, broker in places]

    @cached_property
    def clients(self) -> list[str]:
        """Ids as clients make them, in the order in which they sort."""
        return sorted(self._client_id(number) for number in range(self.consumers))

    def _client_id(self, number: int) -> str:
        return f"10.{number // 250 % 250}.{number % 250}.7@{4000 + number}#{self.edition}{number:09d}"

    def queue_table(self) -> QueueTable:
        """Make a table that has not computed anything yet."""
        return QueueTable.from_routes(self.routes)

    def client_table(self) -> ClientTable:
        """Make a table that has not computed anything yet."""
        return ClientTable.of(self.clients)


NEWCOMERS = {"first": "10.0.0.0@1#1", "middle": "10.170.1.1@1#1", "last": "99.0.0.0@1#1"}
