r"""The properties of a message: ``name \x01 value \x02``, repeated.

Source: ``common/.../message/MessageDecoder.java`` (``string2messageProperties``, ``messageProperties2String``),
``MessageConst.java``.
"""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_engine.model import java_utf8
from rebalance_engine.remoting.errors import LocalProtocolError

KEYS = "KEYS"
TAGS = "TAGS"
DELAY = "DELAY"
UNIQ_KEY = "UNIQ_KEY"
RETRY_TOPIC = "RETRY_TOPIC"
REAL_TOPIC = "REAL_TOPIC"
REAL_QUEUE_ID = "REAL_QID"
ORIGIN_MESSAGE_ID = "ORIGIN_MESSAGE_ID"
RECONSUME_TIME = "RECONSUME_TIME"
MAX_RECONSUME_TIMES = "MAX_RECONSUME_TIMES"
CONSUME_START_TIME = "CONSUME_START_TIME"
SHARDING_KEY = "__SHARDINGKEY"

MAX_LENGTH = 2**15 - 1  # bytes: the length travels as a signed short

_AFTER_NAME = "\x01"
_AFTER_VALUE = "\x02"


def decode_properties(text: str) -> dict[str, str]:
    """Read properties; as in Java, what has no name or no value is passed over, and the last mark may be missing."""
    pairs = (entry.partition(_AFTER_NAME) for entry in text.split(_AFTER_VALUE))
    return {name: value for name, _, value in pairs if name and value}


def encode_properties(properties: Mapping[str, str]) -> str:
    """Write properties.

    Raises:
        LocalProtocolError: a mark stands within them, or they are too long.
    """
    for name, value in properties.items():
        if not name or {_AFTER_NAME, _AFTER_VALUE} & set(name + value):
            raise LocalProtocolError(f"property {name!r} is {value[:80]!r}; neither may hold \\x01 or \\x02")
    text = "".join(f"{name}{_AFTER_NAME}{value}{_AFTER_VALUE}" for name, value in properties.items())
    if (length := len(java_utf8(text))) > MAX_LENGTH:
        raise LocalProtocolError(f"properties have {length} bytes; at most {MAX_LENGTH} travel")
    return text
