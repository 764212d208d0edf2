"""Heartbeats: they make a client a member at each broker, keep it one, and bring its newest subscriptions.

Source: ``client/.../impl/factory/MQClientInstance.java`` (``sendHeartbeatToAllBrokerWithLock``,
``sendHeartbeatToBroker``, ``sendHeartbeatToBrokerV2``), ``remoting/.../protocol/heartbeat/HeartbeatData.java``.
"""

from __future__ import annotations

from dataclasses import replace

from rebalance_engine.consumer.desk import Desk
from rebalance_engine.consumer.threads import Code, Take, ask
from rebalance_engine.effects import Address, Failure
from rebalance_engine.remoting.binding import to_java
from rebalance_engine.remoting.bodies.clients import HeartbeatData, ProducerData
from rebalance_engine.remoting.fastjson import write
from rebalance_engine.remoting.requests.membership import HeartBeat, HeartBeatResponse
from rebalance_engine.remoting.tags import java_hash

HEARTBEAT_TIMEOUT = 3_000  # ms


def heartbeat_all(desk: Desk, *, anew: bool = False, has_news: bool = True) -> Code[bool]:
    """Tell all brokers of all our consumers, one broker after the other.

    Args:
        anew: the subscriptions have a new version, which every broker needs.
        has_news: something changed that brokers should know; False: it is only time again.

    Returns:
        whether there was anybody to tell; whether anybody heard it does not matter. False too if somebody else is
        sending heartbeats right now: then none are sent, unless there is news and the client waits with it. Who waited
        leaves out the brokers that gave no answer while he did, so that he needs no longer than one who did not wait.
    """
    if not desk.members:
        return False
    silent: frozenset[Address] = frozenset()
    if not desk.threads.try_take(desk.heartbeat_lock):
        if not (has_news and desk.settings.waits_to_heartbeat):
            return False
        yield Take(desk.heartbeat_lock)
        silent = frozenset(desk.unheard)
    try:
        if not desk.members:  # they left while it waited
            return False
        if anew:
            desk.fingerprints.clear()
        data = _data(desk)
        addresses = tuple(desk.routes.addresses())
        desk.unheard &= silent
        for address in addresses:
            if address not in silent:
                yield from _heartbeat(desk, address, data)
        return bool(addresses)
    finally:
        desk.threads.release(desk.heartbeat_lock)


def heartbeat_on_open(desk: Desk, address: Address) -> Code[None]:
    """Tell a broker to which a channel just opened, and rebalance (``onChannelActive``, 5.2.0 and later)."""
    if not desk.members or not desk.threads.try_take(desk.heartbeat_lock):
        return
    desk.unheard.clear()  # whoever waits now knows nothing of the other brokers
    try:
        yield from _heartbeat(desk, address, _data(desk))
    finally:
        desk.threads.release(desk.heartbeat_lock)
    desk.wake()


def _heartbeat(desk: Desk, address: Address, data: HeartbeatData) -> Code[None]:
    """Tell one broker; in the second version without subscriptions, if it took the same ones as known before."""
    mark = data.heartbeat_fingerprint
    is_known = mark != 0 and address in desk.second_versions and desk.fingerprints.get(address) == mark
    body = _without_subscriptions(data) if is_known else data
    answer = yield from ask(address, HeartBeat(body=body), HEARTBEAT_TIMEOUT)
    if isinstance(answer, Failure):
        desk.unheard.add(address)
    if mark == 0 or not isinstance(answer, HeartBeatResponse):
        return
    if answer.is_support_heart_beat_v2:
        desk.second_versions.add(address)
    if answer.is_sub_change:
        desk.fingerprints.pop(address, None)
    elif answer.is_support_heart_beat_v2 and not is_known:
        desk.fingerprints[address] = mark


def _data(desk: Desk) -> HeartbeatData:
    inner = desk.profile.inner_producer
    data = HeartbeatData(
        client_id=desk.client_id,
        producer_data_set=() if inner is None else (ProducerData(group_name=inner),),
        consumer_data_set=tuple(member.heartbeat_data() for member in desk.members.values()),
    )
    if not (desk.settings.heartbeat_v2 and desk.profile.knows_heartbeat_v2):
        return data
    return replace(data, heartbeat_fingerprint=fingerprint(data))


def fingerprint(data: HeartbeatData) -> int:
    """Give a number for what a heartbeat says, whoever sends it, however new (``computeHeartbeatFingerprint``).

    Java hashes its own JSON, whose order of sets is none that we could know: the number differs from Java's, but it
    changes when Java's does, and brokers only compare it with the last one.
    """
    consumers = tuple(
        replace(
            consumer,
            subscription_data_set=tuple(replace(each, sub_version=0) for each in consumer.subscription_data_set),
        )
        for consumer in data.consumer_data_set
    )
    neutral = replace(data, client_id="", consumer_data_set=consumers, heartbeat_fingerprint=0, without_sub=False)
    return java_hash(write(to_java(neutral)).decode())


def _without_subscriptions(data: HeartbeatData) -> HeartbeatData:
    consumers = tuple(replace(consumer, subscription_data_set=()) for consumer in data.consumer_data_set)
    return replace(data, consumer_data_set=consumers, without_sub=True)
