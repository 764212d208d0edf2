"""The expression of a subscription: tags or SQL, Java's hash of a tag, and whether a message is wanted.

Brokers compare hashes of tags only, so a consumer compares the text again. SQL they alone understand.

Sources: ``common/.../filter/FilterAPI.java`` (``buildSubscriptionData``); ``java.lang.String.hashCode``;
``client/.../impl/consumer/PullAPIWrapper.java`` (``processPullResult``); ``client/.../consumer/MessageSelector.java``.
"""

from __future__ import annotations

from rebalance_engine.model import utf16
from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL, SubscriptionData

BY_TAGS = "TAG"
BY_SQL = "SQL92"


class Sql(str):
    """An expression over a message's properties, like ``Sql("region = 'north' and weight > 5")``."""

    __slots__ = ()


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
    """Make a subscription from ``A || B`` or an :class:`Sql`; nothing and ``*`` mean everything.

    Args:
        version: the time, in ms.

    Raises:
        ValueError: the expression has no tag, or no SQL.
    """
    if isinstance(expression, Sql):
        return _by_sql(topic, expression, version)
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


def _by_sql(topic: str, expression: Sql, version: int) -> SubscriptionData:
    if not expression.strip():
        raise ValueError('the SQL expression is empty; it needs to be like "weight > 5 and region is not null"')
    return SubscriptionData(topic=topic, sub_string=str(expression), sub_version=version, expression_type=BY_SQL)


def is_by_tags(subscribed: SubscriptionData) -> bool:
    """Ask whether a subscription is one of tags."""
    return subscribed.expression_type in {"", BY_TAGS}


def is_wanted(subscribed: SubscriptionData, tag: str | None) -> bool:
    """Ask whether a message with this tag belongs to the subscription."""
    return not subscribed.tags_set or subscribed.class_filter_mode or tag in subscribed.tags_set
