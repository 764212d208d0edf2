"""How a send ended: where the message is stored, or the story of every attempt.

Source: ``client/.../producer/SendResult.java``, ``SendStatus.java``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rebalance_engine.model import MessageQueue
from rebalance_engine.network.outgoing import Parcel
from rebalance_engine.producer import Failed, Sent, Story
from rebalance_engine.remoting.codes import ResponseCode


class SendStatus(Enum):
    """How safely a message is stored (``SendStatus.java``)."""

    OK = "stored as the broker is configured to want it"
    FLUSH_DISK_TIMEOUT = "stored, and not on disk in time"
    FLUSH_SLAVE_TIMEOUT = "stored, and not at the slave in time"
    SLAVE_NOT_AVAILABLE = "stored, and there is no slave that could have it"


_STATUS = {
    ResponseCode.SUCCESS: SendStatus.OK,
    ResponseCode.FLUSH_DISK_TIMEOUT: SendStatus.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT: SendStatus.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE: SendStatus.SLAVE_NOT_AVAILABLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """A message is stored.

    Attributes:
        message_id: its unique id; of a batch the first one's.
        message_ids: of a batch all of them.
        queue, offset: where it is; of a batch the first one.
        offset_message_id: where it is, as an id.
        story: every attempt, with its latency.
    """

    message_id: str
    message_ids: tuple[str, ...]
    queue: MessageQueue
    offset: int
    status: SendStatus
    offset_message_id: str
    story: Story

    @property
    def latency_ms(self) -> int:
        """How long the call took, all attempts included."""
        return (self.story.ended_at or self.story.began_at) - self.story.began_at


class SendFailed(Exception):
    """A message was not sent, as far as is known: an attempt that got no answer may have stored it all the same.

    Attributes:
        result: the exception of the Java client, by name, with its text and code.
        story: every attempt.
    """

    def __init__(self, result: Failed, story: Story) -> None:
        super().__init__(_failure(result, story))
        self.result = result
        self.story = story


def _failure(result: Failed, story: Story) -> str:
    code = f", code {result.code}" if result.code >= 0 else ""
    words = f"the message to {story.topic!r} was not sent: {result.error.value}{code}: {result.text}"
    told: list[str] = []
    first: dict[str, int] = {}  # what was said -> by which attempt; a broker's exception may be long
    before = None
    for number, attempt in enumerate(story.attempts, 1):
        if attempt.outcome is None:
            continue
        why = attempt.outcome.text or attempt.outcome.kind.value
        where = f"{number}. {attempt.broker or 'no broker'}/{attempt.queue.queue_id} for {attempt.latency_ms} ms"
        if why == before:
            shown = "the same"
        elif why in first:
            shown = f"as {first[why]}"
        else:
            shown = "as said" if why == result.text else why
        told.append(f"{where}: {shown}")
        first.setdefault(why, number)
        before = why
    return f"{words}. Tried: {'; '.join(told) or 'nothing'}"


def result_of(parcel: Parcel, story: Story) -> SendResult:
    """Read how a call ended.

    Raises:
        SendFailed: the message was not stored, as far as is known.
    """
    if not isinstance(story.result, Sent):
        assert story.result is not None, "a call that has ended has a result"
        raise SendFailed(story.result, story)
    response = story.result.response
    assert response is not None, "only a one-way send has no response"
    return SendResult(
        message_id=parcel.message_ids[0],
        message_ids=parcel.message_ids,
        queue=story.result.queue,
        offset=response.queue_offset,
        status=_STATUS[ResponseCode(response.code)],
        offset_message_id=response.msg_id,
        story=story,
    )
