"""What names a popped message to its broker: the text that 5.x clients keep in its property ``POP_CK``.

>>> Checkpoint.parse("40 1700000000000 60000 3 0 east 1 41").offset
41

Source: ``remoting/.../protocol/header/ExtraInfoUtil.java``, ``common/.../KeyBuilder.java``,
``client/.../impl/MQClientAPIImpl.java`` (``processPopResponse``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.remoting.errors import BrokenMessage
from rebalance_engine.remoting.messages import StoredMessage
from rebalance_engine.remoting.requests.popping import PopMessageResponse

POP_CK = "POP_CK"
SEPARATOR = " "  # ``MessageConst.KEY_SEPARATOR``
NORMAL, RETRY, RETRY_V2 = "0", "1", "2"
JOINTS = {RETRY: "_", RETRY_V2: "+"}  # between group and topic, in the name of the retry topic


def pop_retry_topic(group: str, topic: str) -> str:
    """Name the topic through which popped messages come back (``buildPopRetryTopicV1``)."""
    return f"{RETRY_TOPIC_PREFIX}{group}{JOINTS[RETRY]}{topic}"


def kind_of(topic: str) -> str:
    """Say what a topic is to a pop: itself, or the retry topic in its first or its second form."""
    if not topic.startswith(RETRY_TOPIC_PREFIX):
        return NORMAL
    return RETRY_V2 if JOINTS[RETRY_V2] in topic else RETRY


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One popped message.

    Attributes:
        start: from where on its queue was popped.
        pop_time, invisible_time: when, and for how long nobody else sees it; in ms.
        revive_queue: where its broker has noted the pop.
        kind: ``NORMAL``, ``RETRY`` or ``RETRY_V2``: from which topic it came.
        offset: its own.
    """

    start: int
    pop_time: int
    invisible_time: int
    revive_queue: int
    kind: str
    broker: str
    queue_id: int
    offset: int

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Read one.

        Raises:
            BrokenMessage: it is none.
        """
        parts = text.split(SEPARATOR)
        try:
            start, pop_time, invisible_time, revive_queue = map(int, parts[:4])
            kind, broker, queue_id, offset = parts[4:8]
            return cls(
                start=start,
                pop_time=pop_time,
                invisible_time=invisible_time,
                revive_queue=revive_queue,
                kind=kind,
                broker=broker,
                queue_id=int(queue_id),
                offset=int(offset),
            )
        except ValueError:
            raise BrokenMessage(f"{text!r} is no checkpoint; it needs eight parts, numbers but for two") from None

    def __str__(self) -> str:
        """Write it as it travels."""
        before = (self.start, self.pop_time, self.invisible_time, self.revive_queue, self.kind)
        return SEPARATOR.join(map(str, (*before, self.broker, self.queue_id, self.offset)))

    def topic(self, topic: str, group: str) -> str:
        """Name the topic that holds the message, of the one that was popped (``getRealTopic``)."""
        joint = JOINTS.get(self.kind)
        return topic if joint is None else f"{RETRY_TOPIC_PREFIX}{group}{joint}{topic}"

    def is_over(self, at: int) -> bool:
        """Whether others may see it by now."""
        return self.pop_time <= 0 or self.invisible_time <= 0 or at - self.pop_time >= self.invisible_time


def checkpoints(response: PopMessageResponse, messages: Sequence[StoredMessage], broker: str) -> Iterator[Checkpoint]:
    """Give the checkpoint of each message: the one that it brings, or the one that the response makes.

    Raises:
        BrokenMessage: the response does not say from where on a message's queue was popped.
    """
    starts = _starts(response.start_offset_info)
    first: dict[tuple[str, int], int] = {}
    for message in messages:
        brought = message.properties.get(POP_CK)
        if brought is not None:
            yield Checkpoint.parse(brought)
            continue
        key = kind_of(message.topic), message.queue_id
        if starts is None:  # a broker that says nothing popped each queue from its first message on
            first.setdefault(key, message.queue_offset)
        yield _checkpoint(response, message, broker, first if starts is None else starts)


def _checkpoint(
    response: PopMessageResponse, message: StoredMessage, broker: str, starts: Mapping[tuple[str, int], int]
) -> Checkpoint:
    key = kind_of(message.topic), message.queue_id
    if key not in starts:
        raise BrokenMessage(f"no start of queue {key[1]} of kind {key[0]} in {response.start_offset_info!r}")
    return Checkpoint(
        start=starts[key],
        pop_time=response.pop_time,
        invisible_time=response.invisible_time,
        revive_queue=response.revive_qid,
        kind=key[0],
        broker=broker,
        queue_id=message.queue_id,
        offset=message.queue_offset,
    )


def _starts(text: str | None) -> Mapping[tuple[str, int], int] | None:
    """Read ``retry queue offset`` rows; None where there are none (``parseStartOffsetInfo``)."""
    if not text:
        return None
    try:
        rows = (row.split(SEPARATOR) for row in text.split(";"))
        return {(kind, int(queue)): int(offset) for kind, queue, offset in rows}
    except ValueError:
        raise BrokenMessage(f"start offsets {text!r}; needed are rows like '0 3 41', joined by ';'") from None
