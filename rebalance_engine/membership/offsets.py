"""How far each group is in each queue, as its broker keeps it.

Any offset is stored, smaller ones too. A reset by the server stands above what is stored until the next pull takes it.

Sources: ``broker/.../offset/ConsumerOffsetManager.java``, ``broker/.../processor/ConsumerManageProcessor.java``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from rebalance_engine.membership.profiles import Policy
from rebalance_engine.remoting.bodies.queues import ConsumerOffsetSerializeWrapper
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import OffsetResponse, QueryConsumerOffset
from rebalance_engine.remoting.requests.contract import Refused

NOT_FOUND = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
NOT_FOUND_AND_NOT_ZERO = "Not found, do not set to zero, maybe this group boot first"


class QueueStart(Enum):
    """Where the first message of a queue is: whoever has the messages says so."""

    EMPTY = "there was none yet"
    IN_MEMORY = "still in memory"
    ON_DISK = "only on disk"
    REMOVED = "removed, or the queue does not begin at 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """An offset that was stored; ``before`` is the one that it replaced."""

    group: str
    topic: str
    queue_id: int
    offset: int
    before: int | None

    @property
    def went_back_by(self) -> int:
        """How many messages will be consumed again, at least."""
        return 0 if self.before is None else max(0, self.before - self.offset)


_Key = tuple[str, str]  # group and topic
_Offsets = dict[_Key, dict[int, int]]


class OffsetTable:
    """Group and topic -> queue id -> offset."""

    def __init__(self, policy: Policy, stored: ConsumerOffsetSerializeWrapper | None = None) -> None:
        self._policy = policy
        self._stored: _Offsets = _unwrap(stored.offset_table) if stored else {}
        self._pulled: _Offsets = {}
        self._reset: _Offsets = {}

    def find(self, group: str, topic: str, queue_id: int) -> int | None:
        """Give the offset to go on at, if there is one: a reset wins where resets are on."""
        key = group, topic
        if self._policy.resets_offsets and queue_id in self._reset.get(key, {}):
            return self._reset[key][queue_id]
        return self._stored.get(key, {}).get(queue_id)

    def answer(self, query: QueryConsumerOffset, start: QueueStart) -> OffsetResponse | Refused:
        """Answer request 14.

        A group without an offset is told 0 where consuming from the first message on costs no disk reads.
        """
        offset = self.find(query.consumer_group, query.topic, query.queue_id)
        if offset is not None and offset >= 0:
            return OffsetResponse(offset=offset)
        if self._policy.rules.heeds_set_zero and query.set_zero_if_not_found is False:
            return Refused(code=ResponseCode.QUERY_NOT_FOUND, remark=NOT_FOUND_AND_NOT_ZERO)
        if start is QueueStart.IN_MEMORY or (start is QueueStart.EMPTY and self._policy.rules.takes_empty_for_new):
            return OffsetResponse(offset=0)
        return Refused(code=ResponseCode.QUERY_NOT_FOUND, remark=NOT_FOUND)

    def commit(self, group: str, topic: str, queue_id: int, offset: int) -> Commit:
        """Store an offset, whatever was stored before."""
        offsets = self._stored.setdefault((group, topic), {})
        before = offsets.get(queue_id)
        offsets[queue_id] = offset
        return Commit(group=group, topic=topic, queue_id=queue_id, offset=offset, before=before)

    def note_pulled(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Remember how far the group has pulled, which consume stats show (5.1 and later)."""
        self._pulled.setdefault((group, topic), {})[queue_id] = offset

    def find_pulled(self, group: str, topic: str, queue_id: int) -> int | None:
        """Give how far the group has pulled; else the offset to go on at."""
        pulled = self._pulled.get((group, topic), {}).get(queue_id)
        return self.find(group, topic, queue_id) if pulled is None else pulled

    # ---- resets by the server ----

    def reset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Move a group; a client may still overwrite it where resets are off.

        Raises:
            ValueError: the queue id or the offset is negative, which Java logs and ignores.
        """
        if queue_id < 0 or offset < 0:
            raise ValueError(f"reset of queue {queue_id} to {offset}; both need to be 0 or more")
        self._reset.setdefault((group, topic), {})[queue_id] = offset
        self._stored.setdefault((group, topic), {})[queue_id] = offset

    def is_reset(self, group: str, topic: str, queue_id: int) -> bool:
        """Say whether a reset waits for the next pull; commits are ignored until then."""
        return self._policy.resets_offsets and queue_id in self._reset.get((group, topic), {})

    def take_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        """Give a pull the reset that waits for it, once; where resets are off it is dropped without a word."""
        taken = self._reset.get((group, topic), {}).pop(queue_id, None)
        return taken if self._policy.resets_offsets else None

    # ---- questions ----

    def groups_of(self, topic: str) -> tuple[str, ...]:
        """Name the groups that ever stored an offset of the topic."""
        return tuple(group for group, stored_topic in self._stored if stored_topic == topic)

    def topics_of(self, group: str) -> tuple[str, ...]:
        """Name the topics of which the group ever stored an offset."""
        return tuple(topic for stored_group, topic in self._stored if stored_group == group)

    def all(self) -> ConsumerOffsetSerializeWrapper:
        """Give all offsets, as request 43 is answered and as they are kept on disk."""
        rules = self._policy.rules
        topics_by_group = {group: self.topics_of(group) for group, _ in self._stored}
        return ConsumerOffsetSerializeWrapper(
            offset_table=_wrap(self._stored),
            pull_offset_table=_wrap(self._pulled) if rules.keeps_pull_offsets else None,
            group_topic_map=topics_by_group if rules.lists_topics_of_groups else None,
        )

    def forget_topic(self, topic: str) -> None:
        """Forget all offsets of a topic that was deleted."""
        self._forget(lambda key: key[1] == topic)

    def forget_group(self, group: str) -> None:
        """Forget all offsets of a group that was deleted."""
        self._forget(lambda key: key[0] == group)

    def _forget(self, is_gone: Callable[[_Key], bool]) -> None:
        for table in (self._stored, self._pulled, self._reset):
            for key in [key for key in table if is_gone(key)]:
                del table[key]

    def check(self) -> None:
        """Hold to the promise that nothing overtakes a reset that waits."""
        if not self._policy.resets_offsets:
            return
        for key, resets in self._reset.items():
            for queue_id, offset in resets.items():
                stored = self._stored[key][queue_id]
                assert stored == offset, f"{key} queue {queue_id} was reset to {offset}, and {stored} is stored"


def _wrap(offsets: _Offsets) -> Mapping[str, Mapping[int, int]]:
    return {f"{topic}@{group}": dict(queues) for (group, topic), queues in offsets.items()}


def _unwrap(table: Mapping[str, Mapping[int, int]]) -> _Offsets:
    offsets: _Offsets = {}
    for name, queues in table.items():
        topic, separator, group = name.partition("@")
        if separator and "@" not in group:  # Java skips every other name when it looks for topics or groups
            offsets[group, topic] = dict(queues)
    return offsets
