"""Which subscription brokers were told: a pull with a newer one is refused until a heartbeat brings it."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_engine.remoting.requests.consuming import PullMessage
from rebalance_engine.remoting.requests.membership import HeartBeat
from rebalance_engine.remoting.sysflags import PullFlag
from rebalance_engine.simulation.breach import Breach, Rule


@dataclass(slots=True)
class Told:
    """One run of a broker: the newest version of each topic's subscription that heartbeats brought."""

    group: str
    _newest: dict[str, int] = field(default_factory=dict)

    def beat(self, heartbeat: HeartBeat) -> None:
        """Note a heartbeat."""
        for consumer in heartbeat.body.consumer_data_set:
            if consumer.group_name == self.group:
                for subscription in consumer.subscription_data_set:
                    newest = self._newest.get(subscription.topic, -1)
                    self._newest[subscription.topic] = max(newest, subscription.sub_version)

    def pulled(self, broker: str, pull: PullMessage) -> None:
        """Hold a broker that serves a pull to what it was told; a subscription that came with it needs no other."""
        if pull.sys_flag & PullFlag.SUBSCRIPTION:
            return
        newest = self._newest.get(pull.topic, -1)
        if pull.sub_version > newest:
            told = "never heard of that topic" if newest < 0 else f"was told {newest} at most"
            raise Breach(
                Rule.SUBSCRIBED,
                f"{broker} serves {pull.topic} in version {pull.sub_version}, and {told}",
            )
