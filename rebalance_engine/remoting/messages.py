"""Messages as the broker stores them: what a pull brings, one after another.

Sources: ``common/.../message/MessageDecoder.java``, ``MessageVersion.java``, ``MessageExt.java``;
``client/.../impl/consumer/PullAPIWrapper.java`` (inner batches).
"""

from __future__ import annotations

import ipaddress
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from rebalance_engine.model import java_utf8
from rebalance_engine.remoting.batches import decode_batch
from rebalance_engine.remoting.compression import MAX_INFLATED, inflate
from rebalance_engine.remoting.errors import BrokenMessage, LocalProtocolError, TooMuch
from rebalance_engine.remoting.properties import MAX_LENGTH, decode_properties
from rebalance_engine.remoting.sysflags import MessageFlag, compression_of, holds_messages, without_packing

MAGIC_V1 = 0xDAA320A7
MAGIC_V2 = 0xDAA320AB  # the length of the topic has two bytes
MAX_TOPIC_V1 = 127

# What the messages of one body may grow by when they are unpacked. A broker sends 256 KiB at a time
# (``maxTransferBytesOnMessageInMemory``), stored messages as they are: this is room for all of it compressed 256 times,
# or for 16 messages of the 4 MiB at which Java's producers stop. Without it each message of a body could be a bomb.
MAX_UNPACKED = 64 * 2**20
# About what a message takes up besides body and properties: a compressed batch may hold 32,767 of 22 bytes.
_OVERHEAD = 512

_FIRST = Struct(
    ">iIIiiqqiq"
)  # size, magic, crc, queue id, flag, queue offset, commit-log offset, sysflag, born timestamp
_LONG = Struct(">q")
_LAST = Struct(">iqi")  # reconsume times, prepared transaction offset, body length
_INT = Struct(">i")
_SHORT = Struct(">h")
_BORN_HOST_V6, _STORE_HOST_V6 = int(MessageFlag.BORN_HOST_V6), int(MessageFlag.STORE_HOST_V6)
_SMALLEST = _FIRST.size + 8 + _LONG.size + 8 + _LAST.size + 1 + _SHORT.size


@lru_cache(1_024)  # many messages come from few hosts
def _packed_ip(ip: str) -> bytes:
    return ipaddress.ip_address(ip).packed


class Host(NamedTuple):
    """Where a message was born or is stored; ``ip`` is IPv4 or IPv6."""

    ip: str
    port: int

    def packed(self) -> bytes:
        """Give the 4 or 16 bytes of the address, and 4 of the port."""
        return _packed_ip(self.ip) + _INT.pack(self.port)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """One message as it is stored.

    Attributes:
        flag: the application's own.
        sys_flag: bits, see ``sysflags``.
        born_timestamp: when the producer made it, in ms.
        store_timestamp: when the broker stored it, in ms.
        body: as stored, maybe compressed, maybe several messages: ``unpack`` undoes both.
        body_crc: of ``body``; None writes the right one.
        property_text: in the form of ``properties``.
    """

    topic: str
    queue_id: int
    queue_offset: int
    commit_log_offset: int
    flag: int = 0
    sys_flag: int = 0
    born_timestamp: int
    born_host: Host
    store_timestamp: int
    store_host: Host
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0
    body: bytes = b""
    body_crc: int | None = None
    property_text: str = ""

    @property
    def properties(self) -> dict[str, str]:
        """Its properties by name."""
        return decode_properties(self.property_text)

    @property
    def is_intact(self) -> bool:
        """Whether the body is the one that was stored; Java's consumers do not look."""
        return self.body_crc in {None, crc(self.body)}


def crc(body: bytes) -> int:
    """CRC-32 without the top bit (``UtilAll.crc32``)."""
    return zlib.crc32(body) & 0x7FFFFFFF


# ---- reading ----


def decode_messages(data: bytes) -> tuple[StoredMessage, ...]:
    """Read stored messages, one after another.

    Raises:
        BrokenMessage: one is none; those before it are lost too.
    """
    return tuple(_each(data))


def _each(data: bytes) -> Iterator[StoredMessage]:
    at = 0
    while at < len(data):
        size, message = _decode(data, at)
        yield message
        at += size  # and not by what was read


def _decode(data: bytes, at: int) -> tuple[int, StoredMessage]:
    left = len(data) - at
    if left < _SMALLEST:
        raise BrokenMessage(f"{left} bytes are left at {at}; a message needs {_SMALLEST} or more")
    size, magic = _FIRST.unpack_from(data, at)[:2]
    if magic not in {MAGIC_V1, MAGIC_V2}:
        raise BrokenMessage(
            f"magic of the message at {at} is {magic:#x}; it needs to be {MAGIC_V1:#x} or {MAGIC_V2:#x}"
        )
    if not _SMALLEST <= size <= left:
        raise BrokenMessage(f"message at {at} has {size} bytes by its size; {left} are left")
    return size, _Fields(data, at, at + size).message(has_long_topic=magic == MAGIC_V2)


class _Fields:
    """The fields of one message, taken from front to back."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data, self._at, self._end = data, at, end

    def message(self, *, has_long_topic: bool) -> StoredMessage:
        _, _, body_crc, queue_id, flag, queue_offset, commit_log_offset, sys_flag, born = self._numbers(_FIRST)
        born_host = self._host(is_v6=bool(sys_flag & _BORN_HOST_V6))
        (stored,) = self._numbers(_LONG)
        store_host = self._host(is_v6=bool(sys_flag & _STORE_HOST_V6))
        reconsume_times, prepared, body_length = self._numbers(_LAST)
        body = self._bytes(body_length)
        topic_length = self._numbers(_SHORT)[0] if has_long_topic else self._bytes(1)[0]
        topic = self._bytes(topic_length).decode("utf-8", "replace")
        (property_length,) = self._numbers(_SHORT)
        # Java takes a negative length for none
        properties = self._bytes(max(property_length, 0)).decode("utf-8", "replace")
        return StoredMessage(
            topic=topic,
            queue_id=queue_id,
            queue_offset=queue_offset,
            commit_log_offset=commit_log_offset,
            flag=flag,
            sys_flag=sys_flag,
            born_timestamp=born,
            born_host=born_host,
            store_timestamp=stored,
            store_host=store_host,
            reconsume_times=reconsume_times,
            prepared_transaction_offset=prepared,
            body=body,
            body_crc=body_crc,
            property_text=properties,
        )

    def _numbers(self, form: Struct) -> tuple[int, ...]:
        return form.unpack(self._bytes(form.size))

    def _host(self, *, is_v6: bool) -> Host:
        return _host(self._bytes(20 if is_v6 else 8))

    def _bytes(self, count: int) -> bytes:
        if not 0 <= count <= self._end - self._at:
            raise BrokenMessage(f"a field of {count} bytes at {self._at}; the message ends at {self._end}")
        self._at += count
        return self._data[self._at - count : self._at]


@lru_cache(1_024)  # many messages come from few hosts
def _host(packed: bytes) -> Host:
    return Host(str(ipaddress.ip_address(packed[:-4])), *_INT.unpack(packed[-4:]))


# ---- unpacking ----

Skip = Callable[[StoredMessage | None, BrokenMessage], None]


def unpack(message: StoredMessage, max_size: int = MAX_INFLATED) -> tuple[StoredMessage, ...]:
    """Give what a consumer is given: the message with its body as it was sent, or the messages that it holds.

    Raises:
        BrokenMessage: the body is not what the system flag says, or inflates to more than ``max_size``.
    """
    body = _plain_body(message, max_size)
    plain = replace(message, body=body, body_crc=None, sys_flag=without_packing(message.sys_flag))
    if not holds_messages(message.sys_flag):
        return (plain,)
    return tuple(
        replace(
            plain,
            queue_offset=message.queue_offset + number,
            flag=packed.flag,
            body=packed.body,
            property_text=packed.property_text,
        )
        for number, packed in enumerate(decode_batch(body))
    )


def unpack_all(data: bytes, max_total: int = MAX_UNPACKED, skip: Skip | None = None) -> Iterator[StoredMessage]:
    """Read stored messages, one after another, and unpack each.

    The first one is always given, as one message has a limit of its own: whoever goes on behind what he was given gets
    everything in the end, however well it was compressed.

    Args:
        skip: is told of each message that cannot be unpacked, and of None where the rest is no message; neither is
            given then. (Java loses all from there on, ``MessageDecoder.decodesBatch``.)

    Raises:
        BrokenMessage: one cannot be read or unpacked, and nobody is to be told. Those before it were given.
        TooMuch: they grow by more than ``max_total`` bytes together. Not more than one message is unpacked past that.
    """
    grown = 0
    for number, stored in enumerate(_readable(data, skip)):
        try:
            unpacked = unpack(stored)
        except BrokenMessage as error:
            if skip is None:
                raise
            skip(stored, error)
            continue
        grown += max(0, sum(map(_size, unpacked)) - _size(stored))
        if grown > max_total and number > 0:
            raise TooMuch(f"messages in {len(data)} bytes unpack to over {max_total} more together")
        yield from unpacked


def _readable(data: bytes, skip: Skip | None) -> Iterator[StoredMessage]:
    try:
        yield from _each(data)
    except BrokenMessage as error:
        if skip is None:
            raise
        skip(None, error)


def _size(message: StoredMessage) -> int:
    return _OVERHEAD + len(message.body) + len(message.property_text)


def _plain_body(message: StoredMessage, max_size: int) -> bytes:
    try:
        compression = compression_of(message.sys_flag)
    except ValueError as error:
        raise BrokenMessage(f"system flag {message.sys_flag:#x}: {error}") from None
    return message.body if compression is None else inflate(compression, message.body, max_size)


# ---- writing ----


def encode_message(message: StoredMessage) -> bytes:
    """Write a message as the broker stores it; a topic over 127 bytes takes the second form.

    Raises:
        LocalProtocolError: topic or properties are too long, or a host is not what the system flag says.
    """
    topic, properties = java_utf8(message.topic), java_utf8(message.property_text)
    if max(len(topic), len(properties)) > MAX_LENGTH:
        raise LocalProtocolError(
            f"topic has {len(topic)} bytes, properties {len(properties)}; at most {MAX_LENGTH} travel"
        )
    magic = MAGIC_V2 if len(topic) > MAX_TOPIC_V1 else MAGIC_V1
    born_host = _packed(message.born_host, is_v6=bool(message.sys_flag & _BORN_HOST_V6))
    store_host = _packed(message.store_host, is_v6=bool(message.sys_flag & _STORE_HOST_V6))
    after_first = b"".join(
        (
            born_host,
            _LONG.pack(message.store_timestamp),
            store_host,
            _LAST.pack(message.reconsume_times, message.prepared_transaction_offset, len(message.body)),
            message.body,
            _SHORT.pack(len(topic)) if magic == MAGIC_V2 else bytes([len(topic)]),
            topic,
            _SHORT.pack(len(properties)),
            properties,
        )
    )
    first = _FIRST.pack(
        _FIRST.size + len(after_first),
        magic,
        crc(message.body) if message.body_crc is None else message.body_crc,
        message.queue_id,
        message.flag,
        message.queue_offset,
        message.commit_log_offset,
        message.sys_flag,
        message.born_timestamp,
    )
    return first + after_first


def _packed(host: Host, *, is_v6: bool) -> bytes:
    packed = host.packed()
    if len(packed) != (20 if is_v6 else 8):
        raise LocalProtocolError(f"host is {host.ip}; the system flag says IPv{6 if is_v6 else 4}")
    return packed
