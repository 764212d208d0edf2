"""A control room to report to, as far as a command sees one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass
class Room:
    """A control room that answers what a test wants, and keeps what it was sent."""

    url: str = ""
    status: int = 202
    said: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def facts(self) -> list[dict]:
        """Give the facts of all reports, in their order."""
        return [fact for _path, _headers, body in self.got for fact in json.loads(body)["facts"]]
