"""The body of a broker's registration in its deflated form, which is no JSON as a whole (``compressedRegister``).

Inside stands, each part behind its length or number as a 4-byte int: the data version, the topics as words, the filter
servers, and since 5.0 the mappings of static topics.

Sources: ``remoting/.../protocol/body/RegisterBrokerBody.java`` (``encode``, ``decode``);
``common/.../TopicConfig.java``.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import TypeVar, cast

from rebalance_engine.model import java_utf8
from rebalance_engine.remoting.binding import read_value, to_java
from rebalance_engine.remoting.bodies.routes import TopicQueueMappingInfo
from rebalance_engine.remoting.bodies.settings import (
    DataVersion,
    RegisterBrokerBody,
    TopicConfig,
    TopicConfigSerializeWrapper,
)
from rebalance_engine.remoting.compression import inflate
from rebalance_engine.remoting.errors import BrokenContent, BrokenMessage
from rebalance_engine.remoting.fastjson import read, write
from rebalance_engine.remoting.sysflags import Compression

MAX_INFLATED = 64 * 2**20  # as a frame that is not deflated: a million topics
WORDS = 5  # of a topic before 5.0; a sixth are its attributes
_INT = struct.Struct(">i")

T = TypeVar("T")


def pack(body: RegisterBrokerBody) -> bytes:
    """Deflate a registration."""
    return zlib.compress(b"".join(_parts(body)), zlib.Z_BEST_COMPRESSION)


def _parts(body: RegisterBrokerBody) -> Iterator[bytes]:
    wrapper = body.topic_config_serialize_wrapper
    mappings = wrapper.topic_queue_mapping_info_map or {}
    yield from _measured(write(to_java(wrapper.data_version)))
    yield _INT.pack(len(wrapper.topic_config_table))
    for config in wrapper.topic_config_table.values():
        yield from _measured(java_utf8(_words(config)))
    yield from _measured(write(to_java(body.filter_server_list)))
    yield _INT.pack(len(mappings))
    for mapping in mappings.values():
        yield from _measured(write(to_java(mapping)))


def _measured(part: bytes) -> Iterable[bytes]:
    return _INT.pack(len(part)), part


def _words(config: TopicConfig) -> str:
    words = [config.topic_name, config.read_queue_nums, config.write_queue_nums, config.perm, config.topic_filter_type]
    if config.attributes is not None:
        words.append(write(to_java(config.attributes)).decode())
    return " ".join(map(str, words))


def unpack(data: bytes) -> RegisterBrokerBody:
    """Inflate a registration.

    Raises:
        BrokenContent: it is not deflated, ends early, or has something else inside.
    """
    try:
        parts = _Parts(inflate(Compression.ZLIB, data, MAX_INFLATED))
    except BrokenMessage as error:
        raise BrokenContent(f"the registration cannot be inflated: {error}") from None
    version = _read(DataVersion, parts.part())
    configs = [_config(parts.part()) for _ in range(parts.number())]
    servers = _read(tuple[str, ...], parts.part())
    mapped = 0 if parts.is_over else parts.number()
    mappings = [_read(TopicQueueMappingInfo, parts.part()) for _ in range(mapped)]
    wrapper = TopicConfigSerializeWrapper(
        topic_config_table={config.topic_name: config for config in configs},
        data_version=version,
        topic_queue_mapping_info_map={mapping.topic or "": mapping for mapping in mappings},
    )
    return RegisterBrokerBody(topic_config_serialize_wrapper=wrapper, filter_server_list=servers)


def _read(kind: type[T], part: bytes) -> T:
    return cast("T", read_value(kind, read(part)))


class _Parts:
    """What is left of an inflated registration."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing is left, as before 5.0 where the mappings would be."""
        return self._at == len(self._data)

    def number(self) -> int:
        """Take a number, of which each stands for four bytes at least."""
        (number,) = _INT.unpack(self._take(_INT.size))
        left = (len(self._data) - self._at) // _INT.size
        if not 0 <= number <= left:
            raise BrokenContent(f"the registration says {number} parts; it has room for {left}")
        return int(number)

    def part(self) -> bytes:
        """Take a part with its length."""
        (length,) = _INT.unpack(self._take(_INT.size))
        return self._take(length)

    def _take(self, length: int) -> bytes:
        left = len(self._data) - self._at
        if not 0 <= length <= left:
            raise BrokenContent(f"the registration says that {length} bytes follow; it has {left}")
        self._at += length
        return self._data[self._at - length : self._at]


def _config(part: bytes) -> TopicConfig:
    words = part.decode("utf-8", "replace").split(" ", WORDS)
    if len(words) < WORDS:
        raise BrokenContent(f"a topic of the registration is {words!r}; it needs {WORDS} words or {WORDS + 1}")
    name, readable, writable, perm, filter_type = words[:WORDS]
    try:
        numbers = [int(word) for word in (readable, writable, perm)]
    except ValueError:
        raise BrokenContent(f"a topic of the registration is {words!r}; it needs numbers behind its name") from None
    more = "".join(words[WORDS:])
    attributes = _read(dict[str, str], more.encode()) if more else None
    return TopicConfig(
        topic_name=name,
        read_queue_nums=numbers[0],
        write_queue_nums=numbers[1],
        perm=numbers[2],
        topic_filter_type=filter_type,
        attributes=attributes,
    )
