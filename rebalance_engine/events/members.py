"""Members of a group, what each broker knows of them, and what they subscribe to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rebalance_engine.events.fact import Fact, GroupFact, MemberFact
from rebalance_engine.events.shapes import At, Long, Text, check, refusal, repeated
from rebalance_engine.model import MessageModel


class Departure(Enum):
    """How a member, or its presence on one broker, ended."""

    UNREGISTERED = "unregistered"
    CONNECTION_CLOSED = "connection closed"
    HEARTBEAT_EXPIRED = "heartbeat expired"
    UNKNOWN = "unknown"


class ConsumeType(Enum):
    """How a member gets messages; the values are RocketMQ's."""

    PULL = "CONSUME_ACTIVELY"
    PUSH = "CONSUME_PASSIVELY"
    POP = "CONSUME_POP"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberJoined(MemberFact):
    """A client became a member of the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLeft(MemberFact):
    """A client is a member no more; unless its report, an order of the demo, or time tells, how is unknown."""

    departure: Departure


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSeen(MemberFact):
    """A member was there, and this is what it says of itself; None is what it did not say."""

    language: Text | None = None
    version: Text | None = None
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    is_orderly: bool | None = None
    started_at: At | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStrategySeen(MemberFact):
    """The strategy that a member runs: RocketMQ's name where it is known, else the class as reported."""

    strategy: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class PresenceSeen(MemberFact):
    """A broker has a connection of this member. Two addresses under one client id are a duplicate id."""

    broker: Text
    address: Text
    language: Text | None = None
    version: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PresenceGone(MemberFact):
    """A broker no longer has this connection of the member."""

    broker: Text
    address: Text
    departure: Departure


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberListSeen(GroupFact):
    """The members as one broker lists them, in its order, duplicates kept; empty where it knows nobody."""

    broker: Text
    clients: tuple[Text, ...]


class Missing(Enum):
    """Why an answer did not come."""

    TIMEOUT = "timeout"
    NOT_ONLINE = "not online"
    REFUSED = "refused"
    NO_PERMISSION = "no permission"
    NOT_ASKED = "not asked"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMissed(Fact):
    """Somebody did not answer, so that what was asked is unknown from here on, not unchanged.

    Where it is known when it had answered last, it is unknown since then at the earliest: that is the lower bound.
    """

    request: Text
    missing: Missing
    broker: Text | None = None
    address: Text | None = None
    group: Text | None = None
    client: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumptionSeen(GroupFact):
    """Whether a broker lets a group consume: its setting ``consumeEnable`` of the group."""

    broker: Text
    is_enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestModesSeen(GroupFact):
    """The topics that a broker is set to give by POP to members of the group that let it divide; empty: none."""

    broker: Text
    topics: tuple[Text, ...]


# Subscriptions.


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """One topic of a subscription, as SubscriptionData has it; ``sub_version`` is ms in Java, ns in Go."""

    topic: Text
    expression: str
    expression_type: Text
    sub_version: Long

    def __post_init__(self) -> None:
        """Refuse what no subscription can be."""
        check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionsSeen(GroupFact):
    """All that a member subscribes to; without a client, the group's merged table on the broker of the source."""

    client: Text | None = None
    subscriptions: tuple[Subscription, ...]

    def _check_together(self) -> None:
        again = repeated(subscription.topic for subscription in self.subscriptions)
        if again:
            raise refusal(self, f"subscribes to {again} more than once; each topic may be there once")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionAdded(GroupFact):
    """A topic came to the group's subscriptions, or to one member's."""

    client: Text | None = None
    subscription: Subscription


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionReplaced(GroupFact):
    """A topic's expression or version changed. After every rebalance the version does: no change by itself."""

    client: Text | None = None
    subscription: Subscription


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionRemoved(GroupFact):
    """A topic left the group's subscriptions, or one member's."""

    client: Text | None = None
    topic: Text
