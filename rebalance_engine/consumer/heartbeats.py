"""Heartbeats: they make a client a member at each broker, keep it one, and bring its newest subscriptions.

Source: ``client/.../impl/factory/MQClientInstance.java`` (``sendHeartbeatToAllBrokerWithLock``,
``sendHeartbeatToBroker``).
"""

from __future__ import annotations

from rebalance_engine.consumer.desk import Desk
from rebalance_engine.consumer.threads import Code, ask
from rebalance_engine.effects import Address
from rebalance_engine.remoting.bodies.clients import HeartbeatData
from rebalance_engine.remoting.requests.membership import HeartBeat

HEARTBEAT_TIMEOUT = 3_000  # ms


def heartbeat_all(desk: Desk) -> Code[bool]:
    """Tell all brokers of all our consumers, one broker after the other.

    Returns:
        whether there was anybody to tell; whether anybody heard it does not matter. False too if somebody else is
        sending heartbeats right now: then none are sent.
    """
    if not desk.members or not desk.threads.try_take(desk.heartbeat_lock):
        return False
    try:
        request = HeartBeat(body=_data(desk))
        addresses = tuple(desk.routes.addresses())
        for address in addresses:
            yield from ask(address, request, HEARTBEAT_TIMEOUT)
        return bool(addresses)
    finally:
        desk.threads.release(desk.heartbeat_lock)


def heartbeat_on_open(desk: Desk, address: Address) -> Code[None]:
    """Tell a broker to which a channel just opened, and rebalance (``onChannelActive``, 5.2.0 and later)."""
    if not desk.members or not desk.threads.try_take(desk.heartbeat_lock):
        return
    try:
        yield from ask(address, HeartBeat(body=_data(desk)), HEARTBEAT_TIMEOUT)
    finally:
        desk.threads.release(desk.heartbeat_lock)
    desk.wake()


def _data(desk: Desk) -> HeartbeatData:
    members = desk.members.values()
    return HeartbeatData(
        client_id=desk.client_id, consumer_data_set=tuple(member.heartbeat_data() for member in members)
    )
