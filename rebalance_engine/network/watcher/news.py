"""Whether a fact says anything that the one before it did not say."""

from __future__ import annotations

from dataclasses import replace

from rebalance_engine.events import (
    ConsumeType,
    Fact,
    MemberSeen,
    MemberStrategySeen,
    RouteMissing,
    RouteSeen,
    SubscriptionsSeen,
)

MEMBER_SAYS = ("language", "version", "consume_type", "message_model", "is_orderly", "started_at")


def merged(before: Fact | None, fact: MemberSeen) -> MemberSeen:
    """Put together what a member's broker and the member itself say.

    That it takes messages by POP a member alone knows: its heartbeats, and so its broker, say what it did before.
    """
    if not isinstance(before, MemberSeen):
        return fact
    said = {
        name: getattr(fact, name) if getattr(fact, name) is not None else getattr(before, name) for name in MEMBER_SAYS
    }
    if before.consume_type is ConsumeType.POP:
        is_own_word = fact.message_model is None
        said["consume_type"] = fact.consume_type if is_own_word else before.consume_type
    return replace(fact, **said)


def is_same(before: Fact | None, fact: Fact) -> bool:
    """Whether a fact says what one before it said, of whatever time; the version of a subscription says nothing."""
    if before is None or type(before) is not type(fact):
        return False
    return _content(before) == _content(fact)


def _content(fact: Fact) -> object:
    match fact:
        case RouteSeen():
            return fact.brokers, fact.order_configuration
        case RouteMissing():
            return True
        case MemberStrategySeen():
            return fact.strategy
        case SubscriptionsSeen():
            return [(one.topic, one.expression, one.expression_type) for one in fact.subscriptions]
        case _:
            return [getattr(fact, name) for name in MEMBER_SAYS]
