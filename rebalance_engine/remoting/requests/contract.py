"""What every request and every response is.

A request is a frozen dataclass. Its fields are those of Java's request header and travel as ``extFields``, except for
the field ``body``, if it has one: a ``bytes`` travels as it is, a ``str`` as UTF-8, anything else as JSON. A header
field that is ``None`` does not travel. Responses are made the same way.

Sources: ``remoting/.../CommandCustomHeader.java``, ``rpc/RpcRequestHeader.java``, ``rpc/TopicRequestHeader.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.java import JavaObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Response(JavaObject):
    """An answer. As it stands, the answer that says nothing but its code.

    Attributes:
        code: one of ``CODES``, the codes with which this answer comes; any other makes it a :class:`Refused`.
        remark: what the server says besides, for people.
    """

    CODES: ClassVar[frozenset[int]] = frozenset({ResponseCode.SUCCESS})

    code: int = ResponseCode.SUCCESS
    remark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Response):
    """The answer of a server that did not do what was asked; ``remark`` often tells more than ``code``.

    Attributes:
        ext_fields: what came with it, unread (``forbiddenType`` of a pull).
    """

    code: int
    ext_fields: Mapping[str, str] = field(default_factory=dict)


R_co = TypeVar("R_co", bound=Response, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(JavaObject, Generic[R_co]):
    """A question that is answered by an ``R_co``, or refused.

    Attributes:
        CODE: its request code.
        RESPONSE: the class of its answer, the same as ``R_co``.
    """

    CODE: ClassVar[RequestCode]
    RESPONSE: ClassVar[type[Response]] = Response


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcRequest(Request[R_co]):
    """A request to a broker, with what 5.x clients may add to each.

    Attributes:
        bname: name of the broker that is meant. A proxy needs it, a broker ignores it, Java clients always send it.
        ns: namespace.
        nsd: whether names were already put into that namespace.
        lo: whether ``queue_id`` is that of a logical queue (static topics).
        oway: whether no answer is wanted; the flag of the command decides.
    """

    bname: str | None = None
    ns: str | None = None
    nsd: bool | None = None
    lo: bool | None = None
    oway: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownRequest(Request[Response]):
    """A request of a code that ``REQUESTS`` does not list, unread; it deserves REQUEST_CODE_NOT_SUPPORTED."""

    code: int
    ext_fields: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
