"""Which queue a message goes to, as the C++ client chooses.

All threads share one number a topic, which every look moves on; but a send goes on from its own position after a
failure. On a topic of one broker the second attempt finds nothing, which also makes the client forget what failed: the
attempts 1, 3 and 5 really send. In active mode (off by default) queues that failed are parked for five minutes.

Source: ``src/producer/TopicPublishInfo.h``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.selection import Choice, Search, Skip, Why

RESUME_EVERY_MS = 60_000
PARKED_FOR_MS = 300_000


def select_cpp(search: Search, cursor: int, *, is_active: bool) -> Choice:
    """Choose from position ``cursor`` on; the choice says where the next attempt has to go on."""
    if not search.info.has_queues:
        return Choice(None, Why.NOTHING, cursor=cursor)
    position = search.first(_walk(search, cursor), lambda queue: _passes_over(search, queue, is_active=is_active))
    if position is not None:
        why = Why.IN_TURN if search.last_broker is None else Why.OTHER_BROKER
        return replace(search.take(position, why), cursor=position)
    parked = _parked_elsewhere(search) if is_active else None
    why = Why.NOTHING if parked is None else Why.PARKED
    return Choice(parked, why, tuple(search.steps), cursor=_cursor_after(search, cursor))


def _walk(search: Search, cursor: int) -> Iterator[int]:
    count = len(search.info.queues)
    for look in range(count):
        search.info.index.advance(search.thread)
        yield (cursor + look) % count


def _passes_over(search: Search, queue: MessageQueue, *, is_active: bool) -> Skip | None:
    if queue.broker == search.last_broker:
        return Skip.LAST_BROKER
    return Skip.PARKED if is_active and is_parked(search.info, queue, search.at) else None


def _parked_elsewhere(search: Search) -> MessageQueue | None:
    parked = (queue for queue in search.info.parked_until if is_parked(search.info, queue, search.at))
    by_key = sorted(parked, key=lambda queue: f"{queue.broker}{queue.queue_id}")
    return next((queue for queue in by_key if queue.broker != search.last_broker), None)


def _cursor_after(search: Search, cursor: int) -> int:
    """Without a broker to avoid the position follows the search, else it stays where it was."""
    return search.steps[-1].position if search.last_broker is None else cursor


def park(info: PublishInfo, queue: MessageQueue, at: int) -> None:
    """Put a queue out of service; one that is parked already keeps its time (``updateNonServiceMessageQueue``).

    Every minute of a publish info's life the queues that have been out for five minutes return.
    """
    if not is_parked(info, queue, at):
        minutes = -((info.made_at - at - PARKED_FOR_MS) // RESUME_EVERY_MS)
        info.parked_until[queue] = info.made_at + minutes * RESUME_EVERY_MS


def is_parked(info: PublishInfo, queue: MessageQueue, at: int) -> bool:
    """Ask whether a queue is out of service."""
    return at < info.parked_until.get(queue, at)
