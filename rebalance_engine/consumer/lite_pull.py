"""Consumers that poll: what is assigned to them is pulled ahead into a cache, and a poll takes from it.

Source: ``client/.../impl/consumer/DefaultLitePullConsumerImpl.java``, ``AssignedMessageQueue.java``.
"""

from __future__ import annotations

from collections.abc import Collection

from rebalance_engine.consumer.member import Member
from rebalance_engine.model import MessageQueue


def follow(member: Member, topic: str, wanted: Collection[MessageQueue]) -> None:
    """Pull what is now assigned, and nothing else of the topic."""


def release_foreign(member: Member) -> None:
    """Stop pulling what is subscribed to no more."""
