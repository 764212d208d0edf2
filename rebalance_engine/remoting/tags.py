"""Tags: the expression of a subscription, Java's hash of a tag, and whether a message is wanted.

Brokers compare hashes only, so a consumer compares the text again.

Sources: ``common/.../filter/FilterAPI.java`` (``buildSubscriptionData``); ``java.lang.String.hashCode``;
``client/.../impl/consumer/PullAPIWrapper.java`` (``processPullResult``).
"""

from __future__ import annotations

from rebalance_engine.model import utf16
from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL, SubscriptionData


def java_hash(text: str) -> int:
    """Hash as Java's ``String.hashCode``: over UTF-16 code units, as an int32.

    >>> java_hash("TagA")
    2598919
    """
    units = utf16(text)
    value = 0
    for at in range(0, len(units), 2):
        value = (31 * value + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    return value - (value >> 31 << 32)


def subscription(topic: str, expression: str = SUBSCRIBE_ALL, *, version: int) -> SubscriptionData:
    """Make a subscription from ``A || B``; nothing and ``*`` mean everything. ``version`` is the time, in ms.

    Raises:
        ValueError: the expression has no tag.
    """
    if expression in {"", SUBSCRIBE_ALL}:
        return SubscriptionData(topic=topic, sub_version=version)
    tags = tuple(dict.fromkeys(tag.strip() for tag in expression.split("||") if tag.strip()))
    if not tags:
        raise ValueError(f"expression {expression!r} has no tag; it needs to be like 'A || B'")
    return SubscriptionData(
        topic=topic,
        sub_string=expression,
        tags_set=tags,
        code_set=tuple(dict.fromkeys(map(java_hash, tags))),
        sub_version=version,
    )


def is_wanted(subscribed: SubscriptionData, tag: str | None) -> bool:
    """Ask whether a message with this tag belongs to the subscription."""
    return not subscribed.tags_set or subscribed.class_filter_mode or tag in subscribed.tags_set
