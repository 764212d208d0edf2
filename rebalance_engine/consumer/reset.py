"""Offsets that a broker tells a consumer to go to: its queues stop for ten seconds, go there, and are taken again.

Since 5.2.0 brokers do this themselves and tell nobody.

Source: ``client/.../impl/factory/MQClientInstance.java`` (``resetOffset``).
"""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_engine.consumer.lifecycle import resume
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.removal import let_go
from rebalance_engine.consumer.threads import Code, Sleep
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.requests.clients import ResetConsumerClientOffset

PAUSE = 10_000  # ms: what was begun before may end


def reset(member: Member, request: ResetConsumerClientOffset) -> Code[None]:
    """Go to these offsets."""
    offsets = {mq: offset for mq, offset in _offsets(request).items() if mq.topic == request.topic}
    member.is_paused = True
    for mq in offsets.keys() & member.table.keys():
        pq = member.table[mq]
        member.drop(pq, DropReason.UNKNOWN)
        pq.clear()
    yield Sleep(PAUSE)
    for mq in sorted(offsets):
        if mq not in member.table:
            continue
        member.offsets.update(mq, offsets[mq], increase_only=False)
        yield from let_go(member, member.table[mq])
        member.table.pop(mq, None)
    yield from resume(member.desk, member)


def _offsets(request: ResetConsumerClientOffset) -> Mapping[MessageQueue, int]:
    table = request.body.offset_table
    if isinstance(table, Mapping):
        return table
    return {MessageQueue(row.topic, row.broker_name, row.queue_id): row.offset for row in table}
