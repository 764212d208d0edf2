"""The client's side of a consumer group: what one client process does about everything that happens to it."""

from __future__ import annotations

from rebalance_engine.consumer.application import (
    Asked,
    Assign,
    Commit,
    Consumed,
    Deliver,
    Drain,
    Note,
    Order,
    Poll,
    Polled,
    Result,
    Resume,
    Seek,
    Start,
    Stop,
    Subscribe,
    Suspend,
    Unsubscribe,
)
from rebalance_engine.consumer.client import Client
from rebalance_engine.consumer.messages import Message, Reader, read_stored
from rebalance_engine.consumer.profiles import CPP, GO, Profile, java
from rebalance_engine.consumer.settings import ClientSettings, GroupSettings, Mode

__all__ = [
    "CPP",
    "GO",
    "Asked",
    "Assign",
    "Client",
    "ClientSettings",
    "Commit",
    "Consumed",
    "Deliver",
    "Drain",
    "GroupSettings",
    "Message",
    "Mode",
    "Note",
    "Order",
    "Poll",
    "Polled",
    "Profile",
    "Reader",
    "Result",
    "Resume",
    "Seek",
    "Start",
    "Stop",
    "Subscribe",
    "Suspend",
    "Unsubscribe",
    "java",
    "read_stored",
]
