"""Requests and responses to commands, and back.

Whoever sends chooses a number for a request, and keeps its class until the answer comes: an answer does not say what
it answers.

Sources: ``remoting/.../protocol/RemotingCommand.java`` (``makeCustomHeaderToNet``, ``decodeCommandCustomHeader``).
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar, cast, get_args, get_type_hints

from rebalance_engine.model import java_utf8
from rebalance_engine.remoting.binding import read_fields, read_value, to_ext_fields, to_java
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.command import ONEWAY_BIT, RESPONSE_BIT, Command
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.fastjson import read, write
from rebalance_engine.remoting.java import JavaObject
from rebalance_engine.remoting.registration import pack, unpack
from rebalance_engine.remoting.requests import REQUESTS
from rebalance_engine.remoting.requests.contract import Refused, Request, Response, UnknownRequest
from rebalance_engine.remoting.requests.nameserver import RegisterBroker
from rebalance_engine.remoting.versions import ANNOUNCED

R = TypeVar("R", bound=Response)
Bound = TypeVar("Bound", bound=JavaObject)

NOT_IN_A_REQUEST_HEADER = frozenset({"body"})
NOT_IN_A_RESPONSE_HEADER = frozenset({"body", "code", "remark"})


def encode(
    request: Request[Response],
    *,
    opaque: int,
    oneway: bool = False,
    language: Language = Language.PYTHON,
    version: int = ANNOUNCED,
) -> Command:
    """Make the command that carries a request.

    ``extFields`` is always there, even empty: some broker paths use it unchecked.
    """
    if isinstance(request, UnknownRequest):
        code, ext_fields = request.code, dict(request.ext_fields)
    else:
        code, ext_fields = int(request.CODE), to_ext_fields(request, NOT_IN_A_REQUEST_HEADER)
    return Command(
        code=code,
        opaque=opaque,
        flag=ONEWAY_BIT if oneway else 0,
        language=language,
        version=version,
        ext_fields=ext_fields,
        body=_encode_body(request),
    )


def decode(command: Command) -> Request[Response]:
    """Read the request that a command carries; one of no known code is an ``UnknownRequest``.

    Raises:
        BrokenContent: the header fields or the body are not what the code promises.
    """
    if command.is_response:
        raise ValueError(f"command {command.opaque} is a response; decode_response reads it")
    kind = REQUESTS.get(command.code)
    if kind is None:
        return UnknownRequest(code=command.code, ext_fields=command.ext_fields or {}, body=command.body)
    return _read(kind, command)


def encode_response(
    response: Response, *, opaque: int, language: Language = Language.PYTHON, version: int = ANNOUNCED
) -> Command:
    """Make the command that carries a response to request ``opaque``."""
    if isinstance(response, Refused):
        ext_fields = dict(response.ext_fields)
    else:
        ext_fields = to_ext_fields(response, NOT_IN_A_RESPONSE_HEADER)
    return Command(
        code=response.code,
        opaque=opaque,
        flag=RESPONSE_BIT,
        language=language,
        version=version,
        remark=response.remark,
        ext_fields=ext_fields,
        body=_encode_body(response),
    )


def decode_response(kind: type[Request[R]], command: Command) -> R | Refused:
    """Read the answer to a request of this kind.

    Raises:
        BrokenContent: the header fields or the body are not what the request is answered with.
    """
    if not command.is_response:
        raise ValueError(f"command {command.opaque} is a request; decode reads it")
    response = kind.RESPONSE
    if command.code not in response.CODES:
        return Refused(code=command.code, remark=command.remark, ext_fields=command.ext_fields or {})
    return cast("R", _read(response, command, code=command.code, remark=command.remark))


def _read(kind: type[Bound], command: Command, **given: object) -> Bound:
    if (annotation := _body_annotation(cast("type", kind))) is not None and (
        command.body or not _is_optional(annotation)
    ):
        is_packed = kind is RegisterBroker and (command.ext_fields or {}).get("compressed") == "true"
        given["body"] = unpack(command.body) if is_packed else _decode_body(kind, annotation, command.body)
    return read_fields(kind, command.ext_fields or {}, **given)


@cache
def _body_annotation(kind: type) -> object:
    return get_type_hints(kind).get("body")


def _is_optional(annotation: object) -> bool:
    return type(None) in get_args(annotation)


def _decode_body(kind: type[JavaObject], annotation: object, body: bytes) -> object:
    if annotation is bytes:
        return body
    if annotation is str:
        return body.decode("utf-8", "replace")
    if not body:
        raise BrokenContent(f"{kind.__name__} has no body")
    return read_value(annotation, read(body))


def _encode_body(value: JavaObject) -> bytes:
    body: object = getattr(value, "body", None)
    if body is None:
        return b""
    if isinstance(body, bytes):
        return body
    if isinstance(value, RegisterBroker) and value.compressed and value.body is not None:
        return pack(value.body)
    return java_utf8(body) if isinstance(body, str) else write(to_java(body))
