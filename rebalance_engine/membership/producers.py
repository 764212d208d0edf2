"""Which producers are here, by group and TCP channel. Nobody is ever notified of them.

Source: ``broker/.../client/ProducerManager.java``; ``enableRegisterProducer`` is not built.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rebalance_engine.effects import Channel
from rebalance_engine.membership.presence import Presence
from rebalance_engine.remoting.bodies.clients import ProducerInfo, ProducerTableInfo

EXPIRES_AFTER_MS = 120_000  # a constant in Java, unlike that of consumers


class ProducerTable:
    """Producer group -> channel -> presence.

    Args:
        forgets_empty_groups: whether a group goes with its last channel; else only an unregistration removes it.
    """

    def __init__(self, *, forgets_empty_groups: bool) -> None:
        self._forgets_empty_groups = forgets_empty_groups
        self._groups: dict[str, dict[Channel, Presence]] = {}

    def register(self, group: str, presence: Presence, at: int) -> None:
        """Enter a channel, or refresh it; a channel keeps the client id that it came with."""
        members = self._groups.setdefault(group, {})
        members.setdefault(presence.peer.channel, presence).heard_at = at

    def unregister(self, group: str, channel: Channel) -> None:
        """Take a channel out of one group."""
        members = self._groups.get(group)
        if not members:
            return
        members.pop(channel, None)
        if not members:
            del self._groups[group]

    def close(self, channel: Channel) -> None:
        """Take a channel out of all groups."""
        for group, members in tuple(self._groups.items()):
            if members.pop(channel, None) is not None:
                self._forget_if_empty(group)

    def expire(self, at: int) -> tuple[Channel, ...]:
        """Take out who was silent for too long, and name the channels, which are to be closed."""
        silent = []
        for group, members in tuple(self._groups.items()):
            expired = [channel for channel, presence in members.items() if at - presence.heard_at > EXPIRES_AFTER_MS]
            for channel in expired:
                del members[channel]
            silent.extend(expired)
            self._forget_if_empty(group)
        return tuple(silent)

    def _forget_if_empty(self, group: str) -> None:
        if self._forgets_empty_groups and not self._groups[group]:
            del self._groups[group]

    def find(self, group: str) -> tuple[Presence, ...] | None:
        """Give the producers of a group; None if the group is not known."""
        members = self._groups.get(group)
        return None if members is None else tuple(members.values())

    def table(self) -> ProducerTableInfo:
        """Give all producers, as request 328 is answered."""
        return ProducerTableInfo(
            data={group: tuple(map(_info, members.values())) for group, members in self._groups.items() if members}
        )

    def members(self) -> Mapping[str, tuple[Channel, ...]]:
        """Give the channels of each group."""
        return {group: tuple(members) for group, members in self._groups.items()}

    def check(self, open_channels: Collection[Channel], at: int) -> None:
        """Hold the table to its promises."""
        for group, members in self._groups.items():
            assert members or not self._forgets_empty_groups, f"producer group {group} is empty and still there"
            for channel, presence in members.items():
                assert presence.peer.channel == channel, f"{group} keeps {presence} under channel {channel}"
                assert presence.heard_at <= at, f"{presence} was heard in the future; it is {at}"
                assert channel in open_channels, f"{group} lists channel {channel}, which is closed"


def _info(presence: Presence) -> ProducerInfo:
    return ProducerInfo(
        client_id=presence.client,
        remote_ip=f"/{presence.peer.address}",
        language=presence.peer.language,
        version=presence.peer.version,
        last_update_timestamp=presence.heard_at,
    )
