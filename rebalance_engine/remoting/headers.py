"""The header of a frame, in its two forms.

Sources: ``remoting/.../protocol/RemotingCommand.java``, ``RemotingSerializable.java`` (JSON),
``RocketMQSerializable.java`` (binary).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from struct import Struct
from sys import get_int_max_str_digits

from rebalance_engine.model import java_utf8
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.command import Command, HeaderForm
from rebalance_engine.remoting.errors import BrokenFrame, LocalProtocolError

# The largest request has 18 header fields; signing and tracing add a few more.
MAX_EXT_FIELDS = 256
# The longest name is ``IS_SUPPORT_HEART_BEAT_V2``; applications cannot add any.
MAX_NAME_LENGTH = 255
# ``properties`` of a message has 32,767 bytes at most; ``topicList`` of GET_CONSUME_STATS names all topics of a group.
MAX_VALUE_LENGTH = 2**19

INT32 = range(-(2**31), 2**31)
INT16 = range(-(2**15), 2**15)

_READER = json.JSONDecoder(strict=False)
_WRITER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))  # ``json.dumps`` would make one each time
_FIXED = Struct(">hBhii")  # code, language, version, opaque, flag
_SHORT = Struct(">h")
_INT = Struct(">i")


def decode_header(form: int, header: bytes, body: bytes = b"") -> Command:
    """Read a header.

    Raises:
        BrokenFrame: it is no header of this form.
    """
    if form == HeaderForm.JSON:
        return _decode_json(header, body)
    if form == HeaderForm.ROCKETMQ:
        return _decode_binary(header, body)
    raise BrokenFrame(f"serialize type is {form}; it needs to be 0 (JSON) or 1 (ROCKETMQ)")


def encode_header(command: Command) -> bytes:
    """Write a header in the form that the command names.

    Raises:
        LocalProtocolError: the form cannot carry it.
    """
    if command.header_form is HeaderForm.ROCKETMQ:
        return _encode_binary(command)
    return _encode_json(command)


# ---- JSON ----


def _decode_json(header: bytes, body: bytes) -> Command:
    # Java replaces what is no UTF-8; control characters may be raw
    try:
        read = _READER.decode(header.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise BrokenFrame(f"header is no JSON: {error}") from None
    except RecursionError:
        raise BrokenFrame("header's JSON is nested too deep") from None
    except ValueError:
        raise BrokenFrame(f"header's JSON has a whole number of more than {get_int_max_str_digits()} digits") from None
    if not isinstance(read, dict):
        raise BrokenFrame(f"header is a JSON {type(read).__name__}; it needs to be an object")
    return Command(
        code=_int32(read, "code"),
        opaque=_int32(read, "opaque"),
        flag=_int32(read, "flag", 0),
        language=Language.named(read.get("language")),
        version=_int32(read, "version", 0),
        remark=_remark(read.get("remark")),
        ext_fields=_ext_fields(read.get("extFields")),
        body=body,
    )


def _int32(read: Mapping[str, object], name: str, default: int | None = None) -> int:
    value = read.get(name, default)
    if type(value) is not int or value not in INT32:
        raise BrokenFrame(f"header's {name} is {_short(value)}; it needs to be an int32")
    return value


def _remark(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise BrokenFrame(f"header's remark is {_short(value)}; it needs to be a text")
    return value


def _ext_fields(read: object) -> dict[str, str] | None:
    if read is None:
        return None
    if not isinstance(read, dict):
        raise BrokenFrame(f"header's extFields is {_short(read)}; it needs to be an object")
    if len(read) > MAX_EXT_FIELDS:
        raise BrokenFrame(f"header has {len(read)} ext fields; at most {MAX_EXT_FIELDS} are allowed")
    return {_checked_name(name): _ext_value(name, value) for name, value in read.items() if value is not None}


def _ext_value(name: str, value: object) -> str:
    """Make a text of numbers and booleans, as fastjson does."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, int | float):
        value = str(value)
    if not isinstance(value, str):
        raise BrokenFrame(f"ext field {name} is {_short(value)}; it needs to be a text")
    if len(value) > MAX_VALUE_LENGTH:
        raise BrokenFrame(f"ext field {name} has {len(value)} characters; at most {MAX_VALUE_LENGTH} are allowed")
    return value


def _checked_name(name: str) -> str:
    if len(name) > MAX_NAME_LENGTH:
        raise BrokenFrame(f"ext field's name has {len(name)} characters; at most {MAX_NAME_LENGTH} are allowed")
    return name


def _short(value: object) -> str:
    """Show a value without its inside, which may be long and deep."""
    if isinstance(value, dict | list):
        return f"a JSON {type(value).__name__}"
    text = repr(value[:40] if isinstance(value, str) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _encode_json(command: Command) -> bytes:
    written: dict[str, object] = {
        "code": command.code,
        "language": command.language.name,
        "version": command.version,
        "opaque": command.opaque,
        "flag": command.flag,
    }
    if command.remark is not None:
        written["remark"] = command.remark
    if command.ext_fields is not None:
        written["extFields"] = dict(command.ext_fields)
    if command.language is Language.JAVA:
        # what goes out in Java's name looks as fastjson writes it
        written["serializeTypeCurrentRPC"] = "JSON"
        written = dict(sorted(written.items()))
    return java_utf8(_WRITER.encode(written))


# ---- binary ----


def _decode_binary(header: bytes, body: bytes) -> Command:
    if len(header) < _FIXED.size + 8:
        raise BrokenFrame(f"binary header has {len(header)} bytes; it needs {_FIXED.size + 8} or more")
    code, language, version, opaque, flag = _FIXED.unpack_from(header)
    remark, at = _take_text(header, _FIXED.size, _INT)
    ext_fields = _decode_ext_block(header, at)
    return Command(
        code=code,
        opaque=opaque,
        flag=flag,
        language=Language.numbered(language),
        version=version,
        remark=remark or None,
        ext_fields=ext_fields or None,
        body=body,
        header_form=HeaderForm.ROCKETMQ,
    )


def _decode_ext_block(header: bytes, at: int) -> dict[str, str]:
    (length,) = _INT.unpack_from(_part(header, at, _INT.size))
    at += _INT.size
    if length != len(header) - at:
        raise BrokenFrame(f"ext block has {length} bytes by its length; the header has {len(header) - at} left")
    ext_fields: dict[str, str] = {}
    while at < len(header):
        name, at = _take_text(header, at, _SHORT)
        value, at = _take_text(header, at, _INT)
        ext_fields[_checked_name(name)] = _ext_value(name, value)
        if len(ext_fields) > MAX_EXT_FIELDS:
            raise BrokenFrame(f"header has more than {MAX_EXT_FIELDS} ext fields, which is the most allowed")
    return ext_fields


def _take_text(header: bytes, at: int, length_form: Struct) -> tuple[str, int]:
    (length,) = length_form.unpack_from(_part(header, at, length_form.size))
    at += length_form.size
    if length < 0:
        raise BrokenFrame(f"text in a binary header has {length} bytes by its length")
    return _part(header, at, length).decode("utf-8", "replace"), at + length


def _part(header: bytes, at: int, length: int) -> bytes:
    if at + length > len(header):
        raise BrokenFrame(f"binary header needs {length} bytes at {at}; it has {len(header) - at} left")
    return header[at : at + length]


def _encode_binary(command: Command) -> bytes:
    if command.code not in INT16:
        raise LocalProtocolError(f"code is {command.code}; a binary header carries {INT16[0]} to {INT16[-1]}")
    if command.version not in INT16:
        raise LocalProtocolError(f"version is {command.version}; a binary header carries {INT16[0]} to {INT16[-1]}")
    fixed = _FIXED.pack(command.code, command.language, command.version, command.opaque, command.flag)
    block = b"".join(
        _with_length(name, _SHORT) + _with_length(value, _INT) for name, value in (command.ext_fields or {}).items()
    )
    return fixed + _with_length(command.remark or "", _INT) + _INT.pack(len(block)) + block


def _with_length(text: str, length_form: Struct) -> bytes:
    written = java_utf8(text)
    if length_form is _SHORT and len(written) not in INT16:
        raise LocalProtocolError(f"ext field's name has {len(written)} bytes; a binary header carries {INT16[-1]}")
    return length_form.pack(len(written)) + written
