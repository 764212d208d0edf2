"""Which servers answer, and which do not: since when, and why. A refusal is an answer, but none that tells anything."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.effects import Address

MOST_SERVERS = 50
LONGEST_WHY = 200  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """A server that does not answer.

    Attributes:
        server: host and port.
        broker: its name; empty for a NameServer.
        since: of the first question without answer after the last that had one; ms since 1970.
        answered_at: when it answered last; None is never, as far as this watcher knows.
        why: of the last question, in words.
    """

    server: Address
    broker: str
    since: int
    answered_at: int | None
    why: str


class Silences:
    """What is known of each server's answers."""

    def __init__(self) -> None:
        self._answered_at: dict[Address, int] = {}
        self._silent: dict[Address, Silent] = {}

    @property
    def answered_at(self) -> int | None:
        """When any server answered last; None is never."""
        return max(self._answered_at.values(), default=None)

    def answered(self, server: Address, at: int) -> None:
        """Take in an answer."""
        self._answered_at[server] = at
        self._silent.pop(server, None)

    def missed(self, server: Address, broker: str | None, at: int, why: str) -> None:
        """Take in that an answer did not come."""
        known = self._silent.get(server)
        self._silent[server] = Silent(
            server=server,
            broker=broker or "",
            since=at if known is None else known.since,
            answered_at=self._answered_at.get(server),
            why=why[:LONGEST_WHY],
        )

    def has_told(self, server: Address) -> bool:
        """Whether it ever told anything."""
        return server in self._answered_at

    def is_silent(self, server: Address) -> bool:
        """Whether the last question to it had no answer."""
        return server in self._silent

    def silent(self, asked: frozenset[Address]) -> tuple[Silent, ...]:
        """Name those of the servers that are still asked which do not answer, NameServers first; at most 50."""
        self._silent = {server: each for server, each in self._silent.items() if server in asked}
        self._answered_at = {server: at for server, at in self._answered_at.items() if server in asked}
        return tuple(sorted(self._silent.values(), key=lambda each: (each.broker, each.server))[:MOST_SERVERS])
