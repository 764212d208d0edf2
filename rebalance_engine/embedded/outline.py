"""What an index needs of each stored message, read without the rest.

The form is that of ``remoting.messages``; this is a second, quicker reader, because the whole log is read when a store
is opened. A test holds both to the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

from rebalance_engine.remoting.messages import MAGIC_V1, MAGIC_V2
from rebalance_engine.remoting.properties import TAGS, decode_properties
from rebalance_engine.remoting.sysflags import MessageFlag
from rebalance_engine.remoting.tags import java_hash

_FIRST = Struct(">iIIiiqqiq")  # size, magic, crc, queue id, flag, queue offset, position, system flag, born timestamp
_LONG = Struct(">q")
_INT = Struct(">i")
_SHORT = Struct(">h")
_BORN_V6, _STORE_V6 = int(MessageFlag.BORN_HOST_V6), int(MessageFlag.STORE_HOST_V6)
_TAGS = TAGS.encode()


@dataclass(frozen=True, slots=True)
class Outline:
    """One message: where it is, in which queue, since when (ms), and the hash of its tag."""

    position: int
    size: int
    topic: str
    queue_id: int
    offset: int
    tag_code: int
    stored_at: int


def outlines(data: bytes, begin: int) -> Iterator[Outline]:
    """Read messages that lie one after another from position ``begin`` on, up to the first that is none."""
    at = 0
    while at + _FIRST.size <= len(data):
        size, magic, _, queue_id, _, offset, position, sys_flag, _ = _FIRST.unpack_from(data, at)
        if magic not in {MAGIC_V1, MAGIC_V2} or position != begin + at or at + size > len(data) or size <= _FIRST.size:
            return
        outline = _outline(data, at, size, queue_id=queue_id, offset=offset, position=position, sys_flag=sys_flag)
        if outline is None:
            return
        yield outline
        at += size


def _outline(
    data: bytes, at: int, size: int, *, queue_id: int, offset: int, position: int, sys_flag: int
) -> Outline | None:
    end = at + size
    stored = at + _FIRST.size + (20 if sys_flag & _BORN_V6 else 8)
    body = stored + _LONG.size + (20 if sys_flag & _STORE_V6 else 8) + 12
    if body + 4 > end:
        return None
    topic_at = body + 4 + _INT.unpack_from(data, body)[0]
    if not body + 4 <= topic_at <= end - 3:
        return None
    is_long = _FIRST.unpack_from(data, at)[1] == MAGIC_V2
    length = _SHORT.unpack_from(data, topic_at)[0] if is_long else data[topic_at]
    topic_at += 2 if is_long else 1
    properties_at = topic_at + length
    if (
        not topic_at <= properties_at <= end - 2
        or properties_at + 2 + _SHORT.unpack_from(data, properties_at)[0] != end
    ):
        return None
    return Outline(
        position=position,
        size=size,
        topic=data[topic_at:properties_at].decode("utf-8", "replace"),
        queue_id=queue_id,
        offset=offset,
        tag_code=_tag_code(data[properties_at + 2 : end]),
        stored_at=_LONG.unpack_from(data, stored)[0],
    )


def _tag_code(properties: bytes) -> int:
    if _TAGS not in properties:
        return 0
    tag = decode_properties(properties.decode("utf-8", "replace")).get(TAGS)
    return java_hash(tag) if tag else 0
