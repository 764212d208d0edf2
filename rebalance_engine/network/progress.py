"""How far a group is at one master, and of which queues that is not known: nobody committed, or nobody told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalance_engine.effects import Address
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.asked import Deadline, Heard
from rebalance_engine.remoting.bodies.queues import ConsumerOffsetSerializeWrapper, ConsumeStats
from rebalance_engine.remoting.codes import RequestCode

Answers = tuple[Heard[ConsumeStats] | Heard[ConsumerOffsetSerializeWrapper], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Progress:
    """How far a group is at one master.

    Attributes:
        heard: its answers, and what is missing of them.
        lag: messages that wait in each queue; None is unknown: nothing was ever committed, or who knows did not say.
        stored: of which queues an offset is stored; None is unknown. Queues that are not here have none.
    """

    broker: str
    heard: Answers
    lag: Mapping[MessageQueue, int | None] = field(default_factory=dict)
    stored: Mapping[MessageQueue, bool | None] = field(default_factory=dict)

    def has_none(self, queue: MessageQueue) -> bool:
        """Whether it said that no offset of a queue of its own is stored."""
        has_answered = self.heard[0].trouble is None
        return has_answered and queue.broker == self.broker and self.stored.get(queue, False) is False


async def ask_progress(admin: Admin, group: str, deadline: Deadline, broker: str, address: Address) -> Progress:
    """Ask a master for what is committed and what waits (208).

    That names the topics of which an offset is stored (``ConsumerOffsetManager.whichTopicByConsumer``), and says 0 for
    queues of them that have none: which they are, the table of all offsets tells (43).
    """

    def by(code: RequestCode) -> Answerer:
        return Answerer(address=address, code=code, at=deadline.now(), broker=broker)

    stats = await deadline.hear(
        by(RequestCode.GET_CONSUME_STATS), lambda left_s: admin.consume_stats(address, group, timeout_s=left_s)
    )
    if stats.value is None:
        return Progress(broker=broker, heard=(stats,))
    table = stats.value.offset_table
    heard: Answers = (stats,)
    stored: dict[MessageQueue, bool | None] = {queue: bool(entry.consumer_offset) for queue, entry in table.items()}
    if not all(stored.values()):
        all_of = await deadline.hear(
            by(RequestCode.GET_ALL_CONSUMER_OFFSET), lambda left_s: admin.offsets(address, timeout_s=left_s)
        )
        heard = (stats, all_of)
        stored = {queue: is_stored or _is_in(all_of.value, group, queue) for queue, is_stored in stored.items()}
    waits = {queue: entry.broker_offset - entry.consumer_offset for queue, entry in table.items()}
    lag = {queue: waiting if stored[queue] else None for queue, waiting in waits.items()}
    return Progress(broker=broker, heard=heard, lag=lag, stored=stored)


def _is_in(offsets: ConsumerOffsetSerializeWrapper | None, group: str, queue: MessageQueue) -> bool | None:
    if offsets is None:
        return None
    return queue.queue_id in offsets.offset_table.get(f"{queue.topic}@{group}", {})
