"""The bits of two numbers that are both called system flag: of a message, and of a pull.

Sources: ``common/.../sysflag/MessageSysFlag.java``, ``PullSysFlag.java``;
``common/.../compression/CompressionType.java``.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class MessageFlag(IntFlag):
    """The system flag of a message; bits 8 to 10 hold a :class:`Compression`."""

    COMPRESSED = 0x1
    MULTI_TAGS = 0x2
    TRANSACTION_PREPARED = 0x4
    TRANSACTION_COMMIT = 0x8
    TRANSACTION_ROLLBACK = 0xC
    BORN_HOST_V6 = 0x10
    STORE_HOST_V6 = 0x20
    NEED_UNWRAP = 0x40
    INNER_BATCH = 0x80


class PullFlag(IntFlag):
    """The system flag of a pull."""

    COMMIT_OFFSET = 0x1
    SUSPEND = 0x2
    SUBSCRIPTION = 0x4
    CLASS_FILTER = 0x8
    LITE_PULL = 0x10


class Compression(IntEnum):
    """How the body of a message is compressed."""

    LZ4 = 1
    ZSTD = 2
    ZLIB = 3


_COMPRESSION_SHIFT = 8
_COMPRESSION_BITS = 0x700
_PACKED = MessageFlag.NEED_UNWRAP | MessageFlag.INNER_BATCH


def compression_of(sys_flag: int) -> Compression | None:
    """Say how a body is compressed, if it is; 0 stands for ZLIB, as before there were others.

    Raises:
        ValueError: a number that stands for none.
    """
    if not sys_flag & MessageFlag.COMPRESSED:
        return None
    number = (sys_flag & _COMPRESSION_BITS) >> _COMPRESSION_SHIFT
    return Compression(number or Compression.ZLIB)


def with_compression(sys_flag: int, compression: Compression) -> int:
    """Say in a system flag that the body is compressed."""
    return sys_flag & ~_COMPRESSION_BITS | compression << _COMPRESSION_SHIFT | MessageFlag.COMPRESSED


def holds_messages(sys_flag: int) -> bool:
    """Ask whether the body is several messages (``PullAPIWrapper.processPullResult`` wants both bits)."""
    return sys_flag & _PACKED == _PACKED


def without_packing(sys_flag: int) -> int:
    """Give the flag of a message that was unpacked: neither compressed nor several any more."""
    return sys_flag & ~(_PACKED | MessageFlag.COMPRESSED)
