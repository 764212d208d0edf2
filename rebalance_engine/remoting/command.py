"""One frame as a value: what Java calls a RemotingCommand.

Source: ``remoting/.../protocol/RemotingCommand.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.versions import ANNOUNCED

RESPONSE_BIT = 1
ONEWAY_BIT = 2
MAX_OPAQUE = 2**31 - 1


class HeaderForm(IntEnum):
    """How a header is written; the value is the frame's serialize type. We send JSON and read both."""

    JSON = 0
    ROCKETMQ = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A request, a one-way request or a response, as it travels.

    Attributes:
        code: of a request or of a response; any int32, listed in ``codes`` or not.
        opaque: what a response has in common with its request. Each side numbers its own requests.
        flag: see the bits above.
        ext_fields: the header fields; None and empty differ in a JSON header, and nowhere else.
    """

    code: int
    opaque: int
    flag: int = 0
    language: Language = Language.PYTHON
    version: int = ANNOUNCED
    remark: str | None = None
    ext_fields: Mapping[str, str] | None = field(default_factory=dict)
    body: bytes = b""
    header_form: HeaderForm = HeaderForm.JSON

    @property
    def is_response(self) -> bool:
        """Whether it answers; if not, it asks."""
        return bool(self.flag & RESPONSE_BIT)

    @property
    def is_oneway(self) -> bool:
        """Whether no answer is wanted."""
        return bool(self.flag & ONEWAY_BIT)
