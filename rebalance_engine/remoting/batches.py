"""Several messages in one body: what SEND_BATCH_MESSAGE carries, and what an inner batch holds.

::

    total size 4, magic 4, crc 4, flag 4, body length 4, body, properties length 2, properties

Source: ``common/.../message/MessageDecoder.java`` (``encodeMessage``, ``decodeMessage``, ``countInnerMsgNum``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from struct import Struct

from rebalance_engine.model import java_utf8
from rebalance_engine.remoting.errors import BrokenMessage, LocalProtocolError
from rebalance_engine.remoting.properties import MAX_LENGTH, decode_properties

# ``BatchConsumeQueue.java`` keeps the number of messages in a short.
MAX_MESSAGES = 2**15 - 1

_BEFORE_BODY = Struct(">iiiii")  # total size, magic, crc, flag, body length
_SHORT = Struct(">h")
_SMALLEST = _BEFORE_BODY.size + _SHORT.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """One message of several; the others share its topic. ``property_text`` is in the form of ``properties``."""

    body: bytes
    flag: int = 0
    property_text: str = ""

    @property
    def properties(self) -> dict[str, str]:
        """Its properties by name."""
        return decode_properties(self.property_text)


def encode_batch(messages: Iterable[Packed]) -> bytes:
    """Pack messages.

    Raises:
        LocalProtocolError: one's properties are too long.
    """
    return b"".join(map(_encode, messages))


def decode_batch(body: bytes) -> tuple[Packed, ...]:
    """Unpack messages.

    Raises:
        BrokenMessage: a length lies, or there are too many.
    """
    messages: list[Packed] = []
    at = 0
    while at < len(body):
        size, message = _decode(body, at)
        messages.append(message)
        at += size
        if len(messages) > MAX_MESSAGES:
            raise BrokenMessage(f"batch holds more than {MAX_MESSAGES} messages")
    return tuple(messages)


def _encode(message: Packed) -> bytes:
    properties = java_utf8(message.property_text)
    if len(properties) > MAX_LENGTH:
        raise LocalProtocolError(f"properties have {len(properties)} bytes; at most {MAX_LENGTH} travel")
    size = _SMALLEST + len(message.body) + len(properties)
    before = _BEFORE_BODY.pack(size, 0, 0, message.flag, len(message.body))
    return b"".join((before, message.body, _SHORT.pack(len(properties)), properties))


def _decode(body: bytes, at: int) -> tuple[int, Packed]:
    left = len(body) - at
    if left < _SMALLEST:
        raise BrokenMessage(f"batch has {left} bytes left at {at}; a message needs {_SMALLEST} or more")
    size, _, _, flag, body_length = _BEFORE_BODY.unpack_from(body, at)
    if not _SMALLEST <= size <= left or not 0 <= body_length <= size - _SMALLEST:
        raise BrokenMessage(
            f"message at {at} of a batch has {size} bytes, {body_length} of body, by its lengths; {left} are left"
        )
    end_of_body = at + _BEFORE_BODY.size + body_length
    (property_length,) = _SHORT.unpack_from(body, end_of_body)
    if property_length != size - _SMALLEST - body_length:
        raise BrokenMessage(f"message at {at} of a batch has {property_length} bytes of properties by their length")
    text = body[end_of_body + _SHORT.size : at + size].decode("utf-8", "replace")
    return size, Packed(body=body[at + _BEFORE_BODY.size : end_of_body], flag=flag, property_text=text)
