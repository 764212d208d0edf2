"""The reachability detector: every 3 s it probes the brokers of the fault table, one after the other (5.1.4 and later).

It can only make a broker reachable, never unreachable. Off by default.

Sources: ``client/.../latency/LatencyFaultToleranceImpl.java`` (``detectByOneRound``, ``startDetector``);
``client/.../impl/producer/DefaultMQProducerImpl.java`` (its ServiceDetector, ``pickTopic``).
"""

from __future__ import annotations

from rebalance_engine.effects import Answered
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.latency import FaultItem
from rebalance_engine.producer.tasks import Sleep, Task, Transmit
from rebalance_engine.remoting.requests.consuming import GetMaxOffset, OffsetResponse

ROUND_EVERY_MS = 3_000


def detect(desk: Desk) -> Task[None]:
    """Probe for as long as the producer lives; a round that takes too long is followed by the next at once."""
    due = desk.at
    while True:
        due += ROUND_EVERY_MS
        yield Sleep(max(due, desk.at))
        for item in list(desk.faults):
            if item.check_at <= desk.at:
                yield from _look_after(desk, item)


def _look_after(desk: Desk, item: FaultItem) -> Task[None]:
    item.check_at = desk.at + desk.settings.detect_interval_ms
    address = desk.book.master_of(item.broker)
    if address is None:
        desk.report(desk.faults.remove(item.broker, desk.at))
    elif (yield from _probe(desk, address)):
        desk.report(desk.faults.found_reachable(item.broker))


def _probe(desk: Desk, address: str) -> Task[bool]:
    """Ask for the end of queue 0 of any topic; without a topic the probe counts as failed."""
    topics = desk.book.topics()
    if not topics:
        return False
    request = GetMaxOffset(topic=topics[0], queue_id=0)
    reply = yield Transmit(to=address, request=request, timeout_ms=desk.settings.detect_timeout_ms)
    return isinstance(reply, Answered) and isinstance(reply.response, OffsetResponse)
