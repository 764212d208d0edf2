"""What brokers tell of producers (328), how far a group is (208) and what it gave up (202), as facts, without I/O."""

from __future__ import annotations

from rebalance_engine.events import (
    EXACT,
    DeadLettersSeen,
    ProducerConnected,
    ProducersSeen,
    ProgressSeen,
    QueueProgress,
)
from rebalance_engine.events.shapes import MAX_AT
from rebalance_engine.network.answers import Answerer, version_of
from rebalance_engine.network.system_groups import INNER_PRODUCER
from rebalance_engine.remoting.bodies.clients import ProducerTableInfo
from rebalance_engine.remoting.bodies.queues import ConsumeStats, TopicStatsTable


def producers_stated(table: ProducerTableInfo, by: Answerer) -> ProducersSeen:
    """State the producers of a broker; those without an id or an address, and doubles, are left out.

    So is the group that every Java client is listed in, also one that only consumes.
    """
    assert by.broker is not None
    found = {
        (group, one.client_id, one.remote_ip.removeprefix("/")): ProducerConnected(
            group=group,
            client=one.client_id,
            address=one.remote_ip.removeprefix("/"),
            language=one.language.name,
            version=version_of(one.client_id, one.version),
        )
        for group, listed in table.data.items()
        for one in listed
        if group not in {"", INNER_PRODUCER} and one.client_id and one.remote_ip and one.remote_ip != "/"
    }
    told = tuple(found[key] for key in sorted(found))
    return ProducersSeen(at=by.at, source=by.source, exactness=EXACT, broker=by.broker, producers=told)


def progress_stated(group: str, stats: ConsumeStats, by: Answerer) -> ProgressSeen:
    """State how far a group is on a broker.

    A committed offset of 0 says nothing: ``AdminBrokerProcessor.getConsumeStats`` writes it also for a queue of which
    nothing was ever committed.
    """
    assert by.broker is not None
    queues = tuple(
        QueueProgress(
            queue=queue,
            end=max(0, told.broker_offset),
            committed=told.consumer_offset if told.consumer_offset > 0 else None,
            consumed_up_to=told.last_timestamp if 0 < told.last_timestamp <= MAX_AT else None,
        )
        for queue, told in sorted(stats.offset_table.items())
        if queue.topic and queue.broker and queue.queue_id >= 0
    )
    return ProgressSeen(at=by.at, source=by.source, exactness=EXACT, group=group, broker=by.broker, queues=queues)


def dead_stated(group: str, stats: TopicStatsTable | None, by: Answerer) -> DeadLettersSeen:
    """State how many messages a broker has put into a group's dead-letter topic; None: it has no such topic.

    The topic comes with the first one (``AbstractSendMessageProcessor.consumerSendMsgBack``).
    """
    assert by.broker is not None
    ends = () if stats is None else tuple(stats.offset_table.values())
    put = sum(max(0, each.max_offset) for each in ends)
    kept = sum(max(0, each.max_offset - max(0, each.min_offset)) for each in ends)
    return DeadLettersSeen(
        at=by.at, source=by.source, exactness=EXACT, group=group, broker=by.broker, put=put, kept=kept
    )
