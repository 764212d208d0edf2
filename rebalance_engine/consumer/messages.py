"""A message as far as consuming it needs to know it, and how it is read from the answer to a pull or a pop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from rebalance_engine.remoting.checkpoints import Checkpoint, checkpoints
from rebalance_engine.remoting.errors import TooMuch
from rebalance_engine.remoting.message_ids import offset_id
from rebalance_engine.remoting.messages import Skip, StoredMessage, unpack_all
from rebalance_engine.remoting.properties import RETRY_TOPIC, TAGS, UNIQ_KEY
from rebalance_engine.remoting.requests.consuming import PullMessageResponse
from rebalance_engine.remoting.requests.popping import PopMessageResponse


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a queue.

    Attributes:
        offset: its place in its queue.
        topic: where it was sent; of a retried one, its original topic.
        size: of its body, in bytes; counts against the cache's limits.
        commit_log_offset: where its broker stored it; names it when it is sent back.
        reconsume_times: how often it was retried.
        born_at: when its producer made it, in ms.
        checkpoint: of a popped one, what names it to its broker.
        content: all of it, for the application; the machine never looks inside.
    """

    offset: int
    topic: str
    size: int = 0
    commit_log_offset: int = 0
    message_id: str | None = None
    tags: str | None = None
    reconsume_times: int = 0
    content: object = None
    born_at: int = 0
    checkpoint: Checkpoint | None = None


Reader = Callable[[PullMessageResponse], Iterable[Message]]
PopReader = Callable[[PopMessageResponse, str], Iterable[Message]]  # of a broker of this name


def read_stored(answer: PullMessageResponse, *, skip: Skip | None = None) -> Iterator[Message]:
    """Read the messages that a broker sent, as it stored them.

    Args:
        skip: is told of what cannot be read, and is not given then (``unpack_all``).

    Raises:
        BrokenMessage: the body holds something else, and nobody is to be told.
        TooMuch: it holds too much; what was read before counts.
    """
    return map(message_of, unpack_all(answer.body, skip=skip))


def read_popped(answer: PopMessageResponse, broker: str, *, skip: Skip | None = None) -> Iterator[Message]:
    """Read the messages that a broker let us pop, each with its checkpoint; what is too much for one go comes again.

    Raises:
        BrokenMessage: the body holds something else, and nobody is to be told; or what is said of it does.
    """
    stored: list[StoredMessage] = []
    with suppress(TooMuch):
        stored.extend(unpack_all(answer.body, skip=skip))
    for message, checkpoint in zip(stored, checkpoints(answer, stored, broker), strict=True):
        yield replace(message_of(message), checkpoint=checkpoint)


def message_of(stored: StoredMessage) -> Message:
    """Make a message of one as it was stored."""
    properties = stored.properties
    return Message(
        offset=stored.queue_offset,
        topic=properties.get(RETRY_TOPIC, stored.topic),
        size=len(stored.body),
        commit_log_offset=stored.commit_log_offset,
        message_id=properties.get(UNIQ_KEY) or offset_id(stored.store_host, stored.commit_log_offset),
        tags=properties.get(TAGS),
        reconsume_times=stored.reconsume_times,
        content=stored,
        born_at=stored.born_timestamp,
    )
