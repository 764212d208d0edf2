"""The nouns everything else speaks of, and the two orders in which RocketMQ's clients sort names.

Sources: ``common/.../message/MessageQueue.java`` (``compareTo``, ``toString``) and
``client/.../impl/consumer/RebalanceImpl.java`` (both lists are sorted before a strategy sees them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import NamedTuple

RETRY_TOPIC_PREFIX = "%RETRY%"
MAX_QUEUE_ID = 2**31 - 1


class MessageQueue(NamedTuple):
    """One queue of one topic on one broker.

    A named tuple rather than a dataclass: groups hold up to a million of these, and a tuple
    hashes and compares in C.
    """

    topic: str
    broker: str
    queue_id: int

    def __str__(self) -> str:
        """Java's ``MessageQueue.toString()``, byte for byte: consistent hashing hashes this text."""
        return f"MessageQueue [topic={self.topic}, brokerName={self.broker}, queueId={self.queue_id}]"


class MessageModel(Enum):
    """How a group shares its messages; the values are those of heartbeats."""

    CLUSTERING = "CLUSTERING"
    BROADCASTING = "BROADCASTING"


class Order(Enum):
    """How a client language compares strings.

    They differ only where one name has a character from U+10000 up and the other one from
    U+E000 to U+FFFF at the first difference.
    """

    JAVA = "UTF-16 code units"
    BYTES = "UTF-8 bytes"

    def key(self, names: Iterable[str]) -> Callable[[str], str] | Callable[[str], bytes]:
        """Give the cheapest sort key that orders all of ``names`` as this language does."""
        if self is Order.BYTES or all(map(str.isascii, names)):
            return str  # Python compares code points, which is the order of UTF-8 bytes
        return utf16

    def sort(self, names: Iterable[str]) -> list[str]:
        """Sort ``names``, keeping duplicates."""
        names = list(names)
        return sorted(names, key=self.key(names))


def utf16(name: str) -> bytes:
    """Encode so that comparing bytes compares UTF-16 code units, lone surrogates included."""
    return name.encode("utf-16-be", "surrogatepass")


def java_utf8(name: str) -> bytes:
    """Encode as Java's ``getBytes(UTF_8)`` does: a pair of surrogates is one character, a lone one ``?``."""
    try:
        return name.encode()
    except UnicodeEncodeError:
        paired = utf16(name).decode("utf-16-be", "surrogatepass")
        return paired.encode("utf-8", "replace")


def sort_queues(queues: Iterable[MessageQueue], order: Order = Order.JAVA) -> list[MessageQueue]:
    """Sort queues by topic, broker and numeric queue id, as ``MessageQueue.compareTo`` does."""
    queues = list(queues)
    topic_key = order.key({queue.topic for queue in queues})
    broker_key = order.key({queue.broker for queue in queues})
    if topic_key is str and broker_key is str:
        return sorted(queues)
    return sorted(queues, key=lambda queue: (topic_key(queue.topic), broker_key(queue.broker), queue.queue_id))
