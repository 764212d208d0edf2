"""The state machines on real sockets: the only room, with the embedded cluster, that awaits and reads the clock.

``transport`` calls, ``listener`` is called, both over the ``link`` of one TCP connection; ``channels`` is the table of
all links of one process. ``driver`` runs a machine on them. ``admin`` asks a cluster questions within a ``budget``.

Applications use ``Consumer``, ``LitePullConsumer`` and ``Producer``, or the same without asyncio, out of ``sync``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebalance_engine.model import MessageModel, MessageQueue
    from rebalance_engine.network.consumer import Consumer
    from rebalance_engine.network.driver import MachineBroke
    from rebalance_engine.network.filters import SubscriptionRefused
    from rebalance_engine.network.link import NoAnswer
    from rebalance_engine.network.lite_pull import LitePullConsumer, NoSuchTopic
    from rebalance_engine.network.outgoing import BadMessage, Message
    from rebalance_engine.network.process import Closed
    from rebalance_engine.network.producer import Producer
    from rebalance_engine.network.received import ReceivedMessage, Retry
    from rebalance_engine.network.sending import SendFailed, SendResult, SendStatus
    from rebalance_engine.network.settings import NetworkSettings
    from rebalance_engine.network.sync import SyncConsumer, SyncProducer
    from rebalance_engine.network.tls import Tls
    from rebalance_engine.remoting.acl import Credentials
    from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere
    from rebalance_engine.remoting.tags import Sql

__all__ = [
    "BadMessage",
    "Closed",
    "ConsumeFromWhere",
    "Consumer",
    "Credentials",
    "LitePullConsumer",
    "MachineBroke",
    "Message",
    "MessageModel",
    "MessageQueue",
    "NetworkSettings",
    "NoAnswer",
    "NoSuchTopic",
    "Producer",
    "ReceivedMessage",
    "Retry",
    "SendFailed",
    "SendResult",
    "SendStatus",
    "Sql",
    "SubscriptionRefused",
    "SyncConsumer",
    "SyncProducer",
    "Tls",
]

_ROOMS = {
    "BadMessage": "network.outgoing",
    "Closed": "network.process",
    "ConsumeFromWhere": "remoting.bodies.clients",
    "Consumer": "network.consumer",
    "Credentials": "remoting.acl",
    "LitePullConsumer": "network.lite_pull",
    "MachineBroke": "network.driver",
    "Message": "network.outgoing",
    "MessageModel": "model",
    "MessageQueue": "model",
    "NetworkSettings": "network.settings",
    "NoAnswer": "network.link",
    "NoSuchTopic": "network.lite_pull",
    "Producer": "network.producer",
    "ReceivedMessage": "network.received",
    "Retry": "network.received",
    "SendFailed": "network.sending",
    "SendResult": "network.sending",
    "SendStatus": "network.sending",
    "Sql": "remoting.tags",
    "SubscriptionRefused": "network.filters",
    "SyncConsumer": "network.sync",
    "SyncProducer": "network.sync",
    "Tls": "network.tls",
}


def __getattr__(name: str) -> object:
    """Load a room when somebody asks for what is in it: a consumer needs nothing of producers, and starts sooner."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"rebalance_engine.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value
