"""A client as a broker sees it: one TCP channel, and what the client said of itself when it came.

Source: ``broker/.../client/ClientChannelInfo.java``.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.effects import Address, Channel
from rebalance_engine.remoting.bodies.clients import Connection
from rebalance_engine.remoting.codes import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The other end of a channel; language and version stand in the header of every command that it sends."""

    channel: Channel
    address: Address
    language: Language = Language.OTHER
    version: int = 0


@dataclass(slots=True, eq=False)
class Presence:
    """An entry of the tables of members and producers. ``heard_at`` is the time of the last heartbeat, in ms.

    It is one object for all groups that a channel came to with one heartbeat, as in Java: to hear of one of them is to
    hear of all. Groups that came with different heartbeats expire apart.
    """

    peer: Peer
    client: str
    heard_at: int

    def connection(self) -> Connection:
        """Say it as connection lists do (203, 204)."""
        return Connection(
            client_id=self.client,
            client_addr=self.peer.address,
            language=self.peer.language,
            version=self.peer.version,
        )
