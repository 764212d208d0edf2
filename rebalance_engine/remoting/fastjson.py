r"""The JSON that fastjson writes, which is not quite JSON.

Bodies hold what no standard parser takes: bare integers as keys, whole objects as keys, a missing brace from the C++
client, raw control characters from the Go client. Standard JSON, which most bodies are, stays at the speed of the
standard parser; anything else is first made standard in one scan:

    {0:"a"}                        ->  {"0":"a"}
    {{"topic":"T","queueId":0}:5}  ->  {"{\"topic\":\"T\",\"queueId\":0}":5}
    "mqTable":},                   ->  "mqTable":{},

So a key that was an object is its text here; ``binding`` reads it again. Bodies come from any client that can join a
group, so hostile ones must cost no more than others. The scan takes what it has matched for good (all its repeats
are possessive), and whatever it looks at ahead of itself ends at the next brace, quote or non-blank; a quote that
never closes ends the scan.

Source: fastjson 1.2.83 and fastjson2 2.0.64 with RocketMQ's ``RemotingSerializable.java``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import accumulate
from sys import get_int_max_str_digits

from rebalance_engine.model import MessageQueue, java_utf8
from rebalance_engine.remoting.errors import BrokenBody

# What RocketMQ writes is nested 7 deep at most (317); the standard parser recurses.
MAX_DEPTH = 64
# 64 MiB of ``[],[],`` would become 1.4 GB of lists. 200,000 queues with all that a consumer tells have 3.5 million.
MAX_VALUES = 4_000_000

_BLANKS = r"[ \t\r\n]*+"
_STRING = r'"(?:[^"\\]++|\\.)*+"'
_NUMBER_KEY = rf"{_BLANKS} -?[0-9]++ {_BLANKS} :"
_TABLE_KEY = rf'"mqTable" {_BLANKS} : {_BLANKS}'
_IRREGULAR = re.compile(
    rf"""
      (?P<object> \{{ (?: [^{{}}"]++ | {_STRING} )*+ \}} ) (?= {_BLANKS} : )
    | (?P<table> {_TABLE_KEY} ) \}} (?= {_BLANKS} , )
    | (?: [^"{{,]++ | , (?! {_NUMBER_KEY} ) | (?! {_TABLE_KEY} ) {_STRING} )++  # a stretch without any of it
    | {_STRING}
    | (?P<before> [{{,] {_BLANKS} ) (?P<number> -?[0-9]++ ) (?= {_BLANKS} : )
    | (?P<torn> " )
    """,
    re.VERBOSE | re.DOTALL,
)
_OUTSIDE_BRACKETS = re.compile(rf'(?:{_STRING}|[^{{}}\[\]"]++)++', re.DOTALL)


def _nothing(_: str) -> None:
    """Read NaN and the infinities as fastjson writes them: not at all."""


def _refuse_reference(read: dict[str, object]) -> dict[str, object]:
    """Refuse fastjson's way to write the same object a second time: it is no data."""
    if "$ref" in read:
        raise BrokenBody(f"body has a reference to {str(read['$ref'])[:80]!r} in place of an object")
    return read


_READER = json.JSONDecoder(strict=False, parse_constant=_nothing)
_CAREFUL_READER = json.JSONDecoder(strict=False, parse_constant=_nothing, object_hook=_refuse_reference)  # much slower
_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_STEPS = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}


def read(body: bytes | str) -> object:
    """Read a body; object keys are texts afterwards, NaN and infinities None.

    Raises:
        BrokenBody: it is no JSON even so, is nested too deep, has too many values, or holds a reference.
    """
    text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    _check_size(text)
    return _parse(text)


def write(value: object) -> bytes:
    """Write what fastjson and fastjson2 both read: standard JSON, but a mapping by queues has object keys.

    fastjson2 rejects such a key as a text, and one release of it bare integers.
    """
    return java_utf8(_written(value))


def read_object(body: bytes | str) -> Mapping[str, object]:
    """Read a body that has to be an object.

    Raises:
        BrokenBody: it is none.
    """
    value = read(body)
    if not isinstance(value, dict):
        raise BrokenBody(f"body is a JSON {type(value).__name__}; it needs to be an object")
    return value


def _check_size(text: str) -> None:
    count = text.count(",") + text.count("[") + text.count("{")
    if count > MAX_VALUES:
        raise BrokenBody(f"body has about {count} values; at most {MAX_VALUES} are allowed")


def _parse(text: str) -> object:
    try:
        return _parse_standard(text)
    except ValueError:
        return _parse_made_standard(text)


def _parse_made_standard(text: str) -> object:
    text = _IRREGULAR.sub(_made_standard, text)
    try:
        return _parse_standard(text)
    except json.JSONDecodeError as error:
        raise BrokenBody(f"body is no JSON: {error}") from None
    except ValueError:
        raise BrokenBody(f"body has a whole number of more than {get_int_max_str_digits()} digits") from None


def _made_standard(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind is None:
        return match[0]
    if kind == "object":
        return _WRITER.encode(match["object"])
    if kind == "table":
        return f"{match['table']}{{}}"
    if kind == "number":
        return f'{match["before"]}"{match["number"]}"'
    raise BrokenBody(f"body has a text at {match.start()} that never ends")


def _parse_standard(text: str) -> object:
    reader = _CAREFUL_READER if "$ref" in text or "\\u" in text else _READER  # any letter of it may be an escape
    try:
        value = reader.decode(text)
    except RecursionError:
        raise BrokenBody(f"body is nested deeper than {MAX_DEPTH}") from None
    _check_depth(text)
    return value


def _check_depth(text: str) -> None:
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return
    brackets = _OUTSIDE_BRACKETS.sub("", text)
    depth = max(accumulate(map(_STEPS.__getitem__, brackets.encode())), default=0)
    if depth > MAX_DEPTH:
        raise BrokenBody(f"body is nested {depth} deep; at most {MAX_DEPTH} is allowed")


def _written(value: object) -> str:
    try:
        return _WRITER.encode(value)
    except TypeError:
        # a key is a queue, here or further inside
        return _written_by_hand(value)


def _written_by_hand(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_written_key(key)}:{_written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    raise TypeError(f"{type(value).__name__} is nothing that JSON can hold")


def _written_key(key: object) -> str:
    if isinstance(key, MessageQueue):
        return _written({"brokerName": key.broker, "queueId": key.queue_id, "topic": key.topic})
    return _written(str(key))
