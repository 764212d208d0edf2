"""Who must be in a broker's table of members, told from what the broker heard."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_engine.effects import Channel, Closed, Heard, Received, Woken
from rebalance_engine.remoting.requests.membership import HeartBeat, UnregisterClient
from rebalance_engine.simulation.breach import Breach, Rule, hold
from rebalance_engine.simulation.broker import HOUSEKEEPING, BrokerProcess
from rebalance_engine.simulation.timers import SCAN, SILENCE


@dataclass(slots=True)
class PresenceBook:
    """One run of a broker: when each open channel was last heard as a member of the group."""

    group: str
    _heard_at: dict[Channel, int] = field(default_factory=dict)

    def heard(self, broker: BrokerProcess, heard: Heard, at: int) -> None:
        """Take in what the broker heard, and hold its table to it: the open channels that have not expired."""
        if self._changes(heard, at):
            self._compare(broker)
        silent_since = at - SILENCE - SCAN
        if self._heard_at and min(self._heard_at.values()) < silent_since:
            silent = sorted(channel for channel, heard_at in self._heard_at.items() if heard_at < silent_since)
            raise Breach(Rule.MEMBERS, f"{broker.name} still lists channels {silent}, silent for {SILENCE + SCAN} ms")

    def _changes(self, heard: Heard, at: int) -> bool:
        if isinstance(heard, Closed):
            return self._heard_at.pop(heard.channel, None) is not None
        if isinstance(heard, Woken):
            return heard.timer is HOUSEKEEPING and self._expire(at)
        if not isinstance(heard, Received):
            return False
        if isinstance(heard.request, HeartBeat):
            if any(consumer.group_name == self.group for consumer in heard.request.body.consumer_data_set):
                self._heard_at[heard.channel] = at
                return True
        elif isinstance(heard.request, UnregisterClient) and heard.request.consumer_group == self.group:
            return self._heard_at.pop(heard.channel, None) is not None
        return False

    def _expire(self, at: int) -> bool:
        silent = [channel for channel, heard_at in self._heard_at.items() if at - heard_at > SILENCE]
        for channel in silent:
            del self._heard_at[channel]
        return bool(silent)

    def _compare(self, broker: BrokerProcess) -> None:
        group = broker.machine.registry.find(self.group)
        listed = set(group.members) if group else set()
        hold(
            listed == self._heard_at.keys(),
            Rule.MEMBERS,
            f"{broker.name} lists the channels {sorted(listed)}; those that beat and are open are "
            f"{sorted(self._heard_at)}",
        )
